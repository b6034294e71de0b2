"""Forged proofs, hostile files, and each rule against brute force: no bound above the least loss is accepted."""

import gzip
import itertools
import json
import random
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest

from coherently.proofcheck.leaves import (
    WorkLeft,
    bound_by_elimination,
    bound_by_messages,
    cluster_tables,
)
from coherently.proofcheck.loss_planes import LossRule
from coherently.proofcheck.numbers import ln, softplus_above, softplus_below
from tests.proofcheck.proof_cases import LOSSES, least, proved_files, random_sum

LAWS = ["P(a) <= 0.3", "c -> b", "variable w: x, y, z"]
ROWS = [("A", "a & b", 0.6), ("A", "b", 0.2), ("B", "c given a", 0.9), ("B", "w = x", 0.7), ("B", "w in {x, y}", 0.5)]


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    result, files = proved_files(tmp_path_factory.mktemp("proved"), ROWS, LAWS)
    assert files.check().word == "proved"
    return result, files, [json.loads(line) for line in gzip.decompress(files.proof.read_bytes()).splitlines()]


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
        (lambda ls: ls.__setitem__(2, {"s": [0]}), "prices of laws"),
        (lambda ls: ls.__setitem__(2, {"s": [0], "p": [], "bytes": 1 << 27}), "ends within a tree"),
        (lambda ls: ls.__setitem__(2, {"s": [0], "p": [], "bytes": 1 << 29}), "whole number"),
        (lambda ls: ls.__setitem__(2, {"m": []}), "without clusters"),
        (lambda ls: ls.__setitem__(2, {"k": [[0]], "m": [[0, 1, [0], [5, 5]]]}), "between two clusters"),
        (lambda ls: ls.__setitem__(2, {"x": 1}), "a leaf of one of three kinds"),
        (lambda ls: ls[1].pop("laws"), "a record has"),
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


def test_weakened_proofs_are_weak(proved):
    _, files, lines = proved
    for change in (
        lambda ls: ls[2].update(e=[]),
        lambda ls: [one.update(ratios=[2**59] * len(one["ratios"])) for one in ls if "ratios" in one],
    ):
        weaker = json.loads(json.dumps(lines))
        change(weaker)
        assert verdict(files, weaker).word == "weak"


def test_random_changes_never_prove_more_than_is_true(proved):
    result, files, lines = proved
    rng, words = random.Random(3), {"proved": 0, "weak": 0, "refused": 0}
    for _ in range(300):
        changed = json.loads(json.dumps(lines))
        for _ in range(rng.randint(1, 3)):
            place = rng.choice([i for i, one in enumerate(changed) if "terms" in one or "e" in one])
            spoil(rng, changed[place])
        found = verdict(files, changed)
        words[found.word] += 1
        if found.lower is not None:
            assert float(found.lower) <= result.objective + 1e-9
    assert words["weak"] > 30
    assert words["refused"] > 30


def spoil(rng, line):
    key = rng.choice([key for key in line if key != "nodes"])
    if isinstance(line[key], int):
        line[key] = rng.choice((0, line[key] + rng.randint(-9, 9), 2 ** rng.randint(0, 300)))
        return
    if not line[key] or rng.random() < 0.2:
        line[key] = line[key][:-1]
        return
    at = rng.randrange(len(line[key]))
    new = rng.choice((0, 1, rng.randrange(8), rng.randrange(2**60), -rng.randrange(2**60), 2 ** rng.randint(0, 200)))
    line[key][at] = [line[key][at][0], new] if isinstance(line[key][at], list) else new


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x1f\x8b\x08broken",
        gzip.compress(b"0" * (1 << 26)),
        b"[" * 100_000,
        b'{"format":' + b"9" * 5_000 + b"}\n",
        b"\xff\xfe\x00",
        b'{"format":"other"}\n',
        b'{"format":NaN}\n',
    ],
    ids=["empty", "gzip", "bomb", "deep", "integer", "bytes", "foreign", "nan"],
)
def test_hostile_files_are_refused(proved, data):
    _, files, _ = proved
    files.proof.write_bytes(data)
    assert files.check().word == "refused"


def test_worlds_that_break_laws_or_pins_and_other_panels_are_refused(proved):
    _, files, lines = proved
    verdict(files, lines)
    text, panel = files.result.read_text(), files.panel.read_text()
    try:
        files.panel.write_text(panel.replace("0.6", "0.61"))
        assert "another panel" in files.check().why
        files.panel.write_text(panel)
        told = json.loads(text)
        part = next(one for one in told["worlds"] if "c" in one["variables"])
        part["worlds"][0] = "".join("1" if v == "c" else "0" for v in part["variables"])
        files.result.write_text(json.dumps(told))
        assert "breaks the law 'c -> b'" in files.check().why
    finally:
        files.result.write_text(text)
        files.panel.write_text(panel)


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
    scopes = [one.scope for one in total.parts]
    clusters = cluster_tables(total, scopes, WorkLeft())
    messages = []
    for i, j in itertools.combinations(range(len(scopes)), 2):
        messages += [(i, j, [v], [rng.randint(-30, 30), rng.randint(-30, 30)]) for v in set(scopes[i]) & set(scopes[j])]
    assert bound_by_messages(total, clusters, messages, states, WorkLeft()) <= true


def test_logarithms_and_planes_against_decimals():
    getcontext().prec = 60
    rng = random.Random(7)
    for _ in range(60):
        x = Fraction(rng.randint(1, 10**9), rng.randint(1, 10**9))
        low, high = ln(x)
        true = (Decimal(x.numerator) / Decimal(x.denominator)).ln()
        assert Decimal(low.numerator) / low.denominator < true < Decimal(high.numerator) / high.denominator
        assert high - low <= Fraction(1, 2**109)
        z = Fraction(rng.randint(-(10**6), 10**6), 10**5)
        soft = (1 + (Decimal(z.numerator) / z.denominator).exp()).ln()
        below, above = softplus_below(z), softplus_above(z)
        assert Decimal(below.numerator) / below.denominator < soft < Decimal(above.numerator) / above.denominator
        assert above - below < Fraction(1, 10**20)


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
