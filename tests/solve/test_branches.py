"""Branching over clusters: against all worlds, against a mixed-integer program, and as proofs for the checker."""

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import coherently as co
from coherently import _core
from coherently.problem import find_loss, pose, split
from coherently.result import proof_file
from coherently.solve.budget import Budget
from coherently.solve.lower_bounds import bound_rules
from coherently.solve.worlds import grounds as grounds_module
from coherently.solve.worlds.branches import lowest_worlds
from coherently.solve.worlds.grounds import Grounds
from tests.problem.test_terms import under
from tests.proofcheck.proof_cases import proved_files


def sparse_rows(seed, variables, events):
    """Conjunctions and disjunctions of three literals."""
    rng = random.Random(seed)
    rows = []
    for _ in range(events):
        literals = [f"{rng.choice(('', '~'))}v{v}" for v in rng.sample(range(variables), 3)]
        rows.append(("A", rng.choice((" & ", " | ")).join(literals), round(rng.random(), 2)))
    return rows


def least_by_program(part, coefficients):
    """The least sum by HiGHS: a column for each variable, and one for each assignment that makes an event true."""
    functions, n = part.functions, part.n_variables
    rows, low, high, costs = [], [], [], list(np.zeros(n))
    for i in range(len(part)):
        own, bits = functions.of(i).tolist(), functions.decoded(i)[1]
        events = [k for k in range(2 ** len(own)) if bits[k]]
        for k in events:
            signs = [1 if k >> place & 1 else -1 for place in range(len(own))]
            false = sum(sign < 0 for sign in signs)
            column = len(costs)
            costs.append(coefficients[i])
            for v, sign in zip(own, signs, strict=True):  # the column is at most each literal
                rows.append({column: 1, v: -sign})
                low.append(-np.inf)
                high.append(int(sign < 0))
            rows.append({column: -1} | dict(zip(own, signs, strict=True)))  # and 1 if all of them hold
            low.append(-np.inf)
            high.append(len(own) - 1 - false)
    matrix = np.zeros((len(rows), len(costs)))
    for at, row in enumerate(rows):
        for column, value in row.items():
            matrix[at, column] = value
    whole = (np.arange(len(costs)) < n).astype(int)
    limits = LinearConstraint(matrix, np.array(low), np.array(high))
    return milp(np.array(costs), constraints=limits, integrality=whole, bounds=Bounds(0, 1)).fun


@pytest.mark.parametrize(("seed", "variables", "events"), [(0, 30, 45), (1, 40, 60), (2, 60, 75)])
def test_the_lowest_world_is_that_of_a_mixed_integer_program(monkeypatch, seed, variables, events):
    panel = co.Panel.from_records(sparse_rows(seed, variables, events))
    part = max((one.merged for one in split(pose(panel, find_loss("brier")).merged)), key=len)
    coefficients = np.random.default_rng(seed).normal(size=len(part))
    grounds = Grounds(part)
    monkeypatch.setattr(Grounds, "branches", _core.ClusterProof(part.handle, grounds.space, 32.0, 200.0))
    known = np.zeros(part.n_variables, np.uint8)
    found = lowest_worlds(grounds, coefficients, known, slack=1e-6, budget=Budget())
    least = least_by_program(part, coefficients)
    assert grounds.branches.nodes() > 3
    assert least - 2e-6 <= found.bound <= least + 1e-6
    assert part.functions.hold(found.better)[-1] @ coefficients == pytest.approx(least, abs=2e-6)


def only_branches(monkeypatch, cells=8.0, elimination=30.0):
    """Let no other way prove a bound, and proofs be of trees only; clusters and eliminations are small."""
    monkeypatch.setattr(grounds_module, "MOST_STATES", 0)
    monkeypatch.setattr(grounds_module, "EAGER_STATES", 0)
    monkeypatch.setattr(Grounds, "is_branchable", False)
    monkeypatch.setattr(Grounds, "is_dense", False)
    for rule in (bound_rules.ByPairs, bound_rules.ByCycles, bound_rules.ByClusters):
        monkeypatch.setattr(rule, "fits", lambda *_: False)
    monkeypatch.setattr(proof_file, "QUICK_BESIDE_TREE", -1)
    small = property(lambda self: _small(self, cells, elimination))
    monkeypatch.setattr(Grounds, "branches", small)


def _small(grounds, cells, elimination):
    known = grounds.__dict__.setdefault("small", [])
    if not known:
        known.append(_core.ClusterProof(grounds.part.handle, grounds.space, cells, elimination))
    return known[0]


LAWS = ["v0 -> v1", "v2 | ~v3 | v4", "~(v5 & v6 & v7)", "variable w: Ann, Bob, Cid, ...", "w = Ann -> v3"]


@pytest.mark.parametrize("loss", ["brier", "spherical"])
@pytest.mark.parametrize("elimination", [0.0, 30.0, 2000.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_checker_proves_the_tree(monkeypatch, tmp_path, seed, elimination, loss):
    only_branches(monkeypatch, elimination=elimination)
    rows = sparse_rows(seed, 14, 40)
    rows += [("A", "w in {Ann, Bob} & v3", 0.6), ("A", "w = Cid | v9", 0.1), ("A", "w = Bob & ~v12", 0.5)]
    result, files = proved_files(tmp_path, rows, LAWS, loss)
    assert {one.proof.name for one in result.components} == {"BRANCHES"}
    assert result.status == "optimal"
    assert result.solution.hints.trees
    found = files.check()
    assert found.word == "proved", found.sentence
    assert "messages" in found.leaves or elimination == 2000.0


def test_a_tree_that_is_not_about_the_checkers_variables_is_left_out(monkeypatch, tmp_path):
    only_branches(monkeypatch)
    result, files = proved_files(tmp_path, sparse_rows(3, 10, 30), ["exactly(1; v0, v1, v2)"])
    assert result.status == "optimal"
    assert files.check().word in ("weak", "proved")


def small_proof(seed):
    """The largest component of a small panel, all worlds, and a proof over clusters that has not begun."""
    panel = co.Panel.from_records(sparse_rows(seed, 12, 30))
    part = max((one.merged for one in split(pose(panel, find_loss("brier")).merged)), key=len)
    worlds = (np.arange(2**part.n_variables)[:, None] >> np.arange(part.n_variables) & 1).astype(np.uint8)
    core = _core.ClusterProof(part.handle, None, 8.0, 20.0)
    return part, worlds, core


def test_a_stopped_proof_bounds_by_its_open_branches():
    part, worlds, core = small_proof(5)
    for seed in range(5):
        coefficients = np.random.default_rng(seed).normal(size=len(part))
        least = (part.functions.hold(worlds) @ coefficients).min()
        core.start(coefficients, worlds[0], 1e-6, keep=True)
        before = -np.inf
        for nodes in (0, 1, 2, 5, 9, 2**40):
            done = core.run(nodes, hasty=False)
            assert before - 1e-3 <= core.bound() <= least + 1e-12
            assert (core.tree() is None) == (not done)
            before = core.bound()
        assert done
        assert core.bound() >= least - 1.1e-6


def test_a_proof_that_is_stopped_before_it_has_begun_bounds_by_negative_coefficients():
    part, worlds, core = small_proof(6)
    for seed in range(3):
        coefficients = np.random.default_rng(seed).normal(size=len(part))
        least = (part.functions.hold(worlds) @ coefficients).min()
        core.start(coefficients, worlds[0], 1e-6, keep=True)
        for _ in range(2):
            core.stop()
            assert not core.run(2**40, hasty=False)
            assert core.nodes() == 0
            assert core.tree() is None
            assert core.bound() == pytest.approx(np.minimum(coefficients, 0).sum(), abs=1e-6)
            assert core.bound() <= least
        assert core.run(2**40, hasty=False)
        assert least - 1.1e-6 <= core.bound() <= least + 1e-12
        assert core.tree() is not None


@given(st.integers(-(2**54), 2**54), st.integers(-(2**54), 2**54))
@example(2**53 + 2, 1)  # nearest would be 2^53 + 4
@example(2**54 - 4, 7)
@example(-(2**53) - 2, 1)
def test_sums_of_clusters_are_rounded_down(a, b):
    a, b = float(a), float(b)
    whole = int(a) + int(b)
    assert whole - 8 <= int(_core.sum_below(a, b)) <= whole
    if abs(whole) <= 2**52:
        assert int(_core.sum_below(a, b)) == whole


def test_sums_of_clusters_with_what_laws_forbid_are_infinite():
    assert _core.sum_below(1.0, np.inf) == _core.sum_below(np.inf, -(2.0**60)) == np.inf


def test_the_same_proof_twice():
    panel = under(co.Panel.from_records(sparse_rows(6, 16, 40)), ["v0 -> v1", "v1 -> v2", "v2 | v3", "~(v3 & v4)"])
    trees = []
    for _ in range(2):
        part = max((one.merged for one in split(pose(panel, find_loss("brier")).merged)), key=len)
        grounds = Grounds(part)
        coefficients = np.random.default_rng(0).normal(size=len(part))
        known = grounds.space.witness()
        trees.append(lowest_worlds(grounds, coefficients, known, slack=1e-6, budget=Budget(hints=True)).tree)
    assert trees[0].values.tolist() == trees[1].values.tolist()
    assert trees[0].branches.tolist() == trees[1].branches.tolist()
