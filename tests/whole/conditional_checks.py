"""Random panels with conditionals, settled by their condition or not: what is saved in every possible world.

Every world is written out, and an independent grammar evaluates the texts. A conditional whose condition fails is
called off: it has no penalty, as in `co.score`.
"""

import random

import numpy as np

import coherently as co
from tests.whole.language_checks import STATEMENTS, VALUES, chances, text
from tests.whole.reference import Case

ROUNDING = 1e-9
"""What sums of penalties may be off by, relative to the sum of the weights."""
METHODS = ("exact", "exact", "auto", "dykstra", "projections", "linearised")


def check_savings(seed, count):
    """Hold so many panels against all worlds; how many promised more than nothing, nothing, and no number at all."""
    rng = random.Random(seed)
    found = {"more": 0, "nothing": 0, "no number": 0}
    for number in range(count):
        case = random_case(rng)
        try:
            promise = check_case(rng, case)
        except Exception as error:
            error.add_note(f"panel {number} of seed {seed}: {case.rows} under {case.laws}")
            raise
        found["no number" if promise is None else "more" if promise > 0 else "nothing"] += 1
    return found


def random_case(rng):
    """Points by two judges, with repeats and complements; some conditionals are settled by their condition."""
    names = rng.sample(list(VALUES), rng.randint(2, 3))
    case = Case({name: VALUES[name] for name in names}, [], [STATEMENTS[n] for n in names if n in STATEMENTS])
    for _ in range(rng.randint(0, 2)):
        law = text(rng, names, 2)
        case.formulas.append(law)
        if not len(case.allowed):
            case.formulas.remove(law)
    even = np.full(len(case.allowed), 1 / len(case.allowed))
    for _ in range(rng.randint(1, 7)):
        event = random_event(rng, names)
        if chances(case, event, even)[1] == 0:
            continue
        for judge in rng.choice(("A", "B", "AA", "AB")):
            p = rng.choice((0.0, 1.0, 0.5, rng.random(), rng.random()))
            weight = rng.choice((1.0, 1.0, 2.0, rng.uniform(0.1, 5), 0.0))
            case.rows.append({"judge": judge, "event": event, "probability": p, "weight": weight})
    case.rows.append({"judge": "A", "event": text(rng, names, 1), "probability": 0.5, "weight": 1.0})
    return case


def random_event(rng, names):
    event = text(rng, names, 2)
    kind = rng.random()
    if kind < 0.4:
        return event
    condition = text(rng, names, 1)
    if kind < 0.55:
        event = f"({condition}) | ({event})"
    elif kind < 0.7:
        event = f"({event}) & ~({condition})"
    return f"{rng.choice(('', '~'))}({event}) given ({condition})"


def check_case(rng, case):
    panel = case.panel()
    method = rng.choice(METHODS)
    result = co.aggregate(panel, co.Exact(conditionals="linearised") if method == "linearised" else method)
    assert co.verify(panel, result).problems == []
    saved = least_saved(case, case.rows, [result.probability(row["event"]) for row in case.rows])
    promise, total = result.guaranteed_improvement, sum(row["weight"] for row in case.rows)
    if promise is not None:
        assert 0 <= promise <= max(saved, 0.0) + ROUNDING * total, (method, promise, saved)
    check_findings(case, co.check(panel))
    return promise


def least_saved(case, rows, answer):
    """The weighted Brier penalty of forecasts minus that of an answer for each, in the worst possible world."""
    saved = np.zeros(len(case.allowed))
    for row, x in zip(rows, answer, strict=True):
        if row["weight"]:
            won, stands = case.truth(row["event"])
            saved += row["weight"] * stands * ((row["probability"] - won) ** 2 - (x - won) ** 2)
    return float(saved.min())


def check_findings(case, checked):
    """Repairing the forecasts of a judge saves what the check says, all weights being 1."""
    for judge, finding in checked.judges.items():
        rows = [{**row, "weight": 1.0} for row in case.rows if row["judge"] == judge and row["weight"] > 0]
        if finding.guaranteed_improvement is not None:
            changed = [
                finding.book.repair.get(key, (None, row["probability"]))
                for key, row in zip(finding.book.prices, rows, strict=True)
            ]
            saved = least_saved(case, rows, [new for _, new in changed])
            assert 0 <= finding.guaranteed_improvement <= max(saved, 0.0) + 1e-6 * len(rows), (judge, finding, saved)
