"""Random panels of counts, single variables, other events and laws, with weights and losses mixed.

Texts and truth are drawn side by side, so that the reference uses neither the parser nor the worlds of the package. Few
variables are held against all worlds: the slope of the loss at an answer proves how near it is to the best one. Many
variables are held against the verifier, whose elimination is another one.
"""

import cvxpy as cp
import numpy as np

import coherently as co
from tests.solve.reference import nearest_point
from tests.whole.loss_checks import CLIP, CLOSE, COUNTS, divergence, solve_closely

WEIGHTS = (1.0, 1.0, 1.0, 3.0, 0.2, 40.0)
LOSSES = ("brier", "brier", "log", "spherical")
EDGE = 1e-11
"""The log loss has no slope at 0 and 1."""
SIGNS = {"&": np.logical_and, "|": np.logical_or, "->": lambda a, b: ~a | b, "^": np.logical_xor}


class Variables:
    """Truth values of variables in all worlds, and texts about them with their truth; None where worlds are many."""

    def __init__(self, rng, size, *, listed):
        self.rng, self.size = rng, size
        self.worlds = (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(bool) if listed else None
        self.order = rng.permutation(size)
        self.negated = float(rng.choice([0.0, 0.0, 0.3]))

    def literal(self, i, chance):
        turned = self.rng.random() < chance
        truth = None if self.worlds is None else self.worlds[:, i] != turned
        return f"{'~' * turned}v{i}", truth

    def some(self, least):
        """Variables in a row, or anywhere: sets are nested, disjoint, or overlap."""
        count = int(self.rng.integers(least, self.size + 1))
        if self.rng.random() < 0.5:
            begin = int(self.rng.integers(self.size - count + 1)) if self.rng.random() < 0.5 else 0
            return self.order[begin : begin + count]
        return self.rng.choice(self.size, count, replace=False)

    def count(self, least):
        parts = [self.literal(i, self.negated) for i in self.some(least)]
        word, number = str(self.rng.choice(list(COUNTS))), int(self.rng.integers(len(parts) + 1))
        truth = None if self.worlds is None else COUNTS[word](np.sum([own for _, own in parts], axis=0), number)
        return f"{word}({number}; {', '.join(text for text, _ in parts)})", truth

    def other(self):
        """An event of two variables; or one of five or six that is almost a count, or one of different literals."""
        if self.rng.random() < 0.8:
            (a, x), (b, y) = (self.literal(i, 0.3) for i in self.rng.choice(self.size, 2, replace=False))
            sign = str(self.rng.choice(list(SIGNS)))
            return f"{a} {sign} {b}", None if x is None else SIGNS[sign](x, y)
        parts = [self.literal(i, 0.5) for i in self.rng.choice(self.size, 5, replace=False)]
        (a, x), (b, y) = parts[:2]
        text, number = ", ".join(own for own, _ in parts), int(self.rng.integers(1, 5))
        truth = None if x is None else (np.sum([own for _, own in parts], axis=0) >= number) & ~(x & y)
        return f"at_least({number}; {text}) & ~({a} & {b})", truth


class CountCase:
    """A panel, and the truth of its forecasts in the possible worlds."""

    def __init__(self, seed, size=None):
        rng = np.random.default_rng([2911, seed])
        self.size = int(rng.integers(5, 12)) if size is None else size
        own = Variables(rng, self.size, listed=size is None)
        self.loss = str(rng.choice(LOSSES))
        events = [own.count(min(5, self.size)) for _ in range(int(rng.integers(1, 4)))]
        events += [own.literal(i, 0.0) for i in range(self.size) if rng.random() < 0.7]
        events += [own.other() for _ in range(int(rng.integers(0, 4)))]
        events = events if size else _distinct(events)
        laws = [own.other() for _ in range(int(rng.integers(0, 3)) if rng.random() < 0.6 else 0)]
        laws += [own.count(5)] if rng.random() < 0.3 else []
        self.rows = [
            (str(rng.choice(["A", "B"])), text, float(rng.choice([rng.random(), round(rng.random(), 1)])), w)
            for (text, _), w in zip(events, rng.choice(WEIGHTS, len(events)), strict=True)
        ]
        self.laws = [text for text, _ in laws]
        if size is None:
            possible = np.ones(len(own.worlds), bool)
            for _, truth in laws:
                possible &= truth
            self.truth = np.array([truth[possible] for _, truth in events]).T.astype(float)

    def panel(self):
        return co.Panel.from_records(self.rows, laws=self.laws)

    def terms(self):
        """The probability that the loss sees, and the weight, of each forecast."""
        p, weight = np.array([(p, w) for _, _, p, w in self.rows]).T
        return np.clip(p, CLIP, 1 - CLIP) if self.loss == "log" else p, weight

    def value(self, x):
        p, weight = self.terms()
        return sum(w * divergence(self.loss, r, t) for r, t, w in zip(x, p, weight, strict=True))

    def gap(self, x):
        """What no coherent forecasts gain on x: planes that touch the convex loss, at x or beside it, lie below it."""
        p, weight = self.terms()
        r = np.clip(x, EDGE, 1 - EDGE)
        slope = {
            "brier": lambda r: 2 * r,
            "log": lambda r: np.log(r / (1 - r)),
            "spherical": lambda r: (2 * r - 1) / np.hypot(r, 1 - r),
        }[self.loss]
        steep = weight * (slope(r) - slope(p))
        return self.value(x) - (self.value(r) + float(((self.truth - r) @ steep).min()))

    def by_clarabel(self):
        """The best probabilities under the log loss, by a conic solver over all worlds."""
        rows, (p, weight) = np.unique(self.truth, axis=0), self.terms()
        share = cp.Variable(len(rows), nonneg=True)
        x = share @ rows
        away = cp.rel_entr(x, p) + cp.rel_entr(1 - x, 1 - p)
        solve_closely(cp.Problem(cp.Minimize(weight @ away), [cp.sum(share) == 1]))
        found = np.maximum(share.value, 0.0)
        return np.clip(found @ rows / found.sum(), 0.0, 1.0)


def _distinct(events):
    """The events, each once with its complement, without those that always or never hold."""
    found = {}
    for text, truth in events:
        if truth.any() and not truth.all():
            found.setdefault((truth ^ truth[0]).tobytes(), (text, truth))
    return list(found.values())


def check_counts(first, count):
    """Hold so many panels against all worlds; the largest difference of a probability from another solver."""
    return max((_check(seed) for seed in range(first, first + count)), default=0.0)


def _check(seed):
    case = CountCase(seed)
    try:
        panel = case.panel()
        result = co.aggregate(panel, co.Exact(), case.loss)
    except co.CoherentlyError as error:  # laws that contradict each other, or leave a forecast no choice
        assert not len(case.truth), (seed, error)
        return 0.0
    assert len(case.truth), seed
    x = np.array([result.probability(text) for _, text, _, _ in case.rows])
    share, seen = _shares(case, result)
    np.testing.assert_allclose(seen @ share, x, atol=1e-9, err_msg=str(seed))
    least = case.value(np.clip(x, 0.0, 1.0))
    assert result.status == "optimal", seed
    assert abs(result.objective - least) <= 1e-9 * max(1.0, least), (seed, result.objective, least)
    assert result.lower_bound <= result.objective, seed
    gap = case.gap(np.clip(x, 0.0, 1.0))
    if case.loss == "log" and gap > 1e-9 * max(1.0, least):
        # Probabilities near 0 and 1 have slopes that the last digit decides: another solver is asked.
        gap = least - case.value(case.by_clarabel()) - (CLOSE - 1e-9) * max(1.0, least)
    assert gap <= 1e-9 * max(1.0, least), (seed, gap)
    assert co.verify(panel, result), seed
    if case.loss != "brier":
        return 0.0
    p, weight = case.terms()
    off = float(np.abs(nearest_point(np.unique(case.truth, axis=0), weight, p) - x).max())
    assert off <= 1e-7, (seed, off)
    return off


def _shares(case, result):
    """The shares of a result's worlds, and the truth of the forecasts there by their own reading."""
    rows = np.array([[world.get(f"v{i}", False) for i in range(case.size)] for _, world in result.worlds])
    truth = np.array([_truth(text, rows) for _, text, _, _ in case.rows])
    return np.array([share for share, _ in result.worlds]), truth


def _truth(text, rows):
    """The truth of an event of this kind, read by Python."""
    names = {f"v{i}": rows[:, i].astype(bool) for i in range(rows.shape[1])}
    names |= {word: lambda number, *own, test=test: test(np.sum(own, axis=0), number) for word, test in COUNTS.items()}
    plain = text.replace(";", ",")
    if "->" in plain:
        left, right = plain.split("->")
        plain = f"~({left}) | ({right})"
    return eval(plain, {"__builtins__": {}}, names)


def check_many_counts(first, count):
    """Panels of many variables are proved, and the verifier finds the same bound by its own elimination."""
    proved = 0
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        case = CountCase(seed, int(rng.integers(17, 60)))
        try:
            panel = case.panel()
            result = co.aggregate(panel, co.Exact(time_limit=1), case.loss)
        except co.CoherentlyError:
            continue
        checked = co.verify(panel, result)
        assert checked, (seed, checked.problems)
        own = [proof for proof in checked.bound_rests_on if proof.startswith("own")]
        proved += result.status == "optimal" and len(own) == len(checked.bound_rests_on)
    return proved
