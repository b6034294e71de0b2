"""Shown numbers against brute force over worlds: relations, neighbours, and every choice of neighbours."""

from itertools import combinations, product
from math import ceil, floor

import numpy as np

import coherently as co
from coherently.problem import pose
from coherently.result.shown import rounded

VALUES, CUTS = ("a", "b", "c", "d"), (1, 2, 3)
LAWS = ["variable r: a, b, c, d", "variable x: number"]
MORE_LAWS = {
    "p -> q": lambda w: not w["p"] or w["q"],
    "~(p & s)": lambda w: not (w["p"] and w["s"]),
    "q <-> s": lambda w: w["q"] == w["s"],
    "p | q | s": lambda w: w["p"] or w["q"] or w["s"],
}


def worlds():
    for p, q, s in product((False, True), repeat=3):
        for value, cell in product(VALUES, range(len(CUTS) + 1)):
            yield {"p": p, "q": q, "s": s, "r": value, "x": cell}


def random_atom(rng):
    kind = rng.integers(5)
    if kind == 0:
        value = VALUES[rng.integers(4)]
        return f"r = {value}", lambda w: w["r"] == value
    if kind == 1:
        cut = int(rng.integers(1, 4))
        return f"x >= {cut}", lambda w: w["x"] >= cut
    if kind == 2:
        cut = int(rng.integers(1, 3))
        return f"(x >= {cut} & x < {cut + 1})", lambda w: w["x"] == cut
    name = "pqs"[rng.integers(3)]
    return name, lambda w: w[name]


def random_event(rng):
    text, truth = random_atom(rng)
    for _ in range(int(rng.integers(3))):
        other, also = random_atom(rng)
        if rng.random() < 0.7:
            text, truth = f"({text} & {other})", lambda w, a=truth, b=also: a(w) and b(w)
        else:
            text, truth = f"({text} | {other})", lambda w, a=truth, b=also: a(w) or b(w)
        if rng.random() < 0.4:
            text, truth = f"~{text}", lambda w, a=truth: not a(w)
    return text, truth


def whole_partitions(rng):
    """Events that people ask together: values, bins of a number, a ladder, the cells of two events."""
    kinds = [
        [(f"r = {v}", lambda w, v=v: w["r"] == v) for v in VALUES],
        [
            ("x < 1", lambda w: w["x"] == 0),
            *((f"x >= {k} & x < {k + 1}", lambda w, k=k: w["x"] == k) for k in (1, 2)),
            ("x >= 3", lambda w: w["x"] == 3),
        ],
        [(f"x >= {k}", lambda w, k=k: w["x"] >= k) for k in CUTS],
        [
            (f"{a}p & {b}q", lambda w, a=a, b=b: (w["p"] != bool(a)) and (w["q"] != bool(b)))
            for a in ("", "~")
            for b in ("", "~")
        ],
        [
            ("q", lambda w: w["q"]),
            ("s", lambda w: w["s"]),
            ("q & s", lambda w: w["q"] and w["s"]),
            ("q | s", lambda w: w["q"] or w["s"]),
        ],
        [
            *((f"r = {v}", lambda w, v=v: w["r"] == v) for v in VALUES[:3]),
            *(
                (f"r in {{{', '.join(pair)}}}", lambda w, pair=pair: w["r"] in pair)
                for pair in combinations(VALUES[:3], 2)
            ),
        ],
    ]
    chosen = rng.permutation(len(kinds))[: rng.integers(1, 3)]
    return [event for kind in chosen.tolist() for event in kinds[kind]]


def random_panel(rng, most):
    """A panel without numbers, the truth of its events (one row per possible world), and their probabilities."""
    laws = [text for text in MORE_LAWS if rng.random() < 0.2]
    possible = [w for w in worlds() if all(MORE_LAWS[law](w) for law in laws)]
    given = whole_partitions(rng) + [random_event(rng) for _ in range(most)]
    panel = co.Panel.from_records([("Ann", text, 0.5) for text, _ in given], laws=[*LAWS, *laws])
    by_text = dict(given)
    texts = list(panel.written.text)
    keep = sorted(rng.permutation(len(texts))[:most].tolist())
    texts = [texts[i] for i in keep]
    panel = co.Panel.from_records([("Ann", text, 0.5) for text in texts], laws=[*LAWS, *laws])
    truth = np.array([[by_text[text](w) for text in texts] for w in possible])
    mass = rng.dirichlet(np.full(len(possible), 0.3))
    if rng.random() < 0.3:  # numbers of a coarse grid: many halves and numbers on the grid
        grid = int(rng.choice([20, 200]))
        mass = rng.multinomial(grid, mass) / grid
    return panel, truth, mass @ truth


def exclusive_sets(truth):
    """All sets of two or more events or complements of which no two come true together, and whether one always does."""
    literals = np.hstack([truth, ~truth]).astype(int)
    count = truth.shape[1]
    found = [((), np.zeros(len(truth), int))]
    sets = []
    for i in range(2 * count):
        if not literals[:, i].any():
            continue
        new = [
            ((*members, i), union + literals[:, i]) for members, union in found if not (union & literals[:, i]).any()
        ]
        sets += new
        found += new
    return [(members, bool(union.all())) for members, union in sets if len(members) > 1]


def balanced_fours(truth):
    """All two events or complements that, in every world, are true as often as two others."""
    literals = np.hstack([truth, ~truth]).astype(int)
    pairs = [(i, j, literals[:, i] + literals[:, j]) for i, j in combinations(range(2 * truth.shape[1]), 2)]
    by_sum = {}
    for i, j, total in pairs:
        by_sum.setdefault(total.tobytes(), []).append((i, j))
    return [(one, other) for same in by_sum.values() for one, other in combinations(same, 2)]


def keeps(sets, whole, top, fours=()):
    """Whether whole numbers out of `top` keep the sums of all sets, and two add up to two others where they must."""
    count = len(whole)

    def shown(i):
        return whole[i] if i < count else top - whole[i - count]

    if any(sum(map(shown, one)) != sum(map(shown, other)) for one, other in fours):
        return False
    for members, covering in sets:
        total = sum(whole[i] if i < count else top - whole[i - count] for i in members)
        if total > top or (covering and total != top):
            return False
    return True


def neighbours(value, top):
    """The whole numbers beside each value: one if it is on the grid."""
    on = [round(v * top) for v in value]
    return [
        (o,) if abs(v * top - o) < 1e-6 else (floor(v * top), ceil(v * top)) for v, o in zip(value, on, strict=True)
    ]


def check_rounding(seed, count, most=7):
    """Every relation holds among shown numbers, and a digit is added only if no choice of neighbours keeps all."""
    rng = np.random.default_rng(seed)
    refined = 0
    for _ in range(count):
        panel, truth, value = random_panel(rng, most)
        sets, fours = exclusive_sets(truth), balanced_fours(truth)
        for digits in (0, 1, 2, 4):
            shown = rounded(pose(panel), value, digits)
            top = 10**shown.digits
            whole = np.rint(shown.value * top).astype(int).tolist()
            beside = neighbours(value, top)
            assert np.allclose(shown.value * top, whole, atol=1e-6)
            assert all(w in own for w, own in zip(whole, beside, strict=True)), (value, shown)
            assert keeps(sets, whole, top, fours), (panel.written.text, value, shown)
            # No choice of neighbours with fewer digits keeps all, and none of these is nearer.
            for fewer in range(digits, shown.digits):
                refined += 1
                grid = 10**fewer
                assert not any(keeps(sets, choice, grid, fours) for choice in product(*neighbours(value, grid)))
            apart = np.abs(np.array(whole) - value * top).sum()
            for choice in product(*beside):
                if np.abs(np.array(choice) - value * top).sum() < apart - 1e-5:
                    assert not keeps(sets, choice, top, fours), (value, whole, choice)
    return refined
