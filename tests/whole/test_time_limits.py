"""Time limits of every public call: found by signature, kept, refused where they are none, and heeded when they are 0.

No test measures time: a spy on `Budget` sees what a limit becomes, and a panel whose proof is long shows in its own
words that it was not finished.
"""

import inspect
import math

import pytest

import coherently as co
from coherently.solve.budget import Budget

HARD = co.simulate(judges=40, variables=40, seed=1)
"""A panel whose proof takes far longer than a first answer."""
OUTCOMES = {f"v{i}": i % 3 == 0 for i in range(4)}
ROWS = [
    (judge, event, round(0.2 + 0.1 * (i + j) % 0.7, 2))
    for i, judge in enumerate("ABC")
    for j, event in enumerate([f"v{k}" for k in range(4)] + ["v0 & v1", "v2 | v3", "v1 -> v2"])
]
RESOLVED = co.Panel.from_records(ROWS, outcomes=OUTCOMES)
MANY = co.Panel.from_records(
    [
        (j, f"{v}{c}", round((0.13 * i + 0.29 * k) % 1, 2))
        for i, j in enumerate("AB")
        for k in range(30)
        for c in (k,)
        for v in "vw"
    ]
    + [("A", f"v{k} & w{k}", 0.4) for k in range(30)],
    outcomes={f"{v}{k}": (k * 7 + i) % 3 == 0 for k in range(30) for i, v in enumerate("vw")},
)

TRIALS = {
    "Annealing": lambda limit: co.aggregate(HARD, co.Annealing(time_limit=limit)),
    "CoherenceWeights": lambda limit: co.CoherenceWeights(time_limit=limit)(HARD),
    "Exact": lambda limit: co.aggregate(HARD, co.Exact(time_limit=limit)),
    "Influence.of": lambda limit: co.Influence.of(RESULT, time_limit=limit),
    "Lindley": lambda limit: co.aggregate(HARD, co.Lindley(time_limit=limit)),
    "Report.of": lambda limit: co.Report.of(RESULT, time_limit=limit),
    "Result.bounds": lambda limit: RESULT.bounds("v0 & v3 & v5 & v7", time_limit=limit),
    "aggregate": lambda limit: co.aggregate(HARD, "exact", time_limit=limit),
    "Result.bounds_table": lambda limit: RESULT.bounds_table(["v0 & v3 & v5 & v7"], time_limit=limit),
    "Result.implied_proof": lambda limit: RESULT.implied_proof(["v2 & v3"], time_limit=limit),
    "Result.influence": lambda limit: RESULT.influence(time_limit=limit),
    "Result.report": lambda limit: RESULT.report(time_limit=limit),
    "Result.why": lambda limit: RESULT.why(HARD.written.text[0], time_limit=limit),
    "Why.of": lambda limit: co.Why.of(RESULT, HARD.written.text[0], time_limit=limit),
    "ask_next": lambda limit: co.ask_next(HARD, 1, about="v0", candidates=["v1 & v2"], time_limit=limit),
    "baselines": lambda limit: co.baselines(time_limit=limit),
    "check": lambda limit: co.check(HARD, time_limit=limit),
    "compare": lambda limit: co.compare(RESOLVED, time_limit=limit),
    "consistency": lambda limit: co.consistency(RESOLVED, time_limit=limit),
    "dutch_book": lambda limit: co.dutch_book(HARD, time_limit=limit),
    "individual": lambda limit: co.individual(HARD, time_limit=limit),
    "literature": lambda limit: co.literature(time_limit=limit),
    "monitor": lambda limit: co.monitor([RESOLVED], judge="A", tolerance=0.1, time_limit=limit),
    "tune": lambda limit: co.tune(MANY, time_limit=limit),
}
TRIANGLE = co.Panel.from_records([("A", e, 0.5) for e in "abc"] + [("A", e, 0.0) for e in ("a & b", "a & c", "b & c")])
RESULT = co.aggregate(HARD, co.Exact(time_limit=0.0))


def limited():
    """The public names that take a time limit."""
    for name in co.__all__:
        value = getattr(co, name)
        if not callable(value):
            continue
        members = inspect.getmembers(value, callable) if inspect.isclass(value) else []
        calls = [(name, value), *((f"{name}.{own}", call) for own, call in members if not own.startswith("_"))]
        for word, call in calls:
            try:
                found = inspect.signature(call).parameters
            except ValueError:
                continue
            if "time_limit" in found:
                yield word


def test_every_call_with_a_time_limit_is_tried_here():
    assert sorted(limited()) == sorted(TRIALS)


@pytest.mark.parametrize("call", TRIALS)
@pytest.mark.parametrize("limit", [-1.0, math.inf, math.nan])
def test_what_is_no_time_limit_is_refused(call, limit):
    with pytest.raises(co.MethodError, match="time_limit"):
        TRIALS[call](limit)


@pytest.mark.parametrize("call", TRIALS)
@pytest.mark.parametrize("limit", [0.0, 1e-6, 0.1])
def test_no_budget_is_longer_than_the_limit(call, limit, monkeypatch):
    given = []
    within = Budget.within

    def spy(self, seconds):
        found = within(self, seconds)
        given.append(found.deadline - found.begun)
        return found

    monkeypatch.setattr(Budget, "within", spy)
    TRIALS[call](limit)
    assert given or call in ("baselines", "literature")
    assert max(given, default=0.0) <= limit + 1e-9


def test_without_time_nothing_is_called_finished():
    assert TRIALS["Exact"](0.0).status == "time_limit"
    assert TRIALS["Exact"](1e-6).status == "time_limit"
    assert TRIALS["check"](0.0).judges.cut > 0
    assert "Raise the time limit" in co.dutch_book(TRIANGLE, time_limit=0.0).sentence()
    bounds = TRIALS["Result.bounds"](0.0)
    assert not bounds.certified
    assert "time limit" in bounds.note
    late, whole = TRIALS["consistency"](0.0), TRIALS["consistency"](600.0)
    assert any("only upper bounds" in note for note in late.notes)
    assert not any("only upper bounds" in note for note in whole.notes)
    assert (late.joint >= whole.joint - 1e-6).all()
    assert (late.joint > whole.joint + 1e-3).any()


def test_a_limit_that_is_over_leaves_nothing_infinite_in_a_result():
    rows = [("A", "p", 0.3), ("A", "q given p", 0.9), ("A", "q", 0.1), ("B", "p & q", 0.6)]
    interval = [{"judge": "C", "event": "p | q", "probability": None, "lower": 0.7, "upper": 0.8}]
    plain = [dict(zip(("judge", "event", "probability"), row, strict=True)) for row in rows]
    panels = [
        co.Panel.from_records(rows),
        co.Panel.from_records(plain + interval),
        co.Panel.from_records(rows, laws=["P(p) <= 0.2"]),
        HARD,
    ]
    for panel in panels:
        for loss in ("brier", "log", "spherical"):
            for method in (co.Exact(time_limit=0.0), "auto"):
                result = co.aggregate(panel, method, loss=loss) if method != "auto" or panel is not HARD else None
                if result is not None:
                    numbers = (result.objective, result.lower_bound, result.gap)
                    assert all(math.isfinite(number) for number in numbers if number is not None)
                    assert "inf" not in repr(result)
                    assert "Infinity" not in result.to_json()
