"""Broken relations of random sheets, held against loops over all pairs, threes and sums of claims in all worlds."""

import itertools
import random

import numpy as np

import coherently as co
from coherently.explain.bets.bets import bets_at_forecasts
from coherently.explain.judge_sheet import SheetSetting
from coherently.explain.judge_sheet.live_feedback import on_sheet
from coherently.explain.relations.broken import violated
from coherently.explain.relations.scope_relations import broken_relations
from coherently.solve import Budget
from tests.explain.judge_sheet.sheet_examples import Brute, answers_of

FINE = 1e-9
GRACE = 0.005 + FINE


def random_sheet(seed):
    """A sheet of random answers, some of them coherent."""
    sheet = Brute(seed, conditionals=seed % 4, laws=seed % 3)
    value = np.round(sheet.coherent(), 2)
    for i in sheet.chance.sample(range(len(value)), sheet.chance.randint(0, len(value))):
        value[i] = round(sheet.chance.random(), 2)
    return sheet, value


def distinct(sheet, value):
    """The same without second questions on an event or its complement: of these a check names only the worst."""
    seen, kept = set(), []
    for i, (joint, given) in enumerate(zip(sheet.joint, sheet.given, strict=True)):
        if tuple(joint) + tuple(given) not in seen:
            seen |= {tuple(joint) + tuple(given), tuple(given - joint) + tuple(given)}
            kept.append(i)
    sheet.joint, sheet.given, sheet.items = sheet.joint[kept], sheet.given[kept], [sheet.items[i] for i in kept]
    sheet.setting = SheetSetting(tuple(sheet.items), tuple(sheet.laws))
    return sheet, value[kept]


def claims(sheet, low, high):
    """What is said of events, set of worlds by set of worlds: that they are between `low` and `high`, and by whom."""
    every = [w > 0 for w in sheet.joint], [w > 0 for w in sheet.given]
    plain = [(every[0][i], low[i], high[i], (i,)) for i in range(len(low)) if every[1][i].all()]
    whole = list(plain)
    for i in range(len(low)):
        joint, given = every[0][i], every[1][i]
        if given.all():
            continue
        known = [(a, b, n) for worlds, a, b, (n,) in plain if (worlds == given).all()]
        known += [(1 - b, 1 - a, n) for worlds, a, b, (n,) in plain if (worlds == ~given).all()]
        for a, b, n in known[:1]:
            whole.append((joint, low[i] * a, high[i] * b, (i, n)))
            whole.append((given & ~joint, (1 - high[i]) * a, (1 - low[i]) * b, (i, n)))
    yield whole
    conditions = {tuple(given) for given in every[1] if not given.all()}
    for condition in map(np.array, sorted(conditions)):
        own = [i for i in range(len(low)) if (every[1][i] == condition).all()]
        yield [(every[0][i][condition], low[i], high[i], (i,)) for i in own]


def literals(some, size):
    """The claims, each as it is or as its complement, with what it is at least; worlds are the bits of a number."""
    every = (1 << size) - 1
    for worlds, low, high, own in some:
        bits = sum(1 << i for i, holds in enumerate(worlds) if holds)
        yield (bits, low, own), (every ^ bits, 1 - high, own)


def excesses(some, size):
    """By how much each set of forecasts breaks a relation of up to three claims."""
    signed = list(literals(some, size))
    for both in signed:
        yield from ((frozenset(own), p) for bits, p, own in both if not bits)
    loose = [both for both in signed if both[0][0] and both[1][0]]
    for pair in itertools.combinations(loose, 2):
        for a, b in itertools.product(*pair):
            if not a[0] & b[0]:
                yield frozenset(a[2] + b[2]), a[1] + b[1] - 1
    for three in itertools.combinations(loose, 3):
        for a, b, c in itertools.product(*three):
            meets = bool(a[0] & b[0]) + bool(a[0] & c[0]) + bool(b[0] & c[0])
            if meets == 0 or (meets == 3 and not a[0] & b[0] & c[0]):
                yield frozenset(a[2] + b[2] + c[2]), a[1] + b[1] + c[1] - (2 if meets else 1)


def sum_excesses(some, size):
    """The same for P(A) + P(B) = P(A & B) + P(A | B)."""
    loose = [both for both in literals(some, size) if both[0][0] and both[1][0]]
    numbered = [(i, *both[k], 1 - both[1 - k][1]) for i, both in enumerate(loose) for k in (0, 1)]
    by_worlds = {}
    for one in numbered:
        by_worlds.setdefault(one[1], []).append(one)
    for a, b in itertools.combinations(numbered, 2):
        for c, d in itertools.product(by_worlds.get(a[1] & b[1], ()), by_worlds.get(a[1] | b[1], ())):
            if len({a[0], b[0], c[0], d[0]}) == 4:
                own = frozenset(a[3] + b[3] + c[3] + d[3])
                yield own, max(a[2] + b[2] - c[4] - d[4], c[2] + d[2] - a[4] - b[4])


def by_brute_force(sheet, low, high, tolerance):
    """The irreducible sets of forecasts, each with its greatest excess; those of sums only; and what sums exceed."""
    best, sums = {}, {}
    for some in claims(sheet, low, high):
        size = len(some[0][0]) if some else 0
        for found, every in ((best, excesses(some, size)), (sums, sum_excesses(some, size))):
            for own, over in every:
                if over > tolerance:
                    found[own] = max(over, found.get(own, 0.0))
    small = {own: over for own, over in best.items() if not any(part < own for part in best)}
    both = best.keys() | sums.keys()
    rest = {own for own in sums if own not in best and not any(part < own for part in both)}
    return small, rest, sums


def check_relations(seed, count):
    """Hold the finder's relations of so many random sheets against brute force."""
    for number in range(seed * count, (seed + 1) * count):
        sheet, value = random_sheet(number)
        answers = on_sheet(sheet.setting, answers_of(sheet, value))
        found, sums = {}, set()
        for piece in answers.pieces():
            own = broken_relations(piece.scopes, answers.value[piece.items], (), GRACE, Budget())
            assert own.finished
            found |= {frozenset(piece.items[list(one.forecasts)].tolist()): one.violation for one in own.found}
            sums |= {frozenset(piece.items[list(one.forecasts)].tolist()) for one in own.sums}
        small, rest, _ = by_brute_force(sheet, value, value, GRACE)
        assert found.keys() == small.keys(), (number, sheet.setting, value)
        assert all(abs(found[own] - small[own]) < FINE for own in small)
        assert sums == rest, (number, sheet.setting, value)


def check_violated(seed, count):
    """Hold the relations that a check finds among the forecasts of random sheets against brute force."""
    chance = random.Random(seed)
    for number in (chance.randrange(10**6) for _ in range(count)):
        sheet, value = distinct(*random_sheet(number))
        ends = np.sort([value, np.clip(value + chance.choice((0.0, 0.2)) * chance.random(), 0.0, 1.0)], axis=0)
        quotes = zip(sheet.items, *ends.tolist(), strict=True)
        rows = [{"judge": "Ann", "event": item.event, "lower": a, "upper": b} for item, a, b in quotes]
        bets = bets_at_forecasts(co.Panel.from_records(rows, laws=sheet.laws))
        found = violated(bets, np.arange(len(bets)), budget=Budget(), shares=True)
        mine = {frozenset(one.forecasts): one.violation for one in found}
        small, rest, excess = by_brute_force(sheet, *ends, FINE)
        least = {own: over for own, over in mine.items() if not any(part < own for part in mine)}
        assert least.keys() == small.keys() | rest, (number, sheet.setting, value)
        # The same forecasts may break a sum by more: then that is named.
        assert all(abs(least[own] - max(over, excess.get(own, 0.0))) < FINE for own, over in small.items())
