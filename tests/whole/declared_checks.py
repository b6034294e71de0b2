"""Random panels with declared variables and laws, from text to probabilities, against all values that they may have."""

import itertools
import random
import re

import numpy as np

import coherently as co
from tests.events.oracle import truths
from tests.solve.reference import nearest_point

DOMAINS = {
    "p": (False, True),
    "q": (False, True),
    "winner": ("Ann", "Bob", "Cid"),
    "seat": ("x", "y", "other"),
    "party": ("left", "right"),
    "rate": (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5),
}
DECLARATIONS = {
    "winner": "variable winner: Ann, Bob, Cid",
    "seat": "variable seat: x, y, ...",
    "party": "variable party: left, right",
    "rate": "variable rate: number",
}


def literal(rng, names):
    name = rng.choice(names)
    if name in ("p", "q"):
        return rng.choice((name, f"~{name}"))
    if name == "rate":
        return f"rate {rng.choice(('<', '>=', '<=', '>'))} {rng.randint(1, 3)}"
    values = rng.sample(DOMAINS[name], rng.randint(1, 2))
    return f"{name} in {{{', '.join(values)}}}" if len(values) > 1 else f"{name} {rng.choice(('=', '!='))} {values[0]}"


def formula(rng, names, most):
    parts = [literal(rng, names) for _ in range(rng.randint(1, most))]
    text = parts[0]
    for part in parts[1:]:
        text = f"({text}) {rng.choice(('&', '|', '->', '^'))} {part}"
    return text


def random_case(rng):
    """Names, laws that leave a world, and forecasts (judge, event, probability, weight)."""
    names = rng.sample(list(DOMAINS), rng.randint(2, 4))
    domains = {name: DOMAINS[name] for name in names}
    laws, allowed = [], np.ones(len(list(itertools.product(*domains.values()))), bool)
    for _ in range(rng.randint(0, 3)):
        law = formula(rng, names, 2)
        left = allowed & truths(law, domains)
        if left.any():
            laws.append(law)
            allowed = left
    rows = [
        (
            rng.choice("AB"),
            formula(rng, names, 3),
            rng.choice((0.0, 1.0, rng.random(), rng.random())),
            rng.uniform(0.1, 5),
        )
        for _ in range(rng.randint(2, 12))
    ]
    return domains, laws, rows, allowed


def nearest(domains, rows, allowed):
    """The probabilities of the forecasts' events in the nearest mixture of allowed worlds, by NNLS."""
    truth = np.array(
        [np.broadcast_to(truths(event, domains), len(allowed))[allowed] for _, event, _, _ in rows], float
    ).T
    weight, p = (np.array([row[i] for row in rows]) for i in (3, 2))
    return nearest_point(truth, weight, p)


def recoded(text):
    """The variables that are true or false as declared ones with two values."""
    return re.sub(r"(?<![\w\"=])([pq])(?!\w)", r"(\1 = yes)", text)


def check_declared(seed, count):
    """Hold so many panels against enumeration, and against themselves recoded; the largest difference."""
    rng, worst = random.Random(seed), 0.0
    for _ in range(count):
        domains, laws, rows, allowed = random_case(rng)
        declared = [DECLARATIONS[name] for name in domains if name in DECLARATIONS]
        panel = co.Panel.from_records(rows, laws=[*declared, *laws])
        result = co.aggregate(panel, co.Exact())
        assert result.status == "optimal", (laws, rows)
        checked = co.verify(panel, result)
        assert checked, (checked.problems, laws, rows)
        found = np.array(result.rows()["probability"])
        expected = nearest(domains, rows, allowed)
        two = [f"variable {name}: yes, no" for name in domains if name in ("p", "q")]
        other = co.Panel.from_records(
            [(judge, recoded(event), p, w) for judge, event, p, w in rows],
            laws=[*declared, *two, *(recoded(law) for law in laws)],
        )
        again = np.array(co.aggregate(other, co.Exact()).rows()["probability"])
        difference = max(np.abs(found - expected).max(), np.abs(found - again).max())
        assert difference <= 1e-7, (difference, laws, rows)
        worst = max(worst, difference)
    return worst
