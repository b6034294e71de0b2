"""Sheets to try, and what brute force over all worlds says of them."""

import itertools
import random

import numpy as np
from scipy.optimize import linprog

from coherently.explain.judge_sheet import Answered, Item, SheetSetting

GRACE = 0.005
LAWS = (
    "variable inflation: low, mid, high, top",
    "variable missed: date",
    "stop -> missed <= 2027-12-31",
    "insolvency -> missed <= 2027-12-31",
)
ITEMS = (
    Item("recession", "recession", "a recession", 1),
    Item("cut", "cut", "a rate cut", 2),
    Item("both", "recession & cut", "a recession and a rate cut", 3),
    Item("inf1", "inflation = low", "under 1.5 %", 4, "inflation"),
    Item("inf2", "inflation = mid", "1.5 to 2.5 %", 4, "inflation"),
    Item("inf3", "inflation = high", "2.5 to 3.5 %", 4, "inflation"),
    Item("inf4", "inflation = top", "3.5 % or more", 4, "inflation"),
    Item("t1", "missed <= 2027-03-31", "by 31 March", 5, "a missed delivery"),
    Item("t2", "missed <= 2027-06-30", "by 30 June", 5, "a missed delivery"),
    Item("t3", "missed <= 2027-09-30", "by 30 September", 5, "a missed delivery"),
    Item("t4", "missed <= 2027-12-31", "by 31 December", 5, "a missed delivery"),
    Item("ins", "insolvency", "an insolvency", 6),
    Item("rins", "recession & insolvency", "a recession and an insolvency", 7),
    Item("gins", "insolvency given recession", "an insolvency if there is a recession", 8),
    Item("stop", "stop", "a stop", 9),
)
NORVIK = SheetSetting(ITEMS, LAWS)
ALICE = dict(recession=30, cut=55, both=36, inf1=12, inf2=48, inf3=28, t1=12, t2=30, t3=44, t4=55, ins=25, stop=60)  # noqa: C408


def answered(per_cents, locked=(), abstained=()):
    told = [Answered(event, value / 100, locked=event in locked) for event, value in per_cents.items()]
    return [*told, *(Answered(event, None, abstained=True) for event in abstained)]


VARIABLES = ("p", "q", "r", "s")
SHAPES = (
    ("{a}", lambda a, *_: a),
    ("~{a}", lambda a, *_: not a),
    ("{a} & {b}", lambda a, b, _: a and b),
    ("{a} | {b}", lambda a, b, _: a or b),
    ("{a} & ~{b}", lambda a, b, _: a and not b),
    ("{a} ^ {b}", lambda a, b, _: a != b),
    ("{a} & {b} & {c}", lambda a, b, c: a and b and c),
    ("({a} | {b}) & {c}", lambda a, b, c: (a or b) and c),
)


class Brute:
    """A random sheet about four variables, whose worlds are listed here, without the library."""

    def __init__(self, seed, *, conditionals=1, laws=0):
        self.chance = random.Random(seed)
        self.worlds = list(itertools.product((False, True), repeat=len(VARIABLES)))
        self.laws = []
        for _ in range(laws):
            text, truth = self.event()
            kept = [w for w, t in zip(self.worlds, truth, strict=True) if t]
            if kept:
                self.laws.append(text)
                self.worlds = kept
        self.items, self.joint, self.given = [], [], []
        texts, tries = set(), 0
        while len(self.items) < 7:
            tries += 1
            text, truth = self.event()
            condition = np.ones(len(self.worlds), bool)
            if len(self.items) >= 7 - conditionals and tries < 200:  # few worlds may settle every conditional
                other, condition = self.event()
                text, truth = f"({text}) given ({other})", truth & condition
                if len(set(truth[condition])) < 2:  # logic settles it
                    continue
            if text in texts:
                continue
            texts.add(text)
            number = len(self.items) + 1
            self.items.append(Item(f"e{number}", text, f"event {number}", number))
            self.joint.append(truth)
            self.given.append(condition)
        self.joint, self.given = np.array(self.joint, float), np.array(self.given, float)
        self.setting = SheetSetting(tuple(self.items), tuple(self.laws))

    def event(self):
        names = self.chance.sample(range(len(VARIABLES)), 3)
        text, function = self.chance.choice(SHAPES)
        a, b, c = (VARIABLES[i] for i in names)
        truth = np.array([function(*(w[i] for i in names)) for w in self.worlds], bool)
        return text.format(a=a, b=b, c=c), truth

    def coherent(self):
        """Answers that some mixture of worlds gives."""
        share = np.array([self.chance.expovariate(1.0) for _ in self.worlds])
        share /= share.sum()
        return self.joint @ share / np.maximum(self.given @ share, 1e-300)

    def miss(self, value, some):
        """The least sum of misses of some answers."""
        rows = self.joint[some] - value[some, None] * self.given[some]
        count = len(some)
        matrix = np.vstack(
            [np.hstack([rows, np.eye(count), -np.eye(count)]), [1.0] * len(self.worlds) + [0.0] * 2 * count]
        )
        cost = np.concatenate([np.zeros(len(self.worlds)), np.ones(2 * count)])
        found = linprog(cost, A_eq=matrix, b_eq=np.append(np.zeros(count), 1.0), method="highs")
        return found.fun

    def band(self, value, item):
        """What all other answers, which must be coherent, allow for an item; None if its condition is impossible."""
        others = [i for i in range(len(self.items)) if i != item and not np.isnan(value[i])]
        rows = self.joint[others] - value[others, None] * self.given[others]
        matrix, right = np.vstack([rows, self.given[item]]), np.append(np.zeros(len(others)), 1.0)
        ends = [linprog(sign * self.joint[item], A_eq=matrix, b_eq=right, method="highs") for sign in (1, -1)]
        return None if ends[0].status else (ends[0].fun, -ends[1].fun)

    def is_conditional(self, item):
        return not self.given[item].all()


def answers_of(sheet, value, locked=()):
    """The answers of a random sheet."""
    return [
        Answered(item.id, float(v), locked=i in locked)
        for i, (item, v) in enumerate(zip(sheet.items, value, strict=True))
    ]
