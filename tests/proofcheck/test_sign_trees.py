"""Trees of proofs against brute force: of signs, by the checker's rule and by its compiled twin, and of any leaves."""

import io
import itertools
import random
from struct import pack

import numpy as np
import pytest

import coherently as co
from coherently import _core
from coherently.proofcheck.check_errors import ProofRefusedError
from coherently.proofcheck.leaves import WorkLeft
from coherently.proofcheck.proof_records import ProofLines, ProofTree
from coherently.proofcheck.sign_trees import SignForm, least_of_signs, sign_form
from coherently.verifier.compiled_signs import CompiledSigns, twin_of_signs
from tests.kernels.draw import draw
from tests.kernels.test_proofs import prove
from tests.kernels.test_worlds import oracle_of, sums
from tests.proofcheck.proof_cases import least, proved_files, random_sum

LEAF, POINT, FORM = b"\2", b"\3", b"\4"


def drawn_form(rng, n, size=1000):
    """A random form, which is at least `size` apart between most worlds."""
    a = [[0] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        a[i][j] = a[j][i] = rng.randint(-size, size)
    return SignForm(rng.randint(-size, size), [rng.randint(-size, size) for _ in range(n)], a)


def least_form(form, signs):
    """The least of a form over all signs that agree with those given, an eighth of it, rounded down: by enumeration."""
    found = []
    for s in itertools.product(*((-1, 1) if not sign else (sign,) for sign in signs)):
        pairs = sum(form.a[i][j] * s[i] * s[j] for i in range(len(s)) for j in range(len(s)))
        found.append(form.constant + sum(h * x for h, x in zip(form.h, s, strict=True)) + pairs)
    return min(found) // 8


def written_form(rng, form, signs, *, is_tight):
    """Y, k and C: without C, far below what is needed; or with a factor of a form that is nearly singular."""
    free = [i for i, sign in enumerate(signs) if not sign]
    m = len(free)
    if not is_tight or max(map(abs, form.h)) > 2**40:  # factors have 32 bits
        y = [-sum(abs(form.a[i][j]) for j in free) - rng.randint(0, 9) for i in free]
        return FORM + pack(f"<{m}q", *y) + b"\0" + bytes(2 * m * (m + 1))
    a = np.array([[form.a[i][j] for j in free] for i in free], float).reshape(m, m)
    shift = 1.001 * max(0.0, -np.linalg.eigvalsh(a)[0]) + 2 if m else 0.0
    y = [-int(shift)] * m
    c = np.rint(np.linalg.cholesky(a + np.eye(m) * (0.9995 * int(shift) - 0.5)) * 2.0**8).astype(int) if m else a
    return FORM + pack(f"<{m}q", *y) + b"\10" + pack(f"<{m * (m + 1) // 2}i", *c[np.tril_indices(m)].tolist())


def drawn_tree(rng, form, signs, *, depth, is_formed=False):
    """A random tree in preorder; at the depth 0 all that are free are leaves."""
    told = b""
    if not is_formed or rng.random() < 0.2:
        told += written_form(rng, form, signs, is_tight=rng.random() < 0.5)
    free = [i for i, sign in enumerate(signs) if not sign]
    if not is_formed or told or rng.random() < 0.7:
        told += POINT + pack(f"<{len(free)}h", *(rng.randint(-4096, 4096) for _ in free))
    if not free or depth == 0:
        return told + POINT + pack(f"<{len(free)}h", *([0] * len(free))) + LEAF
    v, first = rng.choice(free), rng.choice((-1, 1))
    told += pack("<BH", first > 0, v)
    for sign in (first, -first):
        branch = [*signs[:v], sign, *signs[v + 1 :]]
        told += drawn_tree(rng, form, branch, depth=rng.randint(0, depth - 1), is_formed=True)
    return told


@pytest.mark.parametrize("seed", range(30))
def test_trees_of_signs_never_prove_more_than_holds_and_the_twin_agrees(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 7)
    form = drawn_form(rng, n, rng.choice((3, 1000, 10**9)))
    signs = [rng.choice((0, 0, 0, 1, -1)) for _ in range(n)]
    tree = drawn_tree(rng, form, signs, depth=rng.randint(0, n))
    work = WorkLeft()
    found = least_of_signs(form, signs, tree, work)
    assert found <= least_form(form, signs)
    assert twin_of_signs(form, signs, tree) == (found, WorkLeft().left - work.left)


@pytest.mark.parametrize("seed", range(10))
def test_a_tree_with_all_signs_fixed_is_exact(seed):
    rng = random.Random(seed)
    form = drawn_form(rng, 5)

    def whole(signs):
        if 0 not in signs:
            return POINT + LEAF
        v = signs.index(0)
        branches = [whole([*signs[:v], sign, *signs[v + 1 :]]) for sign in (-1, 1)]
        return pack("<BH", 0, v) + b"".join(branches)

    tree = written_form(rng, form, [0] * 5, is_tight=True) + whole([0] * 5)
    assert least_of_signs(form, [0] * 5, tree, WorkLeft()) == least_form(form, [0] * 5)
    assert twin_of_signs(form, [0] * 5, tree)[0] == least_form(form, [0] * 5)


def test_a_branch_that_is_missing_or_too_many_and_a_factor_that_is_wrong_are_refused():
    rng = random.Random(4)
    form = drawn_form(rng, 3)
    made = written_form(rng, form, [0, 0, 0], is_tight=True)
    corner = POINT + pack("<2h", 0, 0) + LEAF
    split = pack("<BH", 0, 1)
    tree = made + split + corner + corner
    assert least_of_signs(form, [0, 0, 0], tree, WorkLeft()) <= least_form(form, [0, 0, 0])
    c = len(made) - 4 * 6
    wrong = {
        "ends within a node": made + split + corner,
        "longer than its nodes": tree + corner,
        "not of a variable that is free": made + split + split + corner * 3,
        "no semidefinite form": POINT + pack("<3h", 0, 0, 0) + LEAF,
        "a point, and a code": made + LEAF,
        "a code from 0 to 4": made + b"\7",
        "not shown to be semidefinite": made[:c] + pack("<i", 10**6) + made[c + 4 :] + split + corner * 2,
        "k above": made[: c - 1] + b"\37" + made[c:] + split + corner * 2,
    }
    for words, bad in wrong.items():
        with pytest.raises(ProofRefusedError, match=words):
            least_of_signs(form, [0, 0, 0], bad, WorkLeft())
        assert twin_of_signs(form, [0, 0, 0], bad) is None
    raised = FORM + pack("<3q", *(1 for _ in range(3))) + bytes(1 + 24)
    with pytest.raises(ProofRefusedError, match="semidefinite"):
        least_of_signs(form, [0, 0, 0], raised + split + corner * 2, WorkLeft())


@pytest.mark.parametrize("y", [(-3, -20), (-20, -3), (5, -20)])
def test_every_row_of_a_form_must_be_dominant(y):
    # The determinant of 3 and 20 on the diagonal and 10 beside it is negative.
    form = SignForm(0, [0, 0], [[0, 10], [10, 0]])
    tree = FORM + pack("<2q", *y) + bytes(1 + 12) + POINT + pack("<2h", 0, 0) + LEAF
    with pytest.raises(ProofRefusedError, match="semidefinite"):
        least_of_signs(form, [0, 0], tree, WorkLeft())
    assert twin_of_signs(form, [0, 0], tree) is None


def test_bounds_just_below_a_whole_number_are_rounded_down():
    # 2^24 times 8 E is at least 2^24 (-2^11) - 2^11, just below -256 times 2^27.
    form = SignForm(0, [-1], [[0]])
    tree = FORM + pack("<q", -2048) + bytes(5) + POINT + pack("<h", 1) + LEAF
    assert least_of_signs(form, [0], tree, WorkLeft()) == -257
    assert twin_of_signs(form, [0], tree)[0] == -257


def test_a_point_of_another_form_is_refused():
    # A tangent of the form of one branch is not one of the form of the other.
    rng = random.Random(5)
    form = drawn_form(rng, 2)
    branches = [written_form(rng, form, [sign, 0], is_tight=True) for sign in (-1, 1)]
    tree = pack("<BH", 0, 0) + branches[0] + POINT + pack("<h", 0) + LEAF + branches[1] + LEAF
    with pytest.raises(ProofRefusedError, match="a form above it and a point"):
        least_of_signs(form, [0, 0], tree, WorkLeft())
    assert twin_of_signs(form, [0, 0], tree) is None


@pytest.mark.parametrize("seed", range(12))
def test_changed_bytes_prove_no_more_than_holds_and_the_twin_says_yes_to_nothing_else(seed):
    rng, accepted = random.Random(100 + seed), 0
    form, signs = drawn_form(rng, 4), [0, 0, 0, 0]
    tree = drawn_tree(rng, form, signs, depth=3)
    true = least_form(form, signs)
    for _ in range(60):
        changed = bytearray(tree)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 2, 3, 4, 255, rng.randrange(256)))
        twin = twin_of_signs(form, signs, bytes(changed))
        try:
            found = least_of_signs(form, signs, bytes(changed), WorkLeft())
        except ProofRefusedError:
            assert twin is None
            continue
        accepted += 1
        assert found <= true
        assert twin is None or twin[0] == found
    assert accepted > 0


def test_the_twin_says_nothing_where_numbers_might_overflow():
    form = drawn_form(random.Random(2), 4, 2**52)
    tree = drawn_tree(random.Random(3), form, [0] * 4, depth=4)
    assert twin_of_signs(form, [0] * 4, tree) is None
    compiled = CompiledSigns()
    assert compiled(form, [0] * 4, tree, WorkLeft()) == least_of_signs(form, [0] * 4, tree, WorkLeft())
    assert compiled.trees == 0
    assert twin_of_signs(drawn_form(random.Random(2), 4, 2**70), [0] * 4, tree) is None
    small = drawn_form(random.Random(2), 1, 50)
    far = FORM + pack("<q", -100) + bytes(5) + POINT + pack("<h", 5000) + LEAF
    assert least_of_signs(small, [0], far, WorkLeft()) <= least_form(small, [0])
    assert twin_of_signs(small, [0], far) is None


@pytest.mark.parametrize("seed", range(8))
def test_trees_that_branch_and_bound_keeps_prove_its_cutoff(seed):
    """Forms of the core are on a grid of 2^-30 here; brute force bounds what they may prove."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    some = draw(rng, n, n * n // 2 + 1)
    coefficients = rng.normal(size=len(some))
    values, oracle = sums(some, coefficients), oracle_of(some, seed)
    oracle.set(coefficients)
    cutoff = float(values.min()) - (1e-4 if seed % 2 else 0.3)
    oracle.start_proof(cutoff, keep=True)
    assert oracle.kept_tree() is None
    assert prove(oracle) == "proved"
    tree, places, fixed, y = oracle.kept_tree()
    form = sampled_form(oracle, n, 2**30)
    written = _core.write_signs(tree, places, fixed, np.array(form.a), np.rint(8 * 2**30 * y).astype(np.int64))
    found = least_of_signs(form, [0] * n, written, WorkLeft())
    assert twin_of_signs(form, [0] * n, written)[0] == found
    assert 2**-30 * found <= values.min() + 1e-7
    assert 2**-30 * found >= cutoff - 1e-6
    oracle.start_proof(cutoff)
    assert prove(oracle) == "proved"
    assert oracle.kept_tree() is None
    oracle.start_proof(float(values.min()) + 1e-6, keep=True)
    assert prove(oracle) == "better"
    assert oracle.kept_tree() is None


def sampled_form(oracle, n, grid):
    """The form of an energy of pairs, from its values in worlds of at most two true variables: x = (1 + s) / 2."""
    worlds = np.zeros((n, n, n), np.uint8)
    for i, j in itertools.product(range(n), repeat=2):
        worlds[i, j, [i, j]] = 1
    value = np.array([[oracle.value(worlds[i, j]) for j in range(n)] for i in range(n)])
    none = oracle.value(np.zeros(n, np.uint8))
    pairs = value - value.diagonal()[:, None] - value.diagonal()[None, :] + none
    np.fill_diagonal(pairs, 0.0)
    single = value.diagonal() - none
    a = [[round(grid * float(x)) for x in row] for row in pairs]
    h = [round(grid * float(4 * single[i] + 2 * pairs[i].sum())) for i in range(n)]
    constant = round(grid * float(8 * none + 4 * single.sum() + pairs.sum()))
    return SignForm(constant, h, a)


@pytest.mark.parametrize("seed", range(12))
def test_splits_with_any_leaves_against_enumeration(seed):
    """R4: trees whose leaves are eliminated, or bounded by clusters or by signs."""
    rng = random.Random(seed)
    names = "abcdef"
    texts = [f"{rng.choice(('', '~'))}{x} {rng.choice('&|^')} {y}" for x, y in itertools.combinations(names, 2)]
    total = random_sum(rng, [*rng.sample(texts, 8), "a | b"])
    true, variables = least(total), list(total.states())
    lines, data = list[dict](), list[bytes]()

    def grow(states, depth):
        left = [v for v in variables if len(states[v]) == 2]
        if depth == 0 or not left:
            lines.append(leaf(states))
            return
        v = rng.choice(left)
        both = rng.sample([[0], [1]], 2)
        lines.append({"v": v, "c": both})
        for own in both:
            grow(states | {v: tuple(own)}, depth - 1)

    def leaf(states):
        kind = rng.choice(kinds)
        if kind == "e":
            return {"e": rng.sample(variables, len(variables))}
        if kind == "m":
            return {"k": [list(one.scope) for one in total.parts], "m": []}
        signs = [0 if len(states[v]) == 2 else 2 * states[v][0] - 1 for v in variables]
        form = sign_form(total, variables, {0: 70})
        data.append(drawn_tree(rng, form, signs, depth=2))
        return {"s": variables, "p": [[5, 70]], "bytes": len(data[-1])}

    for kinds in ("e", "ems"):
        lines.clear(), data.clear()
        grow(total.states(), 3)
        found = checked(total, lines, data)
        assert found == true if kinds == "e" else found <= true
        if "v" in lines[0]:
            lines[0]["c"][0] = lines[0]["c"][1]
            with pytest.raises(ProofRefusedError, match="do not cover"):
                checked(total, lines, data)


def checked(total, lines, data):
    file = ProofLines(b"")
    file.file = io.BytesIO(b"".join(data))
    return ProofTree(total, {5: 0}, WorkLeft(), file, CompiledSigns()).least(len(lines), iter(lines))


def dense_rows(variables, judges, seed):
    """The forecasts of a drawn panel, as rows."""
    panel = co.simulate(variables=variables, judges=judges, seed=seed)
    return [(row.judge, row.event, row.probability) for row in panel.frame().itertuples()]


@pytest.mark.parametrize(("loss", "laws"), [("brier", ()), ("log", ()), ("brier", ("v1 -> v2", "~(v3 & v4)"))])
def test_dense_panels_are_proved_by_signs(tmp_path, loss, laws):
    result, files = proved_files(tmp_path, dense_rows(30, 47, 1), laws, loss)
    assert [one.proof.name for one in result.components] == ["SEMIDEFINITE"]
    found = files.check()
    assert found.leaves == {"semidefinite": 1}
    assert found.word == "proved", found.sentence
    told = co.verify(result.panel, result, proof=result.proof())
    assert told
    assert told.bound_rests_on == ["proved by semidefinite"]


def test_trees_are_kept_only_for_proofs():
    panel = co.simulate(variables=30, judges=47, seed=1)
    assert co.aggregate(panel, "exact").solution.hints is None
    assert len(co.aggregate(panel, "exact", proof=True).solution.hints.trees) == 1
