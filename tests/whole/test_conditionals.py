"""Conditionals that vanish or that logic settles: the table of docs/how-to/conditionals.md, row by row."""

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest

import coherently as co
from coherently.problem import find_loss
from tests.verifier.test_verify import tampered
from tests.whole.conditional_checks import check_savings
from tests.whole.loss_checks import divergence

SETTLED = "0 or 1 by logic and laws, whatever was forecast"
UNCHANGED = "are unchanged: the probability of the condition is below 1e-06"
MERGED = (
    "are unchanged, but for merging several forecasts of one conditional: the probability of the condition is below"
)
UNKNOWN = "are shown as 0.5: no forecast of them has any weight, and the probability of the condition is below"
ADRIFT = (
    "In this answer the probability of h is 0, although no forecast, law or pin says so; forecasts conditional on it"
)


def row(event, p=None, low=None, high=None, judge="A", weight=1.0):
    return {"judge": judge, "event": event, "probability": p, "lower": low, "upper": high, "weight": weight}


@dataclass(frozen=True)
class Row:
    """A row of the table: a panel, and what is expected of it under the Brier loss, unless by `lost` and `stands`.

    `answer` has the probabilities of all events; `lost` what each settled conditional loses, as (constant, low, high,
    weight) of merged forecasts; None if the objective is `objective`. `saved` is the guaranteed improvement and
    `distance` that of the check; `book` says whether there is a sure profit, and `said` what a contradiction begins
    with. Conditionals in `stands` have no probability of their condition.
    """

    rows: list
    answer: dict
    note: str | None
    saved: float | None
    distance: float
    lost: tuple = ()
    objective: float | None = None
    book: bool = False
    said: str | None = None
    laws: list = field(default_factory=list)
    stands: tuple = ()

    def panel(self, outcomes=None):
        return co.Panel.from_records(self.rows, laws=self.laws, outcomes=outcomes)

    def least(self, loss):
        """What the answer loses under a loss whose clip, if any, no number reaches."""
        if self.objective is not None:
            return self.objective
        return sum(
            w * divergence(loss, constant, min(max(constant, low), high)) for constant, low, high, w in self.lost
        )


POINT = (1.0, 0.7, 0.7, 1.0)
CERTAIN = "P(p given p) = 0.70, though that is certain wherever its condition holds"
TABLE = {
    # E is certain given H
    "certain": Row([row("p given p", 0.7)], {"p given p": 1.0}, SETTLED, 0.0, 0.3, (POINT,), said=CERTAIN),
    "certain, H at 0": Row(
        [row("p given p", 0.7), row("p", 0.0)], {"p given p": 1.0, "p": 0.0}, SETTLED, 0.0, 0.3, (POINT,), said=CERTAIN
    ),
    "certain, H forecast": Row(
        [row("f given f", 0.75), row("~f", 0.48)],
        {"f given f": 1.0, "~f": 0.48},
        *(SETTLED, 0.0, 0.25, ((1.0, 0.75, 0.75, 1.0),)),
        book=True,
        said="P(f given f) = 0.75, though that is certain wherever its condition holds",
    ),
    "certain by a law": Row(
        [row("q given p", 0.7), row("p", 0.9)],
        {"q given p": 1.0, "p": 0.9},
        *(SETTLED, 0.0, 0.3, (POINT,)),
        book=True,
        said="P(q given p) = 0.70, though that is certain wherever its condition holds",
        laws=["p -> q"],
    ),
    "certain, and so is H": Row(
        [row("p given p", 0.7)], {"p given p": 1.0}, SETTLED, 0.09, 0.3, (POINT,), book=True, said=CERTAIN, laws=["p"]
    ),
    "certain, as forecast": Row(
        [row("p given p", 1.0), row("q", 0.3)], {"p given p": 1.0, "q": 0.3}, SETTLED, 0.0, 0.0
    ),
    "certain, interval": Row(
        [row("p given p", 0.5, 0.2, 0.6), row("q", 0.3)],
        {"p given p": 1.0, "q": 0.3},
        *(SETTLED, None, 0.4, ((1.0, 0.2, 0.6, 1.0),)),
        said="ask(p given p) = 0.60, though that is certain wherever its condition holds",
    ),
    "certain, interval from below": Row(
        [row("p given p", None, 0.4), row("q", 0.3)], {"p given p": 1.0, "q": 0.3}, SETTLED, None, 0.0
    ),
    "certain, interval from above": Row(
        [row("p given p", None, None, 0.6), row("q", 0.3)],
        {"p given p": 1.0, "q": 0.3},
        *(SETTLED, None, 0.4, ((1.0, 0.0, 0.6, 1.0),)),
        said="ask(p given p) = 0.60, though that is certain wherever its condition holds",
    ),
    "certain, without weight": Row(
        [row("p given p", 0.7, weight=0.0), row("q", 0.3)], {"p given p": 1.0, "q": 0.3}, SETTLED, 0.0, 0.0
    ),
    "certain, two judges alike": Row(
        [row("p given p", 0.7), row("p given p", 0.7, judge="B")],
        {"p given p": 1.0},
        *(SETTLED, 0.0, 0.3, ((1.0, 0.7, 0.7, 2.0),)),
        said=CERTAIN,
    ),
    # E is impossible given H
    "impossible": Row(
        [row("p & ~q given q", 0.7), row("q", 0.2)],
        {"p & ~q given q": 0.0, "q": 0.2},
        *(SETTLED, 0.0, 0.7, ((0.0, 0.7, 0.7, 1.0),)),
        book=True,
        said="P(p & ~q given q) = 0.70, though that cannot happen wherever its condition holds",
    ),
    "impossible, interval from below": Row(
        [row("~q given q", None, 0.3)],
        {"~q given q": 0.0},
        *(SETTLED, None, 0.3, ((0.0, 0.3, 1.0, 1.0),)),
        said="bid(~q given q) = 0.30, though that cannot happen wherever its condition holds",
    ),
    # H has no probability in the answer
    "H at 0": Row(
        [row("e given b", 0.25), row("b", 0.0)],
        {"e given b": 0.25, "b": 0.0},
        UNCHANGED,
        0.0,
        0.0,
        stands=("e given b",),
    ),
    "H at 0, interval with a number": Row(
        [row("e given b", 0.25, 0.19, 0.30), row("b", 0.0)],
        {"e given b": 0.25, "b": 0.0},
        *(UNCHANGED, None, 0.0),
        stands=("e given b",),
    ),
    "H at 0, interval alone": Row(
        [row("e given b", None, 0.2, 0.5), row("b", 0.0)],
        {"e given b": 0.35, "b": 0.0},
        *(UNCHANGED, None, 0.0),
        stands=("e given b",),
    ),
    "H at 0, interval from below": Row(
        [row("e given b", None, 0.4), row("b", 0.0)],
        {"e given b": 0.7, "b": 0.0},
        *(UNCHANGED, None, 0.0),
        stands=("e given b",),
    ),
    "H at 0, interval of the complement": Row(
        [row("~e given b", 0.25, 0.19, 0.30), row("b", 0.0)],
        {"~e given b": 0.25, "b": 0.0},
        *(UNCHANGED, None, 0.0),
        stands=("~e given b",),
    ),
    "H at 0, a point within another's interval": Row(
        [row("e given b", None, 0.1, 0.9), row("e given b", 0.2, judge="B"), row("b", 0.0)],
        {"e given b": 0.2, "b": 0.0},
        *(MERGED, None, 0.0),
        stands=("e given b",),
    ),
    "H at 0, two intervals that overlap": Row(
        [row("e given b", 0.1, 0.0, 0.4), row("e given b", 0.4, 0.3, 0.5, judge="B"), row("b", 0.0)],
        {"e given b": 0.3, "b": 0.0},  # the mean of their numbers is .25; .3 is the nearest in both
        *(MERGED, None, 0.0),
        stands=("e given b",),
    ),
    "H at 0, a point outside another's interval": Row(
        [row("e given b", None, 0.3, 0.5), row("e given b", 0.1, judge="B"), row("b", 0.0)],
        {"e given b": 0.2, "b": 0.0},  # halfway between .1 and .3
        *(MERGED, None, 0.0),
        stands=("e given b",),
    ),
    "H at 0, without weight": Row(
        [row("e given b", 0.25, weight=0.0), row("b", 0.0)],
        {"e given b": 0.5, "b": 0.0},
        *(UNKNOWN, 0.0, 0.0),
        stands=("e given b",),
    ),
    "H at 0, two judges alike": Row(
        [row("e given b", 0.25), row("e given b", 0.25, judge="B"), row("b", 0.0)],
        {"e given b": 0.25, "b": 0.0},
        *(MERGED, 0.0, 0.0),
        stands=("e given b",),
    ),
    "H made impossible": Row(
        [row("a given h", 0.9), row("b given h", 0.9), row("a & b given h", 0.1)],
        {"a given h": 0.9, "b given h": 0.9, "a & b given h": 0.1},
        *(ADRIFT, 0.0, 0.7 / np.sqrt(3)),
        said="P(a & b given h) = 0.10 is below P(a given h) + P(b given h) - 1 = 0.80",
        stands=("a given h", "b given h", "a & b given h"),
    ),
    # H is certain
    "H certain": Row(
        [row("p given q", 0.7), row("~p", 0.48)],
        {"p given q": 0.61, "~p": 0.39},
        *(None, 0.0162, np.sqrt(0.0162)),
        objective=0.0162,
        book=True,
        said="P(~p) = 0.48 and P(p given q) = 0.70 sum to 1.18, though they exclude each other",
        laws=["q"],
    ),
}
LINEAR = {"H certain"}
"""Where the loop of projections, which knows nothing of events that nobody forecast, answers otherwise."""


def each(*but):
    return pytest.mark.parametrize("name", [name for name in TABLE if name not in but])


@each()
@pytest.mark.parametrize("method", ["exact", "auto", "dykstra", "projections", co.Exact(conditionals="linearised")])
def test_answers(name, method):
    expected = TABLE[name]
    panel = expected.panel()
    result = co.aggregate(panel, method)
    if method == "projections" and name in LINEAR:
        assert co.verify(panel, result).problems == []
        return
    for event, probability in expected.answer.items():
        assert result.probability(event) == pytest.approx(probability, abs=1e-7), event
    assert result.objective == pytest.approx(expected.least("brier"), abs=1e-9)
    assert co.verify(panel, result).problems == []
    again = co.Result.from_json(result.to_json())
    assert co.verify(panel, again).problems == []
    if method in ("exact", "auto"):
        assert (expected.note or "None") in str(result.note)
        assert "Nobody forecast" not in str(result.note)
        assert result.guaranteed_improvement == (None if expected.saved is None else pytest.approx(expected.saved))


@each()
@pytest.mark.parametrize("columns", [1, 7])
def test_annealing(name, columns):
    expected = TABLE[name]
    panel = expected.panel()
    result = co.aggregate(panel, co.Annealing(columns=columns, seed=2))
    assert co.verify(panel, result).problems == []
    assert result.guaranteed_improvement is None
    for event in expected.answer:
        if expected.note is SETTLED and " given " in event:
            assert result.probability(event) == expected.answer[event]
        if columns == 1 and expected.stands and event == "b":  # b is false in the only world, and costs nothing
            assert (result.probability(event), result.objective) == (0.0, 0.0)
        condition = event.partition(" given ")[2]
        if event in expected.stands and not any(world[condition] for _, world in result.worlds):
            assert result.probability(event) == pytest.approx(expected.answer[event], abs=1e-12)
            assert any(said in result.note for said in (UNCHANGED, MERGED, UNKNOWN))


@each("H certain", "H at 0, a point outside another's interval")  # whose numbers are those of the Brier loss
@pytest.mark.parametrize("loss", ["log", "spherical"])
@pytest.mark.parametrize("method", ["exact", "auto"])
def test_other_losses(name, loss, method):
    """The log loss clips a forecast of 0, so that the condition has a probability unless a pin says that it has not."""
    expected = TABLE[name]
    pinned = bool(expected.stands) and name != "H made impossible"
    panel = co.Panel.from_records(expected.rows, laws=[*expected.laws, *["P(b) = 0"] * pinned])
    result = co.aggregate(panel, method, loss)
    for event, probability in expected.answer.items():
        clipped = float(find_loss(loss).clipped(probability)) if " given " not in event and not pinned else probability
        assert result.probability(event) == pytest.approx(clipped, abs=1e-6), event
    certain = [one["event"] for one in expected.rows if one["probability"] in (0.0, 1.0)]
    if not certain or loss != "log":  # clipped numbers lose a little
        assert result.objective == pytest.approx(expected.least(loss), abs=1e-8)
    assert result.guaranteed_improvement is None
    assert co.verify(panel, result).problems == []


@each()
def test_checks_and_books(name):
    expected = TABLE[name]
    panel = expected.panel()
    found = co.check(panel)
    assert found.distance == pytest.approx(expected.distance, abs=1e-7)
    assert found.status == ("incoherent" if expected.said else "coherent")
    assert [said.startswith(expected.said) for said in found.contradictions] == [True] * (expected.said is not None)
    quoted = any(one["lower"] is not None or one["upper"] is not None for one in expected.rows)
    if quoted and expected.said:
        assert found.guaranteed_improvement is None
    else:
        assert found.guaranteed_improvement == pytest.approx(expected.saved or 0.0)
    for book in (found.book, co.dutch_book(panel)):
        assert bool(book) == expected.book
        called_off = not expected.book and expected.said is not None
        assert ("only where a condition holds, and bets given it are called off" in book.sentence()) == called_off
        assert ("are coherent to within" in book.sentence()) == (expected.said is None)
        assert any("called off" in note for note in book.notes) == (
            expected.said is not None and expected.note is not None and expected.laws != ["p"]
        )


@each()
def test_the_distance_is_that_of_the_answer(name):
    """For one judge, and points or intervals of weight 1, the squared distance is what the answer loses.

    If a condition is made impossible, the answer loses nothing, and the check is about the worlds in which it holds.
    """
    expected = TABLE[name]
    one_judge = len({one["judge"] for one in expected.rows}) == 1
    if one_judge and all(one["weight"] for one in expected.rows) and name != "H made impossible":
        panel = expected.panel()
        assert co.check(panel).distance ** 2 == pytest.approx(co.aggregate(panel, "exact").objective, abs=1e-9)


@each()
@pytest.mark.parametrize("method", ["exact", "dykstra"])
def test_scores_in_every_world(name, method):
    """What is promised is saved in every world by the scores; where everything is called off there is none."""
    expected = TABLE[name]
    variables = sorted(expected.panel().events.variables)
    promises = set()
    for values in itertools.product((False, True), repeat=len(variables)):
        try:
            panel = expected.panel(dict(zip(variables, values, strict=True)))
        except co.CoherentlyError:  # no world of the laws
            continue
        result = co.aggregate(panel, method)
        promises.add(result.guaranteed_improvement)
        if any(one["weight"] == 0 for one in expected.rows):
            continue  # scores count all forecasts alike
        before, after = (sum_of_scores(panel, *of) for of in ((), (result,)))
        if result.guaranteed_improvement is not None:
            assert before - after >= result.guaranteed_improvement - 1e-9
    assert len(promises) == 1


def sum_of_scores(panel, *result):
    """The sum of the Brier penalties of all judges; 0 where every forecast is called off."""
    if (panel.written.outcome < 0).all():
        with pytest.raises(co.CoherentlyError, match="nothing can be scored"):
            co.score(panel, *result)
        return 0.0
    return float(co.score(panel, *result, by_judge=True).brier_sum.sum())


@pytest.mark.parametrize(("condition", "laws"), [("q & ~q", []), ("q", ["~q"]), ("p & q", ["~(p & q)"])])
def test_an_impossible_condition_is_refused(condition, laws):
    with pytest.raises(co.CoherentlyError, match="the condition after 'given' can never be true"):
        co.Panel.from_records([("A", f"p given {condition}", 0.5)], laws=laws)


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
@pytest.mark.parametrize("seed", range(5))
def test_forecasts_stand_where_they_lose_least(loss, seed):
    """Against all points of a grid; among those that lose least, it is the one nearest to the judges' mean."""
    rng = np.random.default_rng(seed)
    rows = [row("b", 0.0)]  # and a pin, as the log loss clips this
    for judge in "ABCD"[: rng.integers(1, 5)]:
        p, low, high = np.sort(rng.uniform(0.05, 0.95, 3)).round(2)[[1, 0, 2]].tolist()
        ends = (p, p) if rng.random() < 0.3 else (low, high)
        point = ends[0] == ends[1]
        event = str(rng.choice(["e given b", "~e given b"]))
        rows.append(row(event, p, *((None, None) if point else ends), judge, float(rng.integers(1, 4))))
    panel = co.Panel.from_records(rows, laws=["P(b) = 0"])
    result = co.aggregate(panel, "exact", loss)
    turned = [one["event"].startswith("~") for one in rows[1:]]
    ends = [(one["lower"] or one["probability"], one["upper"] or one["probability"]) for one in rows[1:]]
    ends = [(1 - high, 1 - low) if turn else (low, high) for (low, high), turn in zip(ends, turned, strict=True)]
    weights = [one["weight"] for one in rows[1:]]
    numbers = [
        1 - one["probability"] if turn else one["probability"] for one, turn in zip(rows[1:], turned, strict=True)
    ]
    mean = np.average(numbers, weights=weights)

    def lost(t):
        return sum(
            w * divergence(loss, t, min(max(t, low), high)) for w, (low, high) in zip(weights, ends, strict=True)
        )

    text = rows[1]["event"]
    found = result.probability(text) if not turned[0] else 1 - result.probability(text)
    grid = np.linspace(0.001, 0.999, 999)
    losses = np.array([lost(t) for t in grid])
    assert lost(found) <= losses.min() + 1e-12
    best = grid[losses <= losses.min() + 1e-12]
    if len(best) > 1:
        assert abs(found - mean) <= np.abs(best - mean).min() + 1e-12
    assert co.verify(panel, result).problems == []
    for away in (-1e-6, 1e-6):
        moves = {"e given b": away, "~e given b": -away, "b": 0.0}
        value = result.solution.value + np.array([moves[event] for event in panel.written.text])
        (problem,) = co.verify(panel, tampered(result, value=value)).problems
        assert "whose condition has none in the worlds" in problem


@pytest.mark.parametrize("seed", range(4))
def test_what_is_promised_is_saved_in_every_world(seed):
    found = check_savings(f"conditionals {seed}", 12)
    assert found["more"]
    assert found["nothing"]


def test_a_promise_that_counts_what_may_be_called_off_is_refused():
    panel = co.Panel.from_records([("A", "p given p", 0.7), ("A", "q", 0.2), ("A", "p & q", 0.3)])
    result = co.aggregate(panel, "exact")
    assert result.guaranteed_improvement == pytest.approx(0.005)
    (problem,) = co.verify(panel, tampered(result, guaranteed_improvement=0.006)).problems
    assert "the guaranteed improvement is 0.006; what is saved in every world is 0.005" in problem
    certain = co.Panel.from_records([("A", "p given p", 0.7), ("A", "q", 0.2), ("A", "p & q", 0.3)], laws=["p"])
    assert co.aggregate(certain, "exact").guaranteed_improvement == pytest.approx(0.095)


def test_a_check_promises_what_is_saved_without_what_may_be_called_off():
    panel = co.Panel.from_records([("A", "p given p", 0.7), ("A", "r | ~r", 0.8)])
    found = co.check(panel)
    assert found.distance**2 == pytest.approx(0.13)
    assert found.guaranteed_improvement == pytest.approx(0.04)
    assert co.aggregate(panel, "exact").guaranteed_improvement == pytest.approx(0.04)


def test_notes_tell_a_condition_that_is_certain_from_one_that_is_impossible():
    rows = [row("a given h", 0.9), row("a given ~h", 0.1), row("~a given ~h", 0.1), row("a", 0.9)]
    note = co.aggregate(co.Panel.from_records(rows), "exact").note
    assert "the probability of ~h is 0, although" in note
    assert "the probability of h is 1, although no forecast, law or pin says so. Add a forecast" in note
