"""The page of results: per cents that add up, and words about averages that rest on the check alone."""

from types import SimpleNamespace

import pytest

from coherently.web.pages.facilitator.result_page import averages_words, forecast_rows
from coherently.web.pages.facilitator.shown_result import shown_result
from coherently.web.pages.formats import GAP
from coherently.web.shapes.aggregation_shapes import EventResult

LAWS = ["variable r: a, b, c, d"]


def versions_of(values, before=None):
    rows = zip("abcd", before or values, values, strict=True)
    return [
        EventResult(event=f"r = {v}", title="", probability=p, raw=raw, weight=1.0, adjustment=p - raw)
        for v, raw, p in rows
    ]


def test_per_cents_of_a_partition_add_up_and_the_unchanged_is_unchanged():
    result = SimpleNamespace(events=versions_of([0.1451, 0.5059, 0.2451, 0.1039]), laws=LAWS)
    rows = forecast_rows(result, {}, {})
    shown = [int(row.after_words.split(GAP)[0]) for row in rows]
    assert sum(shown) == 100
    assert [row.before_words for row in rows] == [row.after_words for row in rows]
    assert [row.change for row in rows] == ["0"] * 4


def test_one_more_digit_where_whole_per_cents_do_not_do():
    texts = [*(f"r = {v}" for v in "abc"), "r in {a, b}", "r in {b, c}", "r in {a, c}"]
    values = [0.105] * 3 + [0.21] * 3
    events = [
        EventResult(event=text, title="", probability=p, raw=p, weight=1.0, adjustment=0.0)
        for text, p in zip(texts, values, strict=True)
    ]
    rows = forecast_rows(SimpleNamespace(events=events, laws=LAWS), {}, {})
    assert [row.after_words.replace(GAP, " ") for row in rows] == ["10.5 %"] * 3 + ["21.0 %"] * 3


def test_missing_numbers_are_none():
    events = versions_of([0.25] * 4)
    events[3] = events[3].model_copy(update={"raw": None, "probability": None})
    shown = shown_result(events, LAWS)
    assert shown.before["r = d"] is shown.after["r = d"] is None


def test_laws_that_cannot_be_read_leave_plain_rounding():
    assert shown_result(versions_of([0.1451, 0.5059, 0.2451, 0.1039]), ["(("]).after["r = a"] == 0.15


def said(coherence, averages, status="optimal", method="auto", changes=("0", "+4"), contradictions=()):
    summary = {"coherence": coherence, "averages": averages, "status": status, "contradictions": list(contradictions)}
    current = SimpleNamespace(summary=summary, method=method)
    return averages_words(current, [SimpleNamespace(change=change) for change in changes])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("global", "incoherent"), "The averages contradict each other; these are the nearest forecasts that do not."),
        (("global", "incoherent", "time_limit"), "The averages contradict each other; these forecasts do not."),
        (
            ("local", "incoherent", "converged"),
            "The averages contradict each other; these forecasts fit together within each group of events.",
        ),
        (
            ("none", "incoherent", "averaged", "linear", ("0", "0")),
            "These are plain averages, and they contradict each other.",
        ),
        (("none", "coherent", "averaged", "linear", ("0",)), "The averages fit together as they are."),
        (
            ("none", "undecided", "averaged", "linear", ("0",)),
            "These are plain averages, which may contradict each other.",
        ),
        (
            ("none", "coherent", "averaged", "median"),
            "Each event was pooled on its own; the numbers may contradict each other.",
        ),
        (("global", "coherent", "optimal", "auto", ("0", "+1")), "The averages fit together as they are."),
        (("global", "rounding", "optimal", "auto", ("0",)), "The averages fit together, up to rounding."),
        (("global", "undecided"), "It is not known whether the averages contradict each other."),
        (
            ("global", "incoherent", "optimal", "auto", ("0", "0")),
            "The averages contradict each other; these are the nearest forecasts that do not. "
            "They do so only slightly: no change shows here.",
        ),
        # Versions that were made before the check's word was kept:
        (
            ("global", None, "optimal", "auto", ("0",)),
            "It is not known whether the averages contradict each other.",
        ),
    ],
)
def test_words_about_averages_rest_on_the_check(given, expected):
    assert said(*given) == expected


def test_old_versions_have_their_contradictions():
    assert "contradict each other; these" in said("global", None, contradictions=["P(p & q) is above P(p)"])
