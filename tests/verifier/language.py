"""Random small panels of the whole language, for the tests of the verifier."""

import numpy as np

import coherently as co

NAMES = ("p", "q", "r")
DECLARED = {
    "w": ("variable w: a, b, c", ("w = a", "w = b", "w in {a, c}", "w != b")),
    "x": ("variable x: number", ("x < 1", "x >= 2", "x < 2", "x <= 1")),
}


def literal(rng, declared):
    if declared and rng.random() < 0.4:
        return str(rng.choice(DECLARED[str(rng.choice(declared))][1]))
    return str(rng.choice(["", "~"])) + str(rng.choice(NAMES))


def event(rng, declared, most=3):
    text = literal(rng, declared)
    for _ in range(int(rng.integers(0, most))):
        text = f"({text}) {rng.choice(['&', '|', '->', '^'])} {literal(rng, declared)}"
    return text


def number(rng):
    return float(rng.choice([0.0, 1.0, *rng.random(6).round(3)]))


def random_panel(rng, *, terms=True, laws=True, weights=True):
    """A panel; with terms there may be conditionals, intervals and pins. None where it contradicts itself."""
    declared = [name for name in DECLARED if laws and rng.random() < 0.4]
    statements = [DECLARED[name][0] for name in declared]
    statements += [event(rng, declared, 2) for _ in range(int(rng.integers(0, 3)) if laws else 0)]
    if terms and rng.random() < 0.6:
        sign = str(rng.choice(["=", "<=", ">="]))
        given = f" given {literal(rng, declared)}" if rng.random() < 0.3 else ""
        statements.append(f"P({event(rng, declared, 1)}{given}) {sign} {rng.choice([0.0, 0.1, 0.25, 0.6, 0.83, 1.0])}")
    rows = []
    for judge in "AB"[: int(rng.integers(1, 3))]:
        for _ in range(int(rng.integers(1, 7))):
            text = event(rng, declared)
            if terms and rng.random() < 0.25:
                text += f" given {literal(rng, declared)}"
            row = {"judge": judge, "event": text, "probability": number(rng), "lower": None, "upper": None}
            if terms and rng.random() < 0.15:
                row["lower"], row["upper"] = sorted([number(rng), number(rng)])
            least = 0.5 if terms else 0.0
            row["weight"] = float(rng.choice([least, 0.5, 1.0, 1.0, 3.0])) if weights else 1.0
            rows.append(row)
    try:
        return co.Panel.from_records(rows, laws=statements or None)
    except co.CoherentlyError:
        return None


def solve(panel, word):
    """The result of a method; None where it does not take the panel."""
    methods = {
        "log loss": ("exact", "log"),
        "spherical loss": ("exact", "spherical"),
        "linearised": (co.Exact(conditionals="linearised"), "brier"),
        "pairs": (co.AlternatingProjections(groups="pairs", correction="dykstra"), "brier"),
        "cliques": (co.AlternatingProjections(groups="cliques", correction="dykstra"), "brier"),
        "short": (co.Exact(time_limit=0), "brier"),
        "one sweep": (co.AlternatingProjections(sweeps=1), "brier"),
        "annealing": (co.Annealing(columns=20, steps=200), "brier"),
        "log dykstra": ("dykstra", "log"),
        "median, then exact": (co.Pool("median", then=co.Exact()), "brier"),
    }
    try:
        return co.aggregate(panel, *methods.get(word, (word, "brier")))
    except (co.MethodError, co.ContradictionError):
        return None


WORDS = (
    *("exact", "auto", "log loss", "spherical loss", "linearised", "short", "annealing", "median, then exact"),
    *("dykstra", "projections", "pairs", "cliques", "one sweep", "log dykstra"),
    *("linear", "median", "log", "normalised", "power", "shin", "shrunk", "lindley", "dempster-shafer"),
)
"""The methods that the tests of the verifier use, by a word for each."""


def cases(seed):
    """Panels with results of random methods, without end."""
    rng = np.random.default_rng(seed)
    while True:
        panel = random_panel(rng, terms=bool(rng.random() < 0.6), laws=bool(rng.random() < 0.7))
        if panel is None or (len(panel.laws.pins) and solve(panel, "short") is None):
            continue  # the pins contradict the laws, which not every method notices
        result = solve(panel, str(rng.choice(WORDS)))
        if result is not None:
            yield rng, panel, result
