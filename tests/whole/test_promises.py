"""Every registered method, found by itself, against what every method promises of every panel."""

import functools
import math
import multiprocessing
import random
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import coherently as co
from coherently.cli import options
from coherently.cli.option_words import filled
from coherently.solve import METHODS, Promise, Status, choose, promises_of
from coherently.solve.registry import needs_means_only
from coherently.verifier import promises as verifier
from tests.panels import QUICK, TABLE_2, forecasts

CLOSE = 1e-6
"""How far answers may differ that ought to be the same: the certificates of the default tolerances allow that much."""


def has(word, option):
    return option in {field.name for field in fields(METHODS[word][0])}


def chosen(word, **extra):
    return choose(word, **{**QUICK.get(word, {}), **extra})


EVERY = [chosen(word) for word in METHODS] + [chosen(word, then=co.Exact()) for word in METHODS if has(word, "then")]
every_method = pytest.mark.parametrize("method", EVERY, ids=lambda method: method.name.replace(", ", " "))


@dataclass(frozen=True)
class Case:
    """Forecasts (judge, event, probability, weight, lower, upper) and laws; whether these say more than numbers."""

    name: str
    rows: tuple[tuple[str, str, float, float, float, float], ...]
    laws: tuple[str, ...] = ()
    beyond_numbers: bool = False

    def panel(self):
        columns = ("judge", "event", "probability", "weight", "lower", "upper")
        return co.Panel.from_frame(pd.DataFrame(self.rows, columns=columns), laws=list(self.laws))

    def fits(self, method):
        return not self.beyond_numbers or Promise.TAKES_MORE in promises_of(method)


NONE = (math.nan, math.nan)
"""No interval."""


FORMS = ("a", "b", "c", "~a", "a & b", "a | c", "b & ~c", "a & b & c", "d", "d | e", "b <-> c")


def drawn(name, forms, laws=(), seed=0, *, beyond_numbers=False, intervals=()):
    """Three judges, each of whom forecasts most of the events, carelessly; weights are whole numbers.

    Of the events with `intervals` Ann gives one.
    """
    rng = random.Random(seed)
    rows = []
    for judge, event in product(("Ann", "Bob", "Cid"), forms):
        p, weight = round(rng.uniform(0.1, 0.9), 2), float(rng.choice((1, 1, 2, 3)))
        if rng.random() < 0.8 or event in intervals:
            ends = (p - 0.1, p + 0.05) if judge == "Ann" and event in intervals else NONE
            rows.append((judge, event, p, weight, *ends))
    rng.shuffle(rows)
    return Case(name, tuple(rows), tuple(laws), beyond_numbers)


def simulated():
    """A panel whose nearest coherent forecasts take more than a moment."""
    panel = co.simulate(judges=12, variables=24, seed=3)
    return Case("large", tuple((*row, 1.0, *NONE) for row in forecasts(panel)))


LAWS = ("a -> c", "variable w: x, y, z")
CASES = [
    drawn("plain", FORMS),
    drawn("laws", (*FORMS, "w = x", "w != y", "w = z | a"), LAWS, 1),
    drawn("conditionals", (*FORMS, "a given b", "d given e", "e"), (), 2, beyond_numbers=True),
    drawn("pins", FORMS, ("P(a) = 0.3", "P(d & e) <= 0.2"), 3, beyond_numbers=True),
    drawn("intervals", FORMS, (), 4, beyond_numbers=True, intervals=("a", "a & b", "d | e")),
]
LARGE = simulated()


def pairs(methods, cases):
    """Methods and cases that they take."""
    return [
        pytest.param(method, case, id=f"{method.name.replace(', ', ' ')}-{case.name}")
        for method, case in product(methods, cases)
        if case.fits(method)
    ]


every_pair = pytest.mark.parametrize(("method", "case"), pairs(EVERY, CASES))


def solved(case, method, **options):
    """The result, which the verifier accepts."""
    panel = case.panel() if isinstance(case, Case) else case
    result = co.aggregate(panel, method, **options)
    checked = co.verify(panel, result)
    assert checked, checked.problems
    return result


@functools.cache
def plainly(case, method):
    """The result as the methods give it, which several tests hold others against."""
    return solved(case, method)


def answers(result):
    return dict(zip(result.panel.written.text, result.solution.value.tolist(), strict=True))


def check_same(one, other, renamed=lambda text: text):
    """The same probability for every event, to what certificates allow, and the same words for it."""
    given, found = answers(one), answers(other)
    assert {renamed(event) for event in given} == set(found)
    for event, probability in given.items():
        np.testing.assert_allclose(found[renamed(event)], probability, rtol=0, atol=CLOSE, err_msg=event)
    assert other.coherence == one.coherence


@every_pair
def test_the_order_of_forecasts_changes_nothing(method, case):
    rows = list(case.rows)
    random.Random(5).shuffle(rows)
    one, other = plainly(case, method), solved(replace(case, rows=tuple(rows)), method)
    if Promise.IGNORES_ORDER in promises_of(method):
        check_same(one, other)


@every_pair
def test_the_names_of_variables_change_nothing(method, case):
    names = {"a": "zebra", "b": '"yak & co"', "c": "x.1", "d": "wolf", "e": "_", "w": "aim"}

    def renamed(text):
        return re.sub(r"\b[a-ew]\b", lambda found: names[found[0]], text)

    rows = tuple((judge, renamed(event), *numbers) for judge, event, *numbers in case.rows)
    other = replace(case, rows=rows, laws=tuple(map(renamed, case.laws)))
    check_same(plainly(case, method), solved(other, method), renamed)


@every_pair
def test_a_forecast_of_weight_n_is_n_forecasts(method, case):
    copied = tuple((*row[:3], 1.0, *row[4:]) for row in case.rows for _ in range(int(row[3])))
    one, other = plainly(case, method), solved(replace(case, rows=copied), method)
    if Promise.ADDS_WEIGHTS in promises_of(method):
        check_same(one, other)


@every_pair
def test_forecasts_without_weight_change_nothing(method, case):
    silent = [("Dan", event, 0.97, 0.0, *NONE) for event in dict.fromkeys(event for _, event, *_ in case.rows)]
    check_same(plainly(case, method), solved(replace(case, rows=(*case.rows, *silent)), method))


@every_method
def test_blank_cells_are_no_forecasts(method):
    rows = CASES[0].rows
    wide = pd.DataFrame({"event": list(dict.fromkeys(event for _, event, *_ in rows))})
    for judge in dict.fromkeys(judge for judge, *_ in rows):
        told = {event: p for name, event, p, *_ in rows if name == judge}
        wide[judge] = [told.get(event) for event in wide["event"]]
    ordered = [
        (judge, row["event"], row[judge], 1.0, *NONE)
        for _, row in wide.iterrows()
        for judge in wide.columns[1:]
        if not np.isnan(row[judge])
    ]
    panel = co.Panel.from_frame(wide)
    assert len(panel) == len(ordered)
    one, other = solved(Case("long", tuple(ordered)), method), solved(panel, method)
    if Promise.IGNORES_ORDER in promises_of(method):
        check_same(one, other)


@pytest.mark.parametrize(("method", "case"), pairs(EVERY, [case for case in CASES if not case.beyond_numbers]))
def test_coherent_forecasts_that_judges_agree_on_stay(method, case):
    told = answers(co.aggregate(case.panel(), co.Annealing(columns=50, steps=0, passes=0)))  # of 50 random worlds
    rows = tuple((judge, event, told[event], *rest) for judge, event, _, *rest in case.rows)
    result = solved(replace(case, rows=rows), method)
    if Promise.KEEPS_COHERENT in promises_of(method):
        for event, probability in answers(result).items():
            np.testing.assert_allclose(probability, told[event], rtol=0, atol=CLOSE, err_msg=event)


@every_method
def test_one_judge_and_one_event_are_a_panel(method):
    alone = solved(Case("one judge", tuple((*row, 1.0, *NONE) for row in TABLE_2 if row[0] == "Chris")), method)
    assert ((alone.solution.value >= 0) & (alone.solution.value <= 1)).all()
    for event in ("p", "p & ~q"):
        one = solved(Case("one event", (("Ann", event, 0.3, 1.0, *NONE),)), method)
        if Promise.KEEPS_COHERENT in promises_of(method):
            assert one.probability(event) == pytest.approx(0.3, abs=CLOSE)


@every_pair
def test_results_come_back_from_json(method, case):
    result = plainly(case, method)
    again = co.Result.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert co.verify(result.panel, again) == co.verify(result.panel, result)
    assert (again.status, again.coherence, again.components) == (result.status, result.coherence, result.components)
    np.testing.assert_array_equal(again.solution.value, result.solution.value)


LIMITLESS = [chosen(word) for word in METHODS if has(word, "time_limit")]
LIMITED = [chosen(word, time_limit=0.0) for word in METHODS if has(word, "time_limit")]


@pytest.mark.parametrize(("method", "case"), pairs(LIMITED, [*CASES, LARGE]))
def test_without_any_time_there_is_an_answer(method, case):
    result = solved(case, method)
    assert result.status in (Status.TIME_LIMIT, Status.UNPROVED, Status.OPTIMAL, Status.CONVERGED)
    assert not np.isnan(result.solution.value).any()


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize(("method", "case"), [*pairs(EVERY, CASES), *pairs(LIMITLESS, [LARGE])])
def test_an_interruption_gives_the_answer_so_far(method, case, after):
    calls = 0

    def progress(share):
        nonlocal calls
        calls += 1
        assert 0 <= share <= 1
        if calls >= after:
            raise KeyboardInterrupt

    result = solved(case, method, progress=progress)
    assert result.status is Status.INTERRUPTED or result.status is plainly(case, method).status
    assert not np.isnan(result.solution.value).any()


class Button:
    """What cancels work after some looks, and counts them."""

    def __init__(self, after):
        self.after, self.looks = after, 0

    def is_set(self):
        self.looks += 1
        return self.looks > self.after


@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.parametrize(("method", "case"), [*pairs(EVERY, CASES), *pairs(LIMITLESS, [LARGE])])
def test_a_cancelled_method_ends_soon_with_the_answer_so_far(method, case, after):
    button = Button(after)
    result = solved(case, method, cancel=button)
    assert result.status is Status.INTERRUPTED or result.status is plainly(case, method).status
    assert not np.isnan(result.solution.value).any()
    # Each piece of work that is under way may look again, once or twice, before it ends.
    assert button.looks <= after + 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_threads_and_processes_give_the_same_bytes(case, loss, processes):
    panel = case.panel()
    one = co.aggregate(panel, co.Exact(threads=1), loss)
    for answer in (
        co.aggregate(panel, co.Exact(threads=3), loss),
        co.aggregate(panel, co.Exact(threads=1), loss, engine=processes),
    ):
        assert answer.solution == one.solution


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("method", [method for method in EVERY if Promise.TAKES_MORE not in promises_of(method)])
def test_what_a_method_does_not_take_it_refuses(method):
    for case in CASES:
        if case.beyond_numbers:
            with pytest.raises(co.MethodError):
                co.aggregate(case.panel(), method)


def test_every_method_is_public_and_described():
    helped = filled(options.MethodWord.__metadata__[0].help)
    for word, (kind, _) in METHODS.items():
        assert kind.__name__ in co.__all__ or word == "auto"
        assert re.search(rf"\b{word}\b", helped), f"the help of --method has no {word}"
        assert f'"{word}"' in co.aggregate.__doc__, f"the description of co.aggregate has no {word}"
        assert verifier.kind_of(word, "none") is not verifier.ANY, f"the verifier does not know {word}"
        assert choose(word).name.split(", then ")[0] == word


@pytest.mark.parametrize("method", [*filter(needs_means_only, EVERY)], ids=lambda method: method.name)
def test_a_method_of_means_answers_means_as_it_answers_forecasts(method):
    """What says that it needs only means and weights gives the same for one judge with the means; others need not."""
    rng = np.random.default_rng(5)
    rows = [(f"J{j}", event, float(rng.random())) for j in range(5) for event in ("p", "q", "p & q", "~p", "p | q")]
    panel = co.Panel.from_records(rows)
    texts = list(panel.written.text)
    means = [np.mean([p for _, event, p in rows if event == text]) for text in texts]
    one = [
        {"judge": "all", "event": text, "probability": p, "weight": 5.0} for text, p in zip(texts, means, strict=True)
    ]
    reduced = co.Panel.from_records(one)
    answers = [co.aggregate(each, method).columns()["probability"] for each in (panel, reduced)]
    np.testing.assert_allclose(*answers, atol=1e-6)


def test_some_methods_need_means_only_and_a_user_s_own_says_nothing():
    known = {word for word in METHODS if needs_means_only(choose(word))}
    assert known == {"auto", "exact", "linear", "projections", "dykstra", "annealing"}
    assert not needs_means_only(co.Pool("linear", then=co.Exact()))
    assert not needs_means_only(object())
