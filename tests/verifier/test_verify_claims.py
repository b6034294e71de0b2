"""Distances, bounds and savings of the verifier, against brute force over all worlds; and each claim about them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.events import CERTAIN
from coherently.problem import BRIER, find_design, find_loss, pose
from coherently.solve import Status
from coherently.verifier.claims import check_bound, check_improvement, check_local_bound, check_objective
from coherently.verifier.distinct_events import CLOSE, floor_of, means_as_written, merge, resolution
from coherently.verifier.enumeration import Enumeration, proved
from coherently.verifier.locally import check_local, relaxed, violation_of
from coherently.verifier.nearness import Stated, measure, saved
from coherently.verifier.optimum import Bracket
from tests.verifier.language import random_panel
from tests.verifier.test_verify import refused, tampered

LOSSES = ("brier", "log", "spherical")


def worlds_of(panel):
    """Every truth assignment that laws and declarations allow."""
    rows = np.array(list(itertools.product([False, True], repeat=len(panel.events.variables))), bool)
    held = panel.events.evaluate(panel.laws.side, rows).all(axis=1) if len(panel.laws) else np.ones(len(rows), bool)
    for choice in panel.events.choices():
        own = rows[:, choice.atoms]
        one = own.sum(axis=1) == 1 if choice.complete else own.sum(axis=1) <= 1
        held &= (np.diff(own.astype(int), axis=1) >= 0).all(axis=1) if choice.ordered else one
    return rows[held]


def some_panels(seed, count, **options):
    rng = np.random.default_rng(seed)
    while count > 0:
        panel = random_panel(rng, **options)
        if panel is not None and len(panel.events.variables) <= 8:
            count -= 1
            yield rng, panel


def random_answer(rng, panel, loss="brier", form="called_off"):
    """The probabilities of a random mixture of worlds."""
    distinct, worlds = merge(panel, find_loss(loss)), worlds_of(panel)
    share = rng.dirichlet(np.full(len(worlds), 0.5))
    joint, given = (share @ panel.events.evaluate(sides, worlds) for sides in (distinct.side, distinct.condition))
    x = np.divide(joint, given, out=np.full(len(joint), 0.5), where=given > 0)
    return Stated(
        distinct=distinct,
        loss=find_loss(loss),
        x=x,
        joint=joint,
        condition=np.where(distinct.conditional, given, 1.0),
        form=form,
    )


def test_components_and_ties_are_what_statements_connect():
    for _, panel in some_panels(0, 60):
        distinct, events, pins = merge(panel, BRIER), panel.events, panel.laws.pins
        stated = (
            *zip(panel.written.event.tolist(), panel.written.condition.tolist(), strict=True),
            *zip(pins.event.tolist(), pins.condition.tolist(), strict=True),
            *((side,) for side in panel.laws.side.tolist()),
        )
        sets = [np.unique(events.supports(np.array(sides, np.int32) // 2)[1]) for sides in stated]
        sets += [choice.atoms for choice in events.choices()]
        label = np.arange(len(events.variables))
        for _ in label:
            for own in sets:
                label[own] = label[own].min(initial=len(label)) if len(own) else 0
        same = label[:, None] == label[None, :]
        mine = distinct.tied[:, None] == distinct.tied[None, :]
        # What is given a constant, or constant given something, may tie more; nothing ties less.
        assert (mine >= same).all()
        constant = np.isin(np.concatenate([panel.written.event, panel.written.rest, pins.event]), [0, 1]).any()
        assert constant or (mine == same).all()
        owner = np.repeat(np.arange(len(distinct.side)), np.diff(distinct.starts))
        np.testing.assert_array_equal(distinct.home_of_variable[distinct.variables], distinct.component[owner])


def test_means_and_weights_are_in_units_of_the_largest():
    rows = [("A", "p", 0.2, 4.0), ("B", "p", 0.6, 12.0), ("B", "~p", 0.5, 2.0), ("B", "q", 0.1, 0.0)]
    panel = co.Panel.from_records(rows)
    distinct = merge(panel, BRIER)
    assert distinct.unit == 12.0
    np.testing.assert_allclose(distinct.weight, [18 / 12, 0.0])
    np.testing.assert_allclose(distinct.mean[0], (4 * 0.2 + 12 * 0.6 + 2 * 0.5) / 18)
    mean = distinct.mean[0]
    scatter = 4 * (0.2 - mean) ** 2 + 12 * (0.6 - mean) ** 2 + 2 * (0.5 - mean) ** 2
    np.testing.assert_allclose(distinct.scatter, scatter / 12)
    weight, raw = means_as_written(panel)
    np.testing.assert_allclose(weight, [16 / 12, 2 / 12, 0.0])
    np.testing.assert_allclose(raw, [0.5, 0.5, np.nan])
    assert floor_of(panel) == 4 / 12
    assert floor_of(co.Panel.from_records([("A", "p", 0.5)])) == 1.0
    assert resolution(1.0) == CLOSE
    assert 1e-3 < resolution(1e-320) < 1e-2


@pytest.mark.parametrize("terms", [False, True])
def test_enumeration_is_that_of_all_worlds(terms):
    for rng, panel in some_panels(1, 40, terms=terms):
        distinct, worlds = merge(panel, BRIER), worlds_of(panel)
        enumeration = Enumeration(panel, distinct, distinct.side, distinct.component)
        holds = panel.events.evaluate(distinct.side, worlds)
        coefficients = rng.normal(size=len(distinct.side))
        for c, least in enumerate(enumeration.least(coefficients).tolist()):
            mine = distinct.component == c
            assert least == pytest.approx((holds[:, mine] @ coefficients[mine]).min(initial=np.inf), abs=1e-12)
            found = enumeration.truths(c, distinct.side[mine])
            expected = np.unique(holds[:, mine], axis=0)
            np.testing.assert_array_equal(np.unique(found, axis=0), expected)
            assert len(found) == len(expected)


def by_definition(answer):
    """The distance, forecast by forecast as merged: plain formulas."""
    distinct, loss = answer.distinct, answer.loss
    total = 0.0
    terms = [(i, w, m, m) for i, (w, m) in enumerate(zip(distinct.weight, distinct.mean, strict=True)) if w > 0]
    inner = distinct.intervals
    terms += list(zip(inner.row, inner.weight, inner.low, inner.high, strict=True))
    for i, w, low, high in terms:
        low, high = min(low, loss.clipped(1.0)), max(high, loss.clipped(0.0))  # noqa: PLW2901
        h = answer.condition[i] if answer.form != "ratio" else 1.0
        r = answer.x[i]
        t = min(max(r, low), high)
        lost = h * float(loss.divergence(r, t))
        if answer.form == "linearised" and distinct.conditional[i]:
            lost = (h * (r - t)) ** 2
        total += w * lost
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", ["called_off", "linearised", "ratio"])
def test_the_distance_is_that_of_the_definition(loss, form):
    if form != "called_off" and loss != "brier":
        return
    for rng, panel in some_panels(2, 30):
        answer = random_answer(rng, panel, loss, form)
        near = measure(panel, answer)
        assert near.objective.sum() == pytest.approx(by_definition(answer), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_enumeration_proves_is_never_above_the_least(loss):
    for rng, panel in some_panels(3, 20):
        answer = random_answer(rng, panel, loss)
        near = measure(panel, answer)
        for i, low in enumerate(near.proved().tolist()):
            own = near.bracket(i)
            assert np.isnan(low) or low <= own.high + 1e-10
            f, g = near.objective[i], near.shortfall[i]
            if near.quadratic[i] and not np.isnan(g):
                assert low == pytest.approx(max(0.0, f - max(0.0, g)) ** 2 / f if f > 0 else 0.0)


def test_f_less_g_is_no_bound():
    """Near the optimum f - g lies above it, so that a verifier which took it for a bound would prove too much."""
    forbidden = 0
    for rng, panel in some_panels(3, 30, terms=False):
        best, answer = co.aggregate(panel, "exact"), random_answer(rng, panel)
        x = 0.9 * answer.distinct.at_home(best.solution.value) + 0.1 * answer.x
        near = measure(panel, replace(answer, x=x, joint=x))
        for i, low in enumerate(near.proved().tolist()):
            assert low <= near.bracket(i).high + 1e-10
            forbidden += bool(near.objective[i] - near.shortfall[i] > near.bracket(i).high + 1e-6)
    assert forbidden >= 3


def test_the_bound_of_squares():
    assert proved(1.21, 0.11) == pytest.approx(1.0)
    assert proved(1.0, 0.0) == 1.0
    assert proved(1.0, -0.1) == 1.0
    assert proved(1.0, 2.0) == 0.0
    assert proved(0.0, 0.0) == 0.0


@pytest.mark.parametrize("pins", [[], ["P(p) >= 0"], ["P(p) = 0.4"], ["P(q given p) <= 0.2"], ["P(p & q) = 0"]])
@pytest.mark.parametrize("loss", LOSSES)
def test_brackets_are_those_of_the_exact_method(pins, loss):
    for rng, _ in some_panels(4, 3):
        rows = [
            {"judge": "A", "event": e, "probability": round(float(rng.random()), 3), "lower": None, "upper": None}
            for e in ("p", "q", "p & q", "p | r", "q given r", "r")
        ]
        rows[3] |= {"probability": 0.3, "lower": 0.2, "upper": 0.4}
        panel = co.Panel.from_records(rows, laws=pins or None)
        result = co.aggregate(panel, "exact", loss)
        near = measure(panel, random_answer(rng, panel, loss))
        assert result.status == "optimal"
        assert near.bracket(0).is_tight(1.0, 1e-8)
        assert near.bracket(0).low == pytest.approx(result.objective, abs=2e-6)
        assert near.bracket(0).low >= result.lower_bound - 1e-8
        assert near.bracket(0).high <= result.objective + 1e-8


def saved_by_definition(panel, x):
    """What probabilities of the written events save in the worst world: forecast by forecast."""
    v = panel.events.evaluate(panel.written.event, worlds_of(panel))[:, panel.event_index].astype(float)
    x = x[panel.event_index]
    return float((((v - panel.probability) ** 2 - (v - x) ** 2) @ panel.weight).min())


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_saved_is_what_the_worst_world_saves(loss):
    for rng, panel in some_panels(5, 30, terms=False):
        answer = random_answer(rng, panel, loss)
        near = measure(panel, answer)
        own = answer.distinct
        written = np.where(own.turned, 1 - answer.x[own.home], answer.x[own.home])
        expected = saved_by_definition(panel, written)
        found = saved(own.scatter, near, np.zeros(own.n_components)) * own.unit
        # A sum over components, each with its own worst world, which is a world of all of them together.
        assert found == pytest.approx(expected, abs=1e-9)


def test_what_is_saved_without_a_look_at_the_worlds():
    """From the bound that x itself proves: never more than the worst world saves; at the optimum, all of it."""
    for rng, panel in some_panels(6, 25, terms=False):
        exact, answer = co.aggregate(panel, "exact"), random_answer(rng, panel)
        best = answer.distinct.at_home(exact.solution.value)
        for x in (answer.x, 0.9 * best + 0.1 * answer.x, best):
            near = measure(panel, replace(answer, x=x, joint=x))
            bounds = near.proved()
            hidden = saved(0.0, replace(near, saved=np.full(len(bounds), np.nan)), bounds)
            # Where g exceeds f nothing is proved, and no improvement is claimed.
            assert hidden <= saved(0.0, near, bounds) + 1e-7 or (near.shortfall > near.objective).any()
        assert hidden == pytest.approx(near.objective.sum(), abs=1e-4)


def test_what_is_saved_by_a_bound():
    """2 sqrt(b f) - f, which is no less than what the way to the nearest forecasts leaves: 2b - f at most."""
    panel = co.Panel.from_records([("A", "p", 0.5)])
    near = measure(panel, random_answer(np.random.default_rng(0), panel))
    for f, b in ((1.0, 0.81), (0.01, 0.0099), (0.5, 0.5), (4.0, 1.0)):
        hidden = replace(near, objective=np.array([f]), saved=np.array([np.nan]))
        found = saved(0.25, hidden, np.array([b]))
        assert found == pytest.approx(0.25 + 2 * np.sqrt(b * f) - f)
        assert found >= 0.25 + 2 * b - f - 1e-12


def exact_case(loss="brier", laws=(), rows=None):
    rows = rows or [("A", "p", 0.8), ("A", "q", 0.7), ("A", "p & q", 0.2), ("B", "p | q", 0.4), ("B", "p", 0.6)]
    panel = co.Panel.from_records(rows, laws=list(laws) or None)
    return panel, co.aggregate(panel, "exact", loss)


def with_bound(result, bound):
    (component,) = result.components
    return tampered(result, lower_bound=bound, components=(replace(component, lower_bound=bound),))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("laws", [(), ("P(p) >= 0",), ("P(p) = 0.55",), ("P(q given p) <= 0.3",), ("p -> q",)])
@pytest.mark.parametrize("amount", [1e-7, 1e-6, 1e-5, 1e-4, 0.1])
def test_a_raised_lower_bound_is_refused(loss, laws, amount):
    panel, result = exact_case(loss, laws)
    assert result.status == "optimal"
    assert co.verify(panel, result).bound_rests_on == ["own enumeration"]
    top = result.objective + amount
    refused(panel, with_bound(result, top), "coherent forecasts reach")
    whole = tampered(result, lower_bound=top, components=())
    refused(panel, whole, "coherent forecasts reach")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("laws", [(), ("P(p) >= 0",), ("P(p) = 0.55",), ("P(q) >= 0.6",)])
def test_a_worse_answer_is_not_optimal(loss, laws):
    panel, best = exact_case(loss, laws)
    other = [
        (j, e, 0.6 if e == "p & q" else p)
        for j, e, p in (("A", "p", 0.8), ("A", "q", 0.7), ("A", "p & q", 0.2), ("B", "p | q", 0.4), ("B", "p", 0.6))
    ]
    _, worse = exact_case(loss, laws, other)
    told = merge(panel, best.loss).at_home(worse.solution.value)
    answer = Stated(
        distinct=merge(panel, best.loss), loss=best.loss, x=told, joint=told, condition=np.ones(4), form="called_off"
    )
    objective = float(measure(panel, answer).objective.sum())
    assert objective > best.objective + 1e-4
    forged = tampered(best, value=worse.solution.value, worlds=worse.solution.worlds, objective=objective)
    component = replace(best.components[0], objective=objective)
    lie = tampered(
        forged,
        lower_bound=objective,
        components=(replace(component, lower_bound=objective),),
        guaranteed_improvement=None,
    )
    refused(panel, lie, "coherent forecasts reach")
    # With the honest bound the gap gives it away; without any bound of a component, enumeration does.
    honest = tampered(forged, components=(component,), guaranteed_improvement=None)
    refused(panel, honest, "the gap is")
    slack = replace(honest, method=co.Exact(tolerance=0.1))
    checked = co.verify(panel, slack)
    assert bool(checked) == (objective - best.objective <= 0.1)
    assert checked.tolerance == 0.1


@pytest.mark.parametrize("laws", [(), ("P(p) >= 0",)])
def test_optimal_means_within_the_tolerance(laws):
    """Also where the lower bound that is claimed is true and lower than it need be."""
    panel, best = exact_case(laws=laws)
    distinct = merge(panel, BRIER)
    x, other = distinct.at_home(best.solution.value), random_answer(np.random.default_rng(1), panel).x
    excesses = []
    for share in 10.0 ** np.linspace(-5, -1, 40):
        y = (1 - share) * x + share * other
        near = measure(
            panel, Stated(distinct=distinct, loss=BRIER, x=y, joint=y, condition=np.ones(len(y)), form="called_off")
        )
        f = float(near.objective.sum())
        result = tampered(best, value=y, objective=f)
        result = with_bound(result, best.lower_bound - 1e-3)
        result = tampered(result, components=(replace(result.components[0], objective=f),))
        excess = (f - best.objective) / max(1.0, f)
        if not 0.9e-6 < excess < 1.1e-6:
            assert bool(check_bound(result, distinct, near).problems) == (excess > 1e-6), excess
        excesses.append(excess)
    assert any(1.1e-6 < excess < 5e-6 for excess in excesses)


@pytest.mark.parametrize("tolerance", [0.11, 1.0, 10.0, 1e9])
def test_a_tolerance_that_says_nothing_is_refused(tolerance):
    panel, result = exact_case()
    assert co.verify(panel, result).tolerance == 1e-6
    refused(panel, replace(result, method=co.Exact(tolerance=tolerance)), "above 0.1 that says nothing")
    assert co.verify(panel, replace(result, method=co.Exact(tolerance=0.1)))


@pytest.mark.parametrize("pinned", [False, True])
def test_a_component_with_too_many_worlds_is_listed(monkeypatch, pinned):
    panel, result = exact_case(laws=["P(p) >= 0.1"] if pinned else ())
    monkeypatch.setattr("coherently.verifier.enumeration.MOST_WORLDS", 1)
    checked = co.verify(panel, result)
    assert checked.problems == []
    assert any(one.startswith("the lower bound of component 0, which has too many worlds") for one in checked.unchecked)
    assert checked.bound_rests_on == [result.components[0].proof]
    assert "the lower bound of component 0" in repr(checked)
    assert {"lower_bound", "components.lower_bound"} <= set(checked.unchecked_fields)
    above = co.verify(panel, with_bound(result, result.objective + 1e-6))
    assert bool(above) == pinned
    below = co.verify(panel, with_bound(result, -0.1))
    assert any("below 0" in problem for problem in below.problems)


def test_the_guaranteed_improvement_is_no_more_than_the_worst_world_saves():
    for _, panel in some_panels(7, 25, terms=False):
        result = co.aggregate(panel, "exact")
        most = saved_by_definition(panel, np.nan_to_num(result.solution.value, nan=0.5))
        slack = 1e-7 * max(1.0, panel.weight.sum())
        assert co.verify(panel, tampered(result, guaranteed_improvement=most - slack))
        refused(panel, tampered(result, guaranteed_improvement=most + slack), "the guaranteed improvement is")


def test_a_world_that_loses_refutes_an_improvement_of_nothing():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.5)])
    result = co.aggregate(panel, "exact")
    value = np.array([0.6, 0.5])
    distinct = merge(panel, BRIER)
    near = measure(
        panel, Stated(distinct=distinct, loss=BRIER, x=value, joint=value, condition=np.ones(2), form="called_off")
    )
    claim = tampered(result, guaranteed_improvement=0.0)
    problems, _ = check_improvement(claim, distinct, near, np.zeros(2))
    assert "saved in every world is -0.11" in problems[0]
    none = tampered(result, guaranteed_improvement=-0.11 - 1e-6)
    assert check_improvement(none, distinct, near, np.zeros(2)) == ([], [])


def test_objectives_are_those_of_the_forecasts():
    panel, result = exact_case()
    distinct = merge(panel, BRIER)
    x = distinct.at_home(result.solution.value)
    near = measure(
        panel, Stated(distinct=distinct, loss=BRIER, x=x, joint=x, condition=np.ones(len(x)), form="called_off")
    )
    assert check_objective(result, distinct, near) == []
    for amount in (1e-8, -1e-8, 0.1):
        assert check_objective(tampered(result, objective=result.objective + amount), distinct, near)
    for amount in (1e-8, -1e-8, 0.1):
        component = replace(result.components[0], objective=result.objective + amount)
        assert check_bound(tampered(result, components=(component,)), distinct, near).problems
    for field in ("events", "variables"):
        component = replace(result.components[0], **{field: 17})
        assert (
            f"component 0 has 17 {field}"
            in check_bound(tampered(result, components=(component,)), distinct, near).problems[0]
        )


def nearest_by_brute_force(rows, point):
    import cvxpy as cp

    share = cp.Variable(len(rows), nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.norm(rows.T @ share - point, "inf")), [cp.sum(share) == 1])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def test_violations_of_groups_against_another_solver():
    from coherently.problem import Groups

    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = np.unique(rng.integers(0, 2, (int(rng.integers(2, 7)), 4)).astype(float), axis=0)
        x = rng.random(4)
        one = Groups(
            design="logical",
            starts=np.array([0, 4]),
            members=np.arange(4, dtype=np.int32),
            pattern=np.zeros(1, np.int32),
            patterns=(rows,),
        )
        found = violation_of(one, x)
        least = nearest_by_brute_force(rows, x)
        assert 0.4 * least - 1e-7 <= found.proved <= least + 1e-7
        assert found.largest >= least - 1e-7
        inside = rng.dirichlet(np.ones(len(rows))) @ rows
        assert violation_of(one, inside).largest <= 1e-12
        hidden = x.copy()
        hidden[0] = np.nan
        partial = violation_of(one, hidden)
        assert partial.proved <= least + 1e-7
        assert not partial.whole


@pytest.mark.parametrize("method", ["dykstra", "projections"])
def test_raw_means_are_not_locally_coherent(method):
    for _, panel in some_panels(8, 25, terms=False, weights=False):
        result = co.aggregate(panel, method)
        if result.objective < 1e-6 or np.isin(panel.written.event, panel.written.rest).any():
            continue
        raw = tampered(result, value=result.problem.mean, objective=0.0, guaranteed_improvement=0.0)
        if method == "dykstra":
            raw = tampered(raw, lower_bound=0.0)
        assert not co.verify(panel, raw)
        problems, _ = check_local(panel, raw, result.problem.mean)
        assert problems


@pytest.mark.parametrize("design", ["logical", "pairs", "triples", "global"])
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_the_relaxed_problem_is_solved_anew(design, loss):
    if loss == "log" and design == "triples":
        return
    for _, panel in some_panels(9, 8, terms=False, weights=False):
        try:
            result = co.aggregate(panel, co.AlternatingProjections(groups=design, correction="dykstra"), loss)
        except co.MethodError:
            continue
        own = relaxed(panel, result.loss, design)
        if own is None or result.status != "converged":
            continue
        assert own.high >= result.lower_bound - 1e-8
        distinct = merge(panel, result.loss)
        x = distinct.at_home(result.solution.value)
        near = measure(
            panel,
            Stated(distinct=distinct, loss=result.loss, x=x, joint=x, condition=np.ones(len(x)), form="called_off"),
        )
        assert check_local_bound(result, distinct, near).problems == []
        high = tampered(result, lower_bound=result.objective + 1e-6)
        assert check_local_bound(high, distinct, near).problems
        assert check_local_bound(tampered(result, lower_bound=-1e-6), distinct, near).problems


def test_a_claim_between_the_relaxed_optimum_and_a_worse_answer_is_refused():
    rows = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]
    panel = co.Panel.from_records(rows)
    loop, best = co.aggregate(panel, "projections"), co.aggregate(panel, "dykstra")
    assert best.objective + 1e-3 < loop.objective
    method = co.AlternatingProjections(correction="dykstra")
    lie = replace(tampered(loop, lower_bound=loop.objective, status=Status.CONVERGED), method=method)
    refused(panel, lie, "coherent within groups reach")
    refused(panel, tampered(loop, lower_bound=0.0), "which projections never states")


def test_the_design_of_the_result_is_looked_at():
    panel = co.Panel.from_records([("A", e, 0.5) for e in "abc"] + [("A", e, 0.0) for e in ("a & b", "a & c", "b & c")])
    result = co.aggregate(panel, "dykstra")
    assert co.verify(panel, result)
    refused(panel, tampered(result, groups="triples"), "incoherent by")
    unknown = co.verify(panel, tampered(result, groups="mine"))
    assert any("'mine'" in one for one in unknown.unchecked)
    assert find_design("logical")(pose(panel).merged).design == "logical"


def test_a_bracket_is_tight_or_not():
    assert Bracket(1.0, 1.0 + 1e-10).is_tight(1.0, 1e-9)
    assert not Bracket(1.0, 1.0 + 1e-8).is_tight(1.0, 1e-9)
    assert not Bracket(1.0).is_tight(1.0, 1e-9)
    assert Bracket(1e6, 1e6 + 1e-4).is_tight(1.0, 1e-9)
    assert CERTAIN == 1
