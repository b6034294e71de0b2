"""The page of evidence, made from small panels: Holm's correction, p-values, and what is said of failures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import coherently as co
from coherently.scoring.candidates import Candidate
from coherently.scoring.comparison import compare_forecasts
from experiments import evidence
from tests.experiments.test_evaluation import made, panel


def stepped(name, gain, variables=40):
    """A panel on which the coherent step moves all forecasts towards what came true, by `gain` in the mean."""
    own, one = panel(variables), made(name, variables)
    outcome = own.written.outcome[own.event_index].astype(float)
    rng = np.random.default_rng(len(name))
    error = {method: 0.3 + 0.02 * rng.random(variables)[own.event_index] for method in one.scores.methods}
    error["Tuned recipe"] = error["Tuned pool"] - gain * (1 + rng.random(variables)[own.event_index])
    forecasts = np.stack([np.abs(outcome - error[method]) for method in one.scores.methods])
    return replace(one, scores=compare_forecasts(own, one.scores.rows, forecasts), clusters=variables)


def test_holm_is_the_step_down_rule():
    assert evidence.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert evidence.holm([0.5, 0.9]) == [1.0, 1.0]
    assert evidence.holm([]) == []


def test_a_p_value_is_that_of_the_interval():
    one = stepped("one", 0.004)
    for method in ("Tuned recipe", "Exact", "Median"):
        p = evidence.p_value(one.scores, method, "Linear average")
        place = [one.scores.methods.index(name) for name in (method, "Linear average")]
        contrast = np.zeros(len(one.scores.rows))
        contrast[place] = 1.0, -1.0
        half = one.scores.variation.half_width(contrast, "both", 1 - p)[0]
        found = one.scores.difference(method, "Linear average")
        assert half == pytest.approx(abs(found.difference), rel=1e-6, abs=1e-12)
        assert (p < 0.05) == found.excludes_zero
    assert evidence.p_value(made(variables=4).scores, "Tuned recipe", "Linear average") is None


def test_a_p_value_over_events_is_students():
    """Single events of one judge: the jackknife of a mean, whose freedom is known."""
    rng = np.random.default_rng(1)
    panel = co.Panel.from_records(
        [("A", f"x{i}", 0.5) for i in range(30)], outcomes={f"x{i}": i % 2 for i in range(30)}
    )
    forecasts = rng.uniform(0.2, 0.8, (2, 30))
    found = compare_forecasts(panel, (Candidate("a", ""), Candidate("b", "")), forecasts)
    lost = np.square(forecasts - panel.written.outcome[panel.event_index])
    apart = lost[0] - lost[1]
    t = apart.mean() / (apart.std(ddof=1) / np.sqrt(29))  # the least of V_events has n - 1
    expected = 2 * stats.t.sf(abs(t), 29)
    assert evidence.p_value(replace(found, over="events"), "a", "b") == pytest.approx(expected, rel=1e-6)


def test_verdicts_turn_with_the_figures():
    found = [stepped("helps", 0.1), stepped("hurts", -0.1), stepped("form", 0.1), stepped("few", 0.1, 4)]
    found[2] = replace(found[2], kin="helps")
    tested = evidence.contrasts(found)
    assert [each.one.name for each in tested] == ["helps", "hurts", "few"]
    assert [each.verdict for each in tested] == ["helps", "hurts", "undecided: no interval"]
    text = "\n".join(evidence.primary(tested, []))
    assert "**The contrast fails**: The coherent step is shown to help on `helps`, to hurt on `hurts`" in text
    assert "undecided, for want of clusters, on `few`" in text
    assert "**The contrast fails**" not in "\n".join(evidence.primary(evidence.contrasts(found[:1]), []))
    nothing = evidence.contrasts([made("same")])
    assert nothing[0].verdict == "no difference shown"
    assert "**The contrast fails**" in "\n".join(evidence.primary(nothing, []))


def test_rivals_that_are_better_are_failures():
    bad = replace(made("behind", log=0.05, tuned=0.3), clusters=40)
    few = replace(made("few", log=0.05, tuned=0.3), clusters=7)
    text = "\n".join(evidence.against_rivals([bad, few]))
    assert "**Fails** on `behind`." in text
    assert "few" not in text
    said = "\n".join(evidence.against_linear([bad]))
    assert "worse on `behind`" in said
    assert "**Fails**: two thirds were wanted" in said
    good = replace(made("ahead", tuned=0.05), clusters=40)
    assert "**Holds** (two thirds)" in "\n".join(evidence.against_linear([good]))
    assert "Holds on all of them" in "\n".join(evidence.against_rivals([good]))


def test_the_figure_and_its_table_have_every_panel(monkeypatch, tmp_path):
    monkeypatch.setattr("experiments.figures.DOCS", tmp_path)
    (tmp_path / "images").mkdir()
    panels = [replace(stepped(f"p{i}", 0.01 * i), incoherence=0.01 * i) for i in range(4)]
    text = "\n".join(evidence.incoherence(evidence.contrasts(panels)))
    assert "Spearman's rank correlation of incoherence and gain over 4 panels: +1.00" in text
    drawn = (tmp_path / "images" / evidence.FIGURE).read_text()
    for one in panels:
        assert one.name in drawn
        assert f"| {one.name} |" in text
