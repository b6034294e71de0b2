"""Forged proofs, hostile files, and each rule against brute force: no bound above the least loss is accepted."""

import gzip
import itertools
import json
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from coherently.proofcheck import ProofLimits, check, loss_planes, numbers
from coherently.proofcheck.forecast_files import ReadingOptions
from coherently.proofcheck.leaves import (
    WorkLeft,
    bound_by_elimination,
    cluster_tables,
    with_messages,
)
from coherently.proofcheck.loss_planes import LinearisedCost, LossRule, MergedCost
from coherently.proofcheck.numbers import ln, root, softplus_above, softplus_below
from coherently.proofcheck.posed_panel import read_panel
from tests.proofcheck.attack_checks import KINDS, check_changes, check_trees, claim
from tests.proofcheck.proof_cases import LOSSES, least, proof_lines, proved_files, random_sum, wide_rows

LAWS = ["P(a) <= 0.3", "c -> b", "variable w: x, y, z"]
ROWS = [("A", "a & b", 0.6), ("A", "b", 0.2), ("B", "c given a", 0.9), ("B", "w = x", 0.7), ("B", "w in {x, y}", 0.5)]


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    result, files = proved_files(tmp_path_factory.mktemp("proved"), ROWS, LAWS)
    assert files.check().word == "proved"
    return result, files, [json.loads(line) for line in gzip.decompress(files.proof.read_bytes()).splitlines()]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    return proved_files(tmp_path_factory.mktemp("wide"), wide_rows(5), ["v0 -> v1"])[1]


def signs(**told):
    return {"s": [0], "p": [], "bytes": 1, **told}


def verdict(files, lines):
    files.proof.write_bytes("".join(json.dumps(line) + "\n" for line in lines).encode())
    return files.check()


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (lambda ls: ls[0].update(sha256="0" * 64), "another panel"),
        (lambda ls: ls.pop(), "end is missing"),
        (lambda ls: ls.append({}), "more after the end"),
        (lambda ls: ls[-1].update(end=7), "whole number"),
        (lambda ls: ls[1:1] or ls.__setitem__(slice(1, 1), ls[1:3]), "used twice"),
        (lambda ls: ls[1]["terms"].__setitem__(0, 99), "does not exist"),
        (lambda ls: ls[1]["ratios"].__setitem__(0, 0.5), "not a whole number"),
        (lambda ls: ls[1]["ratios"].__setitem__(0, True), "whole numbers"),
        (lambda ls: ls[1]["ratios"].__setitem__(0, 2**61), "whole number"),
        (lambda ls: ls[1].update(bits=201), "whole number"),
        (lambda ls: ls[1].update(nodes=2), "no branch"),
        (lambda ls: ls[2].update(v=0, c=[[0]]) or ls[2].pop("e"), "cover"),
        (lambda ls: ls[2].update(v=0, c=[[0], [0]]) or ls[2].pop("e"), "cover"),
        (lambda ls: ls.__setitem__(2, {"s": [0]}), "whole number"),
        (lambda ls: ls.__setitem__(2, {"s": [0], "p": [], "bytes": 1 << 27}), "ends within a tree"),
        (lambda ls: ls.__setitem__(2, {"s": [0], "p": [], "bytes": 1 << 29}), "whole number"),
        (lambda ls: ls.__setitem__(2, {"m": []}), "without clusters"),
        (lambda ls: ls.__setitem__(2, {"k": [[0]], "m": [[0, 1, [0], [5, 5]]]}), "between two clusters"),
        (lambda ls: ls.__setitem__(2, {"x": 1}), "a leaf of one of three kinds"),
        (lambda ls: ls[1].pop("laws"), "a record has"),
        (lambda ls: ls[1]["terms"].append(ls[1]["terms"][0]), "repeats one"),
        (lambda ls: ls[1]["ratios"].pop(), "instead of"),
        (lambda ls: ls[1]["ratios"].__setitem__(0, -1), "whole number"),
        (lambda ls: ls[1].update(laws=[7]), "does not exist"),
        (lambda ls: ls[1].update(pins=[[0, 1, 2]]), "instead of 2"),
        (lambda ls: ls[1].update(pins=[[5, 1]]), "whole number"),
        (lambda ls: ls[1].update(pins={}), "a list of pins"),
        (lambda ls: ls[1].update(bits=-1), "whole number"),
        (lambda ls: ls[1].update(nodes=0), "whole number"),
        (lambda ls: ls.__setitem__(2, {"v": 0, "c": [[0], [1]]}), "branches without a leaf"),
        (lambda ls: ls.__setitem__(2, {"v": 99, "c": [[0], [1]]}), "whole number"),
        (lambda ls: ls.__setitem__(2, {"v": 0, "c": [[0], [1]], "e": []}), "a split has"),
        (lambda ls: ls.__setitem__(2, {"k": [[0]], "e": [], "m": []}), "one of three kinds"),
        (lambda ls: ls.__setitem__(2, {"k": [[0, 0]], "m": []}), "a variable twice"),
        (lambda ls: ls.__setitem__(2, {"k": [[77]], "m": []}), "does not exist"),
        (lambda ls: ls.__setitem__(2, {"k": [[0], [1]], "m": [[0, 1, [0], [5, 5]]]}), "between two clusters"),
        (lambda ls: ls.__setitem__(2, {"k": [[0], [0]], "m": [[0, 1, [0], [5, 5, 5]]]}), "another number of values"),
        (lambda ls: ls.__setitem__(2, {"k": [[0], [0]], "m": [[0, 1, [0, 0], [5] * 4]]}), "between two clusters"),
        (lambda ls: ls.__setitem__(2, {"k": [[0], [0]], "m": [[0, 1, [0], [2**10_000, 5]]]}), "4,096 bits"),
        (lambda ls: ls.__setitem__(2, {"k": 0, "m": []}), "a list of clusters"),
        (lambda ls: ls.__setitem__(2, {"k": [[]], "m": [7]}), "a message has"),
        (lambda ls: ls.__setitem__(2, signs(s=[0, 0])), "repeats one"),
        (lambda ls: ls.__setitem__(2, signs(k=[])), "one of three kinds"),
        (lambda ls: ls.__setitem__(2, signs(p=[[9, 5]])), "prices of laws"),
        (lambda ls: ls.__setitem__(2, signs()), "functions of one or two"),
    ],
)
def test_forged_proofs_are_refused_with_the_line(proved, attack, words):
    _, files, lines = proved
    forged = json.loads(json.dumps(lines))
    attack(forged)
    found = verdict(files, forged)
    assert found.word == "refused"
    assert words in found.why
    assert found.line > 0


def swap_trees(lines):
    places = [i for i, line in enumerate(lines) if "e" in line]
    lines[places[0]], lines[places[1]] = lines[places[1]], lines[places[0]]


@pytest.mark.parametrize(
    "change",
    [
        lambda ls: ls[2].update(e=[]),
        lambda ls: [one.update(ratios=[2**59] * len(one["ratios"])) for one in ls if "ratios" in one],
        swap_trees,
        lambda ls: [one.update(pins=[[i, -price] for i, price in one["pins"]]) for one in ls if "pins" in one],
        lambda ls: [one.update(pins=[[i, 2**63] for i, _ in one["pins"]]) for one in ls if "pins" in one],
        lambda ls: (ls.__delitem__(slice(1, 3)), ls[-1].update(end=ls[-1]["end"] - 1)),
        lambda ls: ls[2].update(e=[0, 0, 99]),
    ],
    ids=["order", "ratios", "swapped", "prices", "large", "component", "foreign"],
)
def test_weakened_proofs_are_weak(proved, change):
    result, files, lines = proved
    weaker = json.loads(json.dumps(lines))
    change(weaker)
    found = verdict(files, weaker)
    assert found.word == "weak", found.sentence
    assert float(found.lower) < result.objective


def test_a_component_that_is_left_out_is_named(proved):
    _, files, lines = proved
    found = verdict(files, [lines[0], {"end": 0}])
    assert found.word == "weak"
    assert "nothing is proved of 5 terms" in found.sentence
    assert found.lower == 0


@pytest.mark.parametrize("size", [0, 1, 2**36, 2**63, 2**300], ids=["0", "1", "36", "63", "300"])
def test_raised_messages_are_weak(wide, size):
    lines = proof_lines(wide.proof)
    rng = random.Random(size)
    for message in lines[2]["m"]:
        message[3] = [x + rng.choice((-size, size)) for x in message[3]]
    found = check_lines(wide, lines)
    assert found.word == ("weak" if size > 1 else "proved"), found.sentence
    assert found.leaves == {"messages": 1}


def check_lines(files, lines):
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return check(read_panel(files.panel, files.laws, ReadingOptions()), files.result.read_text(), data, ProofLimits())


def test_random_changes_of_every_kind_never_prove_more_than_is_true():
    words = check_changes(3, 800)
    assert min(words[word] for word in ("proved", "weak", "refused")) > 40


def test_made_up_trees_bound_their_planes_from_below():
    kinds = check_trees(1, 200)
    assert min(kinds[kind] for kind in ("elimination", "messages", "semidefinite")) > 20


@pytest.mark.parametrize("kind", KINDS)
def test_coarse_grids_are_weak_and_never_wrong(kind):
    told = claim(random.Random(kind), kind)
    for bits in range(12):
        lines = [line | {"bits": bits} if "terms" in line else line for line in told.lines]
        told.accepts([line | {"pins": [[i, 0] for i, _ in line["pins"]]} if "pins" in line else line for line in lines])


def test_a_component_that_is_proved_badly_costs_the_others_nothing(proved):
    _, files, lines = proved
    alone = [lines[0], *lines[3:5], {"end": 1}]
    other = verdict(files, alone).lower
    assert other > 0
    assert verdict(files, [lines[0], {**lines[1], "ratios": [0] * 3}, {"e": []}, *lines[3:]]).lower >= other


def test_a_bound_above_the_loss_is_a_fault_of_the_checker(proved, monkeypatch):
    _, files, lines = proved
    assert verdict(files, lines).word == "proved"
    true = MergedCost.plane
    monkeypatch.setattr(MergedCost, "plane", lambda self, r: (true(self, r)[0], true(self, r)[1] + self.weight))
    found = files.check()
    assert found.word == "refused"
    assert "the checker itself has a fault" in found.why


def test_a_pin_that_is_missed_within_its_tolerance_is_no_fault(tmp_path):
    _, files = proved_files(tmp_path, [("A", "a", 0.9), ("A", "b", 0.4)], ["P(a) <= 0.3"])
    told = json.loads(files.result.read_text())
    for part in told["worlds"]:
        if "a" in part["variables"]:
            held = [world[part["variables"].index("a")] == "1" for world in part["worlds"]]
            total = sum(part["weights"])
            part["weights"] = [(0.3 + 9e-10 if one else 0.7 - 9e-10) * total for one in held]
    files.result.write_text(json.dumps(told))
    found = files.check()
    assert found.word == "proved", found.sentence
    assert found.lower > found.upper
    for part in told["worlds"]:
        if "a" in part["variables"]:
            part["weights"] = [(0.3 + 2e-9 if one else 0.7 - 2e-9) * total for one in held]
    files.result.write_text(json.dumps(told))
    assert "does not keep the pin" in files.check().why


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not of this format"),
        (b"\x1f\x8b\x08broken", "cannot be read"),
        (gzip.compress(b"0" * (1 << 26)), "longer than allowed"),
        (gzip.compress(b"0" * 1000)[:-9], "cannot be read"),
        (b"[" * 100_000, "not as it should be"),
        (b'{"format":' + b"9" * 5_000 + b"}\n", "4,096 bits"),
        (b"\xff\xfe\x00", "not as it should be"),
        (b'{"format":"other"}\n', "not of this format"),
        (b'{"format":NaN}\n', "not a whole number"),
        (b'{"format":1e5}\n', "not a whole number"),
        (b"[1]\n", "an object"),
    ],
    ids=["empty", "gzip", "bomb", "truncated", "deep", "integer", "bytes", "foreign", "nan", "float", "list"],
)
def test_hostile_files_are_refused_with_the_line(proved, data, words):
    _, files, _ = proved
    files.proof.write_bytes(data)
    found = files.check()
    assert found.word == "refused"
    assert words in found.why
    assert found.line == (1 if data[:2] != b"\x1f\x8b" and data else found.line)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"k": [list(range(4))] * 270_000, "m": []}, "states together"),
        ({"k": [[0], [0]], "m": [[0, 1, [0], [0, 0]]] * 60_000}, "more work than is allowed"),
        ({"v": 0, "c": [[0, 1]] * 200_000}, "more branches than"),
        ({"s": [0], "p": [], "bytes": 1 << 28}, "ends within a tree"),
    ],
    ids=["clusters", "messages", "branches", "signs"],
)
def test_files_that_ask_for_much_work_are_refused(proved, node, words):
    _, files, lines = proved
    files.proof.write_text("".join(json.dumps(line) + "\n" for line in [*lines[:2], node]))
    found = files.check(limits=ProofLimits(work=1 << 17))
    assert found.word == "refused"
    assert words in found.why
    assert found.line == 3


def test_a_tree_that_is_too_deep_or_too_wide_is_refused(proved, wide):
    _, files, lines = proved
    deep = [{"v": 0, "c": [[0, 1]]}] * 2_001
    found = verdict(files, [lines[0], {**lines[1], "nodes": 2_002}, *deep, {"e": []}, *lines[3:]])
    assert "not too deep" in found.why
    assert found.line == 2_003
    verdict(files, lines)
    found = files.check(limits=ProofLimits(bytes=100))
    assert "longer than allowed" in found.why
    told = proof_lines(wide.proof)
    variables = sorted({v for scope in told[2]["k"] for v in scope})
    assert "more than 65536 states" in check_lines(wide, [*told[:2], {"k": [variables[:17]], "m": []}]).why
    order = [v for v in variables if v % 2] + [v for v in variables if v % 2 == 0]
    assert "a table of more than" in check_lines(wide, [*told[:2], {"e": order}]).why


def change_part(told, change):
    change(next(one for one in told["worlds"] if "c" in one["variables"]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda one: one["worlds"].__setitem__(0, "".join("1" if v == "c" else "0" for v in one["variables"])),
            "breaks the law 'c -> b'",
        ),
        (lambda one: one["weights"].__setitem__(0, -0.1), "not those of a mixture"),
        (lambda one: one["weights"].append(0.1), "not those of a mixture"),
        (lambda one: one["weights"].__setitem__(slice(None), [0] * len(one["weights"])), "not those of a mixture"),
        (lambda one: one["worlds"].__setitem__(0, one["worlds"][0] + "1"), "does not say of each variable"),
        (lambda one: one["worlds"].__setitem__(0, "2" + one["worlds"][0][1:]), "does not say of each variable"),
        (lambda one: one["variables"].__setitem__(one["variables"].index("c"), "f"), "say nothing about c"),
        (lambda one: one["worlds"].__setitem__(slice(None), ["1" * len(one["variables"])] * len(one["worlds"])), "pin"),
    ],
)
def test_worlds_that_claim_too_much_are_refused(proved, change, words):
    _, files, lines = proved
    verdict(files, lines)
    text = files.result.read_text()
    told = json.loads(text)
    change_part(told, change)
    try:
        files.result.write_text(json.dumps(told))
        assert words in files.check().why
    finally:
        files.result.write_text(text)


@pytest.mark.parametrize(("pin", "kept"), [("<= 0.3", 0.29), (">= 0.3", 0.31), ("= 0.3", 0.3)])
def test_pins_are_held_at_both_ends(tmp_path, pin, kept):
    _, files = proved_files(tmp_path, [("A", "a", 0.9 if ">" not in pin else 0.1), ("A", "b", 0.4)], [f"P(a) {pin}"])
    told = json.loads(files.result.read_text())
    part = next(one for one in told["worlds"] if "a" in one["variables"])
    part |= {"variables": ["a"], "worlds": ["1", "0"]}
    for value in (kept, 0.29, 0.31):
        part["weights"] = [value, 1 - value]
        next(one for one in told["forecasts"] if one["event"] == "a")["probability"] = value
        files.result.write_text(json.dumps(told))
        found = files.check()
        assert ("does not keep the pin" in found.why) == (value != kept), (pin, value, found.sentence)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told["worlds"].append(told["worlds"][0]), "two independent parts"),
        (
            lambda told: told["forecasts"][0].update(probability=told["forecasts"][0]["probability"] + 1e-8),
            "not that of",
        ),
        (lambda told: told["forecasts"][0].update(event="other"), "which the panel does not have"),
        (lambda told: told.update(loss="own"), "nothing can be proved of the loss 'own'"),
        (lambda told: told.update(conditionals="ratio"), "conditionals 'ratio'"),
        (lambda told: told.update(worlds=None), "claims no optimum"),
        (lambda told: told.update(panel_sha256="0" * 64), "made from another panel"),
    ],
)
def test_results_that_claim_something_else_are_refused(proved, change, words):
    _, files, lines = proved
    verdict(files, lines)
    text = files.result.read_text()
    told = json.loads(text)
    change(told)
    try:
        files.result.write_text(json.dumps(told))
        found = files.check()
        assert found.word == "refused"
        assert words in found.why
    finally:
        files.result.write_text(text)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("panel", "0.6", "0.61"), ("panel", "A,b,0.2\n", ""), ("laws", "c -> b\n", ""), ("laws", "0.3", "0.31")],
)
def test_a_row_or_a_law_that_is_dropped_or_changed_makes_another_panel(proved, name, old, new):
    _, files, lines = proved
    verdict(files, lines)
    path = getattr(files, name)
    text = path.read_text().replace("\r\n", "\n")
    assert old in text
    try:
        path.write_text(text.replace(old, new))
        assert "another panel" in files.check().why
    finally:
        path.write_text(text)


@pytest.mark.parametrize("seed", range(20))
def test_leaves_against_enumeration(seed):
    rng = random.Random(seed)
    names = "abcdefg"
    texts = [f"{rng.choice(('', '~'))}{x} {rng.choice('&|^')} {y}" for x, y in itertools.combinations(names, 2)]
    texts = rng.sample(texts, 9)
    total = random_sum(rng, [*texts, "a | b"])
    true, states = least(total), total.states()
    order = rng.sample(list(states), len(states))
    assert bound_by_elimination(total, order, states, WorkLeft()) == true
    assert bound_by_elimination(total, order[:3], states, WorkLeft()) <= true
    assert cluster_tables(total, [], states, WorkLeft()).least() <= true
    scopes = [one.scope for one in total.parts]
    clusters = cluster_tables(total, scopes, states, WorkLeft())
    messages = []
    for i, j in itertools.combinations(range(len(scopes)), 2):
        messages += [(i, j, [v], [rng.randint(-30, 30), rng.randint(-30, 30)]) for v in set(scopes[i]) & set(scopes[j])]
    assert with_messages(clusters, messages, 0, WorkLeft()).least() <= true


def exactly(x):
    """A fraction with 90 digits."""
    return Decimal(x.numerator) / Decimal(x.denominator)


def test_logarithms_and_roots_against_decimals():
    rng = random.Random(7)
    with localcontext() as context:
        context.prec = 90
        for _ in range(60):
            x = Fraction(rng.randint(1, 10**9), rng.randint(1, 10**9)) * Fraction(2) ** rng.randint(-300, 300)
            low, high = ln(x)
            assert exactly(low) < exactly(x).ln() < exactly(high)
            assert high - low <= Fraction(1, 2**109)
            low, high = root(x)
            assert exactly(low) <= exactly(x).sqrt() < exactly(high)
            assert high - low == Fraction(1, 2**128)
            z = Fraction(rng.randint(-(10**6), 10**6), 10**5)
            soft = (1 + exactly(z).exp()).ln()
            below, above = softplus_below(z), softplus_above(z)
            assert exactly(below) < soft < exactly(above)
            assert above - below < Fraction(1, 10**20)
        for z in (Fraction(-60), Fraction(-45), Fraction(60)):  # beyond where tangents are guessed
            assert exactly(softplus_below(z)) < (1 + exactly(z).exp()).ln() < exactly(softplus_above(z))


def decimal_plane(name, told, r, clip):
    """The coefficients a and c of a plane, from the definitions of the losses and 90 digits."""
    told = [(min(max(exactly(p), exactly(clip)), 1 - exactly(clip)), exactly(w)) for p, w in told]
    n, x = sum(w for _, w in told), exactly(r)

    def slope(y):
        if name == "brier":
            return 2 * y
        return (y / (1 - y)).ln() if name == "log" else (2 * y - 1) / (y * y + (1 - y) ** 2).sqrt()

    def phi(y):
        if name == "brier":
            return y * y
        return y * y.ln() + (1 - y) * (1 - y).ln() if name == "log" else (y * y + (1 - y) ** 2).sqrt()

    drift = sum(w * slope(p) for p, w in told)
    mean = drift / n
    # phi'(q) = mean gives the least value of N phi(x) - D x, which the loss is counted from.
    if name == "brier":
        q = mean / 2
    elif name == "log":
        q = 1 / (1 + (-mean).exp())
    else:
        q = (1 + mean / (2 - mean * mean).sqrt()) / 2
    a = n * slope(x) - drift
    at = (n * phi(x) - drift * x) - (n * phi(q) - drift * q)
    return a, at - a * x


@pytest.mark.parametrize("name", LOSSES)
def test_planes_are_rounded_down_and_losses_up(name):
    """The planes may be off by no more than rounding, and on one side alone: what is rounded up proves too much."""
    rng, clip = random.Random(11), Fraction(1, 100) if name == "log" else Fraction(0)
    rule = LossRule(name, clip)
    with localcontext() as context:
        context.prec = 90
        spare = Decimal(0) if name == "brier" else Decimal(2) ** -140
        for _ in range(60):
            told = [
                (Fraction(rng.randint(0, 997), 997), Fraction(rng.randint(1, 9), 7)) for _ in range(rng.randint(1, 3))
            ]
            r, h = Fraction(rng.randint(1, 1008), 1009), Fraction(rng.randint(1, 10), 11)
            cost = rule.merged(told)
            a, c = map(exactly, cost.plane(r))
            true_a, true_c = decimal_plane(name, told, r, clip)
            noise = Decimal(10) ** -80
            assert true_a - Decimal(10) ** -30 < a <= true_a - spare + noise
            assert true_c - Decimal(10) ** -30 < c <= true_c - spare + noise
            lost = exactly(h) * (true_a * exactly(r) + true_c)
            assert lost + spare - noise <= exactly(cost.above(r * h, h)) < lost + Decimal(10) ** -24
            for truth in (False, True):
                settled = exactly(cost.settled(truth))
                end = limit(name, told, truth, clip)
                assert end - Decimal(10) ** -24 < settled <= end + noise


def limit(name, told, truth, clip):
    """What a forecast of a certain event loses: the loss at 0 or 1, where phi is 0 for the log loss."""
    if name != "log":
        a, c = decimal_plane(name, told, Fraction(truth), clip)
        return a * truth + c
    near, slope = Fraction(1, 2), decimal_plane(name, told, Fraction(1, 2), clip)
    n = exactly(sum(w for _, w in told))
    at_half = slope[0] / 2 + slope[1] + n * Decimal(2).ln()
    drift = -slope[0]
    return at_half + drift * exactly(near) - drift * truth


@pytest.mark.parametrize("name", ["log", "spherical"])
def test_planes_lie_below_wherever_the_ends_of_logarithms_and_roots_are(name, monkeypatch):
    """Each end of an interval counts on its own: one may be exact and the other far away, in any combination."""
    rng, clip, far = random.Random(13), Fraction(1, 100) if name == "log" else Fraction(0), Fraction(1, 2**16)

    def ragged(exact):
        def around(x):
            low, high = exact(x)
            return (low - far, high) if rng.random() < 0.5 else (low, high + far)

        return around

    for module in (numbers, loss_planes):
        monkeypatch.setattr(module, "ln", ragged(ln))
        monkeypatch.setattr(module, "root", ragged(root))
    monkeypatch.setattr(loss_planes, "dual", loss_planes.dual.__wrapped__)  # what is known of logarithms must not stay
    noise = Decimal(10) ** -30
    with localcontext() as context:
        context.prec = 90
        for _ in range(150):
            told = [(Fraction(rng.randint(5, 995), 1000), Fraction(rng.randint(1, 9), 7)) for _ in range(2)]
            r, h = Fraction(rng.randint(1, 999), 1000), Fraction(rng.randint(1, 10), 11)
            cost = LossRule(name, clip).merged(told)
            a, c = map(exactly, cost.plane(r))
            true_a, true_c = decimal_plane(name, told, r, clip)
            assert true_a - Decimal("0.01") < a <= true_a + noise
            assert true_c - Decimal("0.01") < c <= true_c + noise
            assert exactly(cost.above(r * h, h)) >= exactly(h) * (true_a * exactly(r) + true_c) - noise
            for truth in (False, True):
                assert exactly(cost.settled(truth)) <= limit(name, told, truth, clip) + noise


def test_planes_of_linearised_conditionals_lie_below():
    rng = random.Random(12)
    for _ in range(200):
        low, high = sorted(Fraction(rng.randint(0, 10), 10) for _ in range(2))
        cost = LinearisedCost(Fraction(rng.randint(1, 5)), low, high)
        a, h = Fraction(rng.randint(-20, 20), 7), Fraction(rng.randint(0, 10), 10)
        u = h * Fraction(rng.randint(0, 10), 10)
        of_u, of_h, constant = cost.plane(a)
        assert of_u * u + of_h * h + constant <= cost.above(u, h)
        away = min(u - low * h, 0) + max(u - high * h, 0)
        of_u, of_h, constant = cost.plane(2 * cost.weight * away)
        assert of_u * u + of_h * h + constant == cost.above(u, h) == cost.weight * away * away


@pytest.mark.parametrize("name", LOSSES)
def test_planes_touch_and_never_cross_the_losses(name):
    rng = random.Random(9)
    rule = LossRule(name, Fraction(1, 100) if name == "log" else Fraction(0))
    for _ in range(40):
        told = [(Fraction(rng.randint(0, 100), 100), Fraction(rng.randint(1, 9), 3)) for _ in range(rng.randint(1, 3))]
        low, high = sorted(Fraction(rng.randint(1, 99), 100) for _ in range(2))
        for cost in (rule.merged(told), rule.interval(low, high, Fraction(2))):
            r, h = Fraction(rng.randint(1, 999), 1000), Fraction(rng.randint(1, 10), 10)
            a, c = cost.plane(r)
            assert abs(a * r * h + c * h - cost.above(r * h, h)) < Fraction(1, 10**25)
            u = h * Fraction(rng.randint(0, 1000), 1000)
            assert a * u + c * h <= cost.above(u, h)
