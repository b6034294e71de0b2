"""The table of components: its worlds, its bounds at any shares, and its order of work."""

import numpy as np
import pytest

import coherently as co
from coherently import _core
from coherently.problem import find_loss, pose, settled, split
from coherently.problem.spaces.enumerated import possible_worlds
from coherently.solve.component.component_table import ComponentTable

LOSSES = ("brier", "log", "spherical")
FORMS = ("{0}", "{1}", "{0} & {1}", "{0} | ~{2}", "{0} ^ {1}", "{0} & {1} & {2}", "exactly(1; {0}, {1}, {2})")
LAWS = ("{0} -> {1}", "~({0} & {1})", "exactly(1; {0}, {1}, {2})", "{0} | {1} | {2}")


def random_problem(seed, loss):
    """Some components, with laws, declared variables and conditionals on conditions that are forecast."""
    rng = np.random.default_rng(seed)
    rows, laws = [], []
    for c in range(6):
        atoms = [f"v{c}a", f"v{c}b", f"v{c}c"]
        if rng.random() < 0.4:
            laws.append(f"variable v{c}: x, y, z, ...")
            atoms = [f"v{c} = x", f"v{c} = y", f"v{c} = z"]
        elif rng.random() < 0.5:
            laws.append(str(rng.choice(LAWS)).format(*atoms))
        texts = [text.format(*atoms) for text in rng.choice(FORMS, int(rng.integers(1, 6)), replace=False)]
        rows += [("A", text, float(rng.random()), float(rng.choice([1.0, 2.0, 0.01, 40.0, 0.0]))) for text in texts]
        rows.append(("A", atoms[0], 0.3 + 0.4 * rng.random(), 20.0))
        if rng.random() < 0.5:
            rows.append(("A", f"{atoms[1]} given {atoms[0]}", float(rng.random()), 1.0))
    return pose(settled(co.Panel.from_records(rows, laws=laws)), find_loss(loss))


def solved(problem, seconds=60.0, threads=1):
    table = ComponentTable(problem.merged, problem.loss, linearised=False).core
    assert table.solve(seconds, threads)
    return table


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(15))
def test_worlds_are_possible_and_give_events_their_probabilities(seed, loss):
    problem = random_problem(seed, loss)
    table = solved(problem)
    starts, share, truth_starts, truth = table.mixtures()
    x = table.probabilities()
    parts = split(problem.merged)
    assert len(parts) == len(table)
    for i, part in enumerate(parts):
        event_starts, events = table.events()
        variable_starts, variables = table.variables()
        np.testing.assert_array_equal(events[event_starts[i] : event_starts[i + 1]], part.coordinates)
        np.testing.assert_array_equal(variables[variable_starts[i] : variable_starts[i + 1]], part.merged.origin)
        own = share[starts[i] : starts[i + 1]]
        if not table.solved()[i]:
            assert not len(own)
            continue
        worlds = truth[truth_starts[i] : truth_starts[i + 1]].reshape(len(own), -1)
        assert own.min() > 0
        assert own.sum() == pytest.approx(1.0, abs=1e-14)
        assert len(own) <= len(part.merged) + 1
        every = {world.tobytes() for world in possible_worlds(part.merged, 64).view(np.uint8)}
        assert {world.tobytes() for world in worlds} <= every
        np.testing.assert_allclose(own @ part.merged.functions.hold(worlds), x[part.coordinates], atol=1e-15)


def planes(loss, r, t):
    """The values, where the event holds and where it does not, of the plane that touches d(., t) at r."""
    one = np.longdouble(1)
    if loss == "brier":
        d, slope = (r - t) ** 2, 2 * (r - t)
    elif loss == "log":
        d = r * np.log(r / t) + (one - r) * np.log((one - r) / (one - t))
        slope = np.log(r / t) - np.log((one - r) / (one - t))
    else:
        phi = [np.sqrt(y**2 + (one - y) ** 2) for y in (r, t)]
        d = phi[0] - (r * t + (one - r) * (one - t)) / phi[1]
        slope = (2 * r - 1) / phi[0] - (2 * t - 1) / phi[1]
    return d + (one - r) * slope, d - r * slope, d


def terms_of(rng, worlds):
    """Bits of worlds where events with their conditions hold, and where only conditions do."""
    every = (1 << worlds) - 1
    joint, rest, given = [], [], []
    for _ in range(int(rng.integers(1, 9))):
        a, b = (int(rng.integers(1, every)) for _ in range(2))
        conditional = rng.random() < 0.4 and a & b and b & ~a
        joint.append(a & b if conditional else a)
        rest.append(b & ~a if conditional else every & ~a)
        given.append(bool(conditional))
    return joint, rest, given


class Terms:
    """Random terms, and their planes in extended precision."""

    def __init__(self, rng, loss, linear):
        self.loss, self.linear, self.worlds = loss, linear, int(rng.integers(2, 12))
        joint, rest, self.given = terms_of(rng, self.worlds)
        self.weight, self.target = 10 ** rng.uniform(-2, 2, len(joint)), rng.uniform(0.01, 0.99, len(joint))
        self.bits = [np.array(bits, np.uint64) for bits in (joint, rest)]
        self.truth = [
            [np.array([bits >> i & 1 for i in range(self.worlds)], np.longdouble) for bits in column]
            for column in (joint, rest)
        ]

    def told(self, share):
        """What the core says of shares."""
        given = np.array(self.given, np.uint8)
        return _core.touching_bound(self.loss, *self.bits, self.weight, self.target, given, self.linear, share)

    def levels(self, share):
        """The objective, and the sum of the planes in each world."""
        exact = share.astype(np.longdouble) / share.astype(np.longdouble).sum()
        value, levels = np.longdouble(0), np.zeros(self.worlds, np.longdouble)
        for u, n, w, t, is_given in zip(*self.truth, self.weight, self.target, self.given, strict=True):
            a, b = exact @ u, exact @ n
            if self.linear and is_given:
                away = a - t * (a + b)
                value += w * away**2
                levels += w * (2 * away * (u - t * (u + n)) - away**2)
                continue
            yes, no, lost = planes(self.loss, a / (a + b), np.longdouble(t))
            value += w * lost * (a + b if is_given else 1)
            levels += w * (yes * u + no * n)
        return value, levels

    def nearer(self, share, rounds):
        """Shares that lose less, but not least: each round takes from worlds with high planes."""
        for _ in range(rounds):
            levels = self.levels(share)[1].astype(np.float64)
            share = share * np.exp(-0.3 * (levels - levels.min()) / (np.ptp(levels) + 1e-9))
            share = np.maximum(share / share.sum(), 1e-12)
        return share / share.sum()


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(40))
def test_the_bound_at_any_shares_is_that_of_the_touching_planes_and_no_higher(seed, loss, linear):
    """In extended precision: at shares that are not the best, where a bound that is too high would show."""
    rng = np.random.default_rng([seed, 77])
    terms = Terms(rng, loss, linear)
    share = rng.dirichlet(np.full(terms.worlds, float(rng.choice([0.3, 1.0, 20.0]))))
    for rounds in (0, 10, 30):
        share = terms.nearer(np.maximum(share, 1e-12), rounds)
        (value, levels), (objective, bound, shortfall) = terms.levels(share), terms.told(share)
        assert objective == pytest.approx(float(value), rel=1e-12, abs=1e-12)
        least, scale = max(np.longdouble(0), levels.min()), float(np.abs(levels).max() + terms.weight.sum())
        assert least - 1e-13 * scale <= bound <= least
        assert shortfall == pytest.approx(float(value - levels.min()), abs=1e-12 * scale)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(15))
def test_no_mixture_is_below_a_bound(seed, loss):
    rng = np.random.default_rng([seed, 5])
    worlds = int(rng.integers(2, 20))
    joint, rest, given = terms_of(rng, worlds)
    arrays = (
        *(np.array(bits, np.uint64) for bits in (joint, rest)),
        10 ** rng.uniform(-1, 1, len(joint)),
        rng.uniform(0.01, 0.99, len(joint)),
        np.array(given, np.uint8),
    )
    points = [rng.dirichlet(np.full(worlds, power)) + 1e-9 for power in (0.1, 0.3, 1.0, 3.0) for _ in range(8)]
    found = [_core.touching_bound(loss, *arrays, False, point / point.sum()) for point in points]
    assert max(bound for _, bound, _ in found) <= min(objective for objective, _, _ in found)


def test_work_goes_on_where_time_ended_it():
    problem = random_problem(3, "log")
    table = ComponentTable(problem.merged, problem.loss, linearised=False).core
    assert not table.solve(0.0, 1)
    assert not table.solved().any()
    assert table.solve(60.0, 1)
    whole = solved(problem)
    for one, other in zip(table.mixtures(), whole.mixtures(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_that_do_not_fit_are_refused():
    merged = random_problem(0, "brier").merged
    good = {"weight": merged.weight, "mean": merged.mean, "loss": "brier"}
    laws = merged.space.laws

    def make(**changed):
        none = np.empty(0, np.int32), np.empty(0, np.uint8)
        values = good | {"barred": np.empty(0, np.int32)} | changed
        starts = np.zeros(1, np.int64)
        return _core.ComponentTable(
            events=merged.handle,
            blocks=(starts, none[0], starts, none[1]),
            laws=laws.take(np.empty(0, np.int64)).handle(merged.n_variables),
            truth=none[1],
            given=(none, none, np.empty(0), np.empty(0)),
            linearised=False,
            most_worlds=64,
            **values,
        )

    labels = merged.tied()[: len(merged)]
    assert len(make(component=labels)) > 0
    with pytest.raises(ValueError, match="differ in length"):
        make(component=labels, weight=merged.weight[1:])
    with pytest.raises(IndexError):
        make(component=labels, barred=np.array([len(merged)], np.int32))
    with pytest.raises(IndexError):
        make(component=labels - 1)
    with pytest.raises(ValueError, match="unknown loss"):
        make(component=labels, loss="none")
