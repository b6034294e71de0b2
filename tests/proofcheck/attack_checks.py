"""Changed and made-up proofs: whatever a file says, no bound above the least loss is accepted.

`check_changes` changes proofs of every kind at random. `check_trees` makes up trees (splits, eliminations, clusters
with messages, semidefinite forms) for planes at random ratios, and holds their bound against all worlds.
"""

import io
import itertools
import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from struct import pack

import numpy as np

import coherently as co
from coherently.proofcheck import ProofLimits, check
from coherently.proofcheck.claimed_mixture import read_claim
from coherently.proofcheck.forecast_files import ReadingOptions
from coherently.proofcheck.leaves import CostSum, WorkLeft
from coherently.proofcheck.posed_panel import read_panel
from coherently.proofcheck.proof_records import RATIO, PlaneSum, ProofLines, ProofTree
from coherently.proofcheck.proof_verdict import FAULT
from coherently.proofcheck.sign_trees import least_of_signs
from coherently.verifier.compiled_signs import CompiledSigns
from tests.proofcheck.proof_cases import proof_lines, proved_files

NAMES = "abcde"
WINNERS = ("x", "y", "z")
KINDS = ("points", "laws", "declared", "counts", "conditionals", "linearised", "intervals", "pins", "log", "spherical")
ENOUGH = ProofLimits(work=1 << 24)
SETTLED = 1e-7
"""What is proved of the panels below leaves at most this between the least loss and the answer's."""


@dataclass(frozen=True)
class Claim:
    """A panel as the checker reads it, a result, and the lines of its proof."""

    kind: str
    panel: object
    result: str
    lines: list
    objective: float

    def verdict(self, lines):
        """What the checker says of other lines."""
        data = b"".join(json.dumps(without_tree(line)).encode() + b"\n" + tree_of(line) for line in lines)
        return check(self.panel, self.result, data, ENOUGH)

    def terms(self):
        """The terms of the panel."""
        return self.panel.terms(read_claim(self.result).loss, WorkLeft())

    def accepts(self, lines):
        """Check lines; the word of the verdict. A bound above the least loss is an error, and so is a fault found."""
        found = self.verdict(lines)
        assert found.why != FAULT, (self.kind, lines)
        if found.lower is not None:
            assert float(found.lower) <= self.objective + SETTLED * max(1.0, self.objective), (self.kind, lines)
        return found.word


def without_tree(line):
    """A line as it is written; its tree of signs, a list of bytes, follows it."""
    return {key: value for key, value in line.items() if key != "tree"}


def tree_of(line):
    tree = line.get("tree")
    return bytes(one & 255 for one in tree if type(one) is int) if isinstance(tree, list) else b""


def literal(rng):
    return rng.choice(("", "", "~")) + rng.choice(NAMES)


def event(rng, kind):
    """An event of one to three literals, or what the kind of panel is about."""
    if kind == "counts" and rng.random() < 0.7:
        members = ", ".join(rng.sample([f"n{i}" for i in range(7)], rng.choice((3, 6, 6, 7))))
        return f"{rng.choice(('exactly', 'at_least', 'at_most'))}({rng.randint(1, 3)}; {members})"
    if kind == "declared" and rng.random() < 0.6:
        return rng.choice(("w = x", "w in {x, y}", "w != z", "rate < 2", "rate >= 5", "rate <= 2 & w = y"))
    found = f" {rng.choice('&|^')} ".join(
        literal(rng) for _ in range(rng.choice((1, 2, 2, 2 if kind in ("points", "laws") else 3)))
    )
    if kind in ("conditionals", "linearised", "log", "spherical") and rng.random() < 0.4:
        return f"({found}) given {literal(rng)}"
    return found


def claim(rng, kind):
    """A small random panel of one kind, its result and its proof."""
    rows = [{"judge": "A", "event": event(rng, kind), "probability": round(rng.random(), 3)} for _ in range(7)]
    if kind == "intervals":
        for row in rows[:4]:
            low, high = sorted(round(rng.random(), 3) for _ in range(2))
            row |= {"lower": low, "upper": high, "probability": None}
    rows = [{"lower": None, "upper": None, **row} for row in rows]
    laws = ["a -> b", "c | d"] if kind in ("laws", "pins", "log", "spherical", "declared") else []
    laws += ["variable w: x, y, z", "variable rate: number"] if kind == "declared" else []
    laws += ["P(a) <= 0.2", "P(c & e) = 0.3", "P(d given b) >= 0.4"] if kind == "pins" else []
    loss = kind if kind in ("log", "spherical") else "brier"
    method = co.Exact(conditionals="linearised") if kind == "linearised" else "exact"
    with tempfile.TemporaryDirectory() as folder:
        result, files = proved_files(folder, rows, laws, loss, method)
        panel = read_panel(files.panel, files.laws, ReadingOptions())
        made = Claim(kind, panel, files.result.read_text(), proof_lines(files.proof), result.objective)
    found = made.verdict(made.lines)
    assert found.word == "proved", (kind, rows, laws, found.sentence)
    assert float(found.upper - found.lower) <= SETTLED * max(1.0, result.objective)
    return made


def scopes_of(told, record):
    """The functions of a record, and their scopes."""
    panel, terms = told.panel, told.terms()
    functions = [one for i in record["terms"] for one in (terms[i].joint, terms[i].condition)]
    functions += [one for i, _ in record["pins"] for one in (panel.pins[i].joint, panel.pins[i].condition)]
    functions += [panel.laws[i] for i in record["laws"]]
    return [one for one in functions if one.scope]


def whole_sum(told, record):
    """The planes of a record as an integer function of worlds."""
    total, terms = PlaneSum(record["bits"]), told.terms()
    for i, ratio in zip(record["terms"], record["ratios"], strict=True):
        total.add_term(terms[i], ratio)
    for i, price in record["pins"]:
        total.add_pin(told.panel.pins[i], price)
    return CostSum(told.panel.space, total.parts, [told.panel.laws[i] for i in record["laws"]])


def truth(space, function, world):
    """Whether a function holds in a world: by its table, or by counting."""
    if function.mask is not None:
        place = 0
        for v in function.scope:
            place = place * space.variables[v].size + world[v]
        return function.mask >> place & 1
    return sum(world[v] in states for v, states in function.count.literals) in function.count.counts


def least(total):
    """The least value of a sum over all worlds that its laws allow."""
    states, found = total.states(), []
    for world in itertools.product(*states.values()):
        at = dict(zip(states, world, strict=True))
        if all(truth(total.space, law, at) for law in total.laws):
            found.append(sum(c for one, c in total.parts.items() if truth(total.space, one, at)))
    return min(found)


def random_tree(rng, told, record, depth=0, states=None, clusters=()):
    """The nodes of a true tree, in preorder: whatever its hints are, it bounds the planes from below."""
    known = states or {}
    scopes = [one.scope for one in scopes_of(told, record)]
    variables, space = sorted({v for scope in scopes for v in scope}), told.panel.space
    if depth < 3 and rng.random() < 0.5 - 0.1 * depth:
        x = rng.choice(variables)
        every = list(range(space.variables[x].size))
        children = [rng.sample(every, rng.randint(0, len(every))) for _ in range(rng.randint(1, len(every) - 1))]
        children.append([s for s in every if not any(s in one for one in children)] or [rng.choice(every)])
        left = known.get(x, every)
        inherited = cluster_leaf(rng, space, scopes, variables, record["bits"]) if rng.random() < 0.5 else {}
        clusters = inherited.get("k", clusters)
        below = [
            random_tree(rng, told, record, depth + 1, known | {x: [s for s in left if s in one]}, clusters)
            for one in children
        ]
        return [{"v": x, "c": children} | inherited, *itertools.chain.from_iterable(below)]
    kind = rng.random()
    if kind < 0.35:
        return [{"e": rng.sample(variables, rng.randint(0, len(variables)))}]
    if kind < 0.5 and clusters:
        return [cluster_messages(rng, space, clusters, record["bits"])]
    if kind < 0.6 or any(space.variables[v].size > 2 for v in variables) or max(map(len, scopes)) > 2:
        return [cluster_leaf(rng, space, scopes, variables, record["bits"])]
    return [sign_leaf(rng, whole_sum(told, record), variables, record["laws"], known)]


def cluster_leaf(rng, space, scopes, variables, bits):
    """Clusters that contain most functions, and messages over what two of them share."""
    clusters = [sorted({*scope, *rng.sample(variables, rng.randint(0, 1))}) for scope in scopes if rng.random() < 0.9]
    clusters = [one for one in clusters if space.cells(one) <= 4096]
    return {"k": clusters} | cluster_messages(rng, space, clusters, bits)


def cluster_messages(rng, space, clusters, bits):
    """Messages over what two clusters share, in units that are now and then larger."""
    messages = []
    for _ in range(rng.randint(0, 12) if len(clusters) > 1 else 0):
        a, b = rng.sample(range(len(clusters)), 2)
        shared = sorted(set(clusters[a]) & set(clusters[b]))
        scope = rng.sample(shared, rng.randint(0, min(2, len(shared))))
        size = 2 ** rng.choice((bits - 2, bits, 63, 300))
        messages.append([a, b, scope, [rng.randint(-size, size) for _ in range(space.cells(scope))]])
    return {"m": messages} | ({"u": rng.randint(0, 20)} if rng.random() < 0.5 else {})


def sign_leaf(rng, total, variables, laws, states):
    """A semidefinite form that is as tight as an eigenvalue allows, with prices of laws, and a point."""
    place = {v: i for i, v in enumerate(variables)}
    a = [[0] * len(variables) for _ in variables]
    prices = [rng.randint(-(2**30), 2**30) for _ in laws]
    parts = [(function, c, 0) for function, c in total.parts.items()]
    parts += [(law, 0, price) for law, price in zip(total.laws, prices, strict=True)]
    for function, held, failed in parts:
        if len(function.scope) == 2:
            i, j = (place[v] for v in function.scope)
            f = [held if function.mask >> bit & 1 else failed for bit in range(4)]
            a[i][j] += f[0] + f[3] - f[1] - f[2]
            a[j][i] += f[0] + f[3] - f[1] - f[2]
    free = [place[v] for v in variables if len(states.get(v, (0, 1))) == 2]
    n, matrix = len(free), np.array(a, float)[np.ix_(free, free)]
    spare = 1e-3 * np.abs(matrix).max(initial=0.0) + 100  # for the rounding of the factor
    lowest = int(min(np.linalg.eigvalsh(matrix), default=0.0) - spare) - 1
    factor = np.linalg.cholesky(matrix - (lowest + 0.9 * spare) * np.eye(n))
    k = max(0, min(rng.choice((4, 8, 16)), 30 - int(np.log2(np.abs(factor).max(initial=1.0)))))
    rows = [[int(x) for x in row[: i + 1]] for i, row in enumerate(np.rint(factor * 2.0**k))]
    y = [lowest - rng.choice((0, 1, abs(lowest))) for _ in free]
    corner = rng.random() < 0.5
    point = [4096 * rng.choice((-1, 1)) if corner else rng.randint(-5000, 5000) for _ in free]
    priced = [[law, price] for law, price in zip(laws, prices, strict=True)]
    factor = [x for row in rows for x in row]
    tree = pack(f"<B{n}qB{len(factor)}iB{n}hB", 4, *y, k, *factor, 3, *point, 2)
    return {"s": variables, "p": priced, "bytes": len(tree), "tree": list(tree)}


def check_trees(seed, count):
    """Make up trees for planes at random ratios and prices: none bounds them above their least value over all worlds.

    Gives how many of the trees have leaves of each kind. None is refused.
    """
    rng, kinds, told = random.Random(seed), Counter(), None
    for number in range(count):
        if number % 10 == 0:
            told = claim(rng, KINDS[number // 10 % len(KINDS)])
        record = dict(rng.choice([line for line in told.lines if "terms" in line]))
        record["ratios"] = [max(0, r + rng.choice((0, rng.randint(-(2**58), 2**58)))) for r in record["ratios"]]
        record["ratios"] = [min(r, 1 << RATIO) for r in record["ratios"]]
        record["pins"] = [[i, rng.choice((price, rng.randint(-(2**40), 2**40)))] for i, price in record["pins"]]
        total, nodes = whole_sum(told, record), random_tree(rng, told, record)
        file = ProofLines(b"")
        file.file = io.BytesIO(b"".join(map(tree_of, nodes)))
        laws = {law: i for i, law in enumerate(record["laws"])}
        tree = ProofTree(total, laws, WorkLeft(), file, rng.choice((least_of_signs, CompiledSigns())))
        true, bound = least(total), tree.least(len(nodes), map(without_tree, nodes))
        assert bound <= true, (seed, number, told.kind, nodes)
        order = list(total.states())
        whole = [{"v": order[0], "c": [[s] for s in total.states()[order[0]]]}]
        whole += [{"e": rng.sample(order, len(order))}] * len(whole[0]["c"])
        exact = ProofTree(total, {}, WorkLeft(), file, least_of_signs).least(len(whole), iter(whole))
        assert exact == true, (seed, number, told.kind)
        kinds.update(tree.kinds())
    return kinds


def changed(rng, told):
    """A proof with one to three changes; sometimes its trees are made up first."""
    lines = json.loads(json.dumps(told.lines))
    if rng.random() < 0.6:
        lines = [line for line in lines if {"terms", "format", "end"} & line.keys()]
        places = [i for i, line in enumerate(lines) if "terms" in line]
        for i in reversed(places):
            nodes = random_tree(rng, told, lines[i])
            lines[i]["nodes"] = len(nodes)
            lines[i + 1 : i + 1] = nodes
    for _ in range(rng.randint(1, 3)):
        rng.choice((spoil, spoil, spoil, reorder))(rng, lines)
    return lines


def reorder(rng, lines):
    """Repeat, drop or swap lines, or give a record what belongs to another."""
    i, j = (rng.randrange(1, len(lines)) for _ in range(2))
    how = rng.randrange(4)
    if how == 0:
        lines.insert(i, json.loads(json.dumps(lines[j])))
    elif how == 1 and len(lines) > 2:
        lines.pop(i)
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        key = rng.choice(("terms", "ratios", "laws", "pins"))
        with_key = [line for line in lines if key in line]
        if with_key:
            rng.choice(with_key)[key] = list(rng.choice(with_key)[key])


def spoil(rng, lines):
    """Change one number, or one list, anywhere in a line."""
    at = rng.choice(lines[1:] or lines)
    while True:
        places = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not places:
            at.append(rng.choice((0, 1, -1, [0]))) if isinstance(at, list) else at.update(e=[])
            return
        key = rng.choice(places)
        if isinstance(at[key], (dict, list)) and rng.random() < 0.8:
            at = at[key]
            continue
        at[key] = new_value(rng, at[key])
        return


def new_value(rng, old):
    if isinstance(old, list):
        return rng.choice((old[:-1], [*old, *old[:1]], rng.sample(old, len(old)), []))
    if not isinstance(old, int):
        return rng.choice((0, [], None, True, "0"))
    near = rng.choice((old + rng.randint(-9, 9), -old, 2 * old, old + rng.randint(-(2**40), 2**40)))
    return rng.choice(
        (near, near, 0, 1, rng.randrange(8), 2**63, 2 ** rng.randint(0, 250), -(2 ** rng.randint(0, 250)))
    )


def check_changes(seed, count):
    """Check so many changed proofs of all kinds; gives how many were proved, weak and refused."""
    rng, words, told = random.Random(seed), Counter(), None
    for number in range(count):
        if number % 40 == 0:
            told = claim(rng, KINDS[number // 40 % len(KINDS)])
        try:
            words[told.accepts(changed(rng, told))] += 1
        except Exception as error:
            error.add_note(f"change {number} of seed {seed}")
            raise
    return words
