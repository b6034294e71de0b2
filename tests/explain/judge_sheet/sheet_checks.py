"""Random sheets against all worlds: feedback that is finished misses no contradiction, and makes none up.

The reference lists the worlds of a sheet by evaluating its formulas in Python, and asks a linear program whether some
mixture of them gives the answers, each within a tolerance. It shares nothing with the desk but the numbers.
"""

import itertools
import random

import numpy as np
from scipy.optimize import linprog

from coherently.explain.judge_sheet import Answered, AnswerState, Item, SheetSetting, feedback

NAMES = "abcde"
LEAST = 1e-3
NEAR, ROUGH = 1e-7, 0.0052
"""Tolerances of an answer: none, and a little more than the half per cent that counts as fitting."""


def formula(rng, names, depth=2):
    """A formula, and the same in Python."""
    kind = rng.choice(["name", "not", "and", "or", "and", "or"]) if depth else "name"
    if kind == "name":
        name = rng.choice(names)
        return name, name
    if kind == "not":
        text, code = formula(rng, names, depth - 1)
        return f"~({text})", f"(not ({code}))"
    (one, first), (two, second) = (formula(rng, names, depth - 1) for _ in range(2))
    sign = "&" if kind == "and" else "|"
    return f"({one}) {sign} ({two})", f"(({first}) {kind} ({second}))"


class RandomSheet:
    """Events, some conditional, a law or none, and answers: near coherent ones, or anything."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        names = NAMES[: rng.randint(2, 5)]
        laws = [formula(rng, names, 1) for _ in range(rng.choice([0, 0, 1]))]
        worlds = [
            dict(zip(names, values, strict=True)) for values in itertools.product([False, True], repeat=len(names))
        ]
        self.worlds = [world for world in worlds if all(_truth(law, world) for _, law in laws)]
        self.laws = tuple(text for text, _ in laws)
        self.events, texts = [], set()
        for _ in range(rng.randint(2, 9)):
            event, condition = formula(rng, names), formula(rng, names, 1) if rng.random() < 0.2 else None
            text = event[0] if condition is None else f"({event[0]}) given ({condition[0]})"
            if text not in texts and (condition is None or self._holds(condition[1]).any()):
                texts.add(text)
                self.events.append((text, event[1], None if condition is None else condition[1]))
        self.items = tuple(Item(f"e{i}", text, f"event {i}", i + 1) for i, (text, *_) in enumerate(self.events))
        self.answers = self._answers() if self.worlds else []

    def _holds(self, code):
        return np.array([_truth(code, world) for world in self.worlds], bool)

    def _answers(self):
        """Those of a random mixture in whole per cents, of which a few slip."""
        shares = np.random.default_rng(self.rng.randrange(2**32)).dirichlet(np.full(len(self.worlds), 0.5))
        slips, found = self.rng.choice([0.0, 0.2, 0.5, 1.0]), []
        for _, event, condition in self.events:
            given = np.ones(len(self.worlds), bool) if condition is None else self._holds(condition)
            total = float(shares[given].sum())
            value = float(shares[given & self._holds(event)].sum()) / total if total > 1e-9 else 0.5
            found.append(round(self.rng.random() if self.rng.random() < slips else value, 2))
        return found

    def is_possible(self, chosen, tolerance, least=0.0):
        """Whether some mixture of worlds gives the chosen answers within a tolerance.

        Every condition has the probability `least` at least: one that never holds would allow any answer.
        """
        rows, limits = [], []
        for i in chosen:
            _, event, condition = self.events[i]
            given = np.ones(len(self.worlds), bool) if condition is None else self._holds(condition)
            both, value = given & self._holds(event), self.answers[i]
            rows += [both - (value + tolerance) * given, (value - tolerance) * given - both, -1.0 * given]
            limits += [0.0, 0.0, -least]
        ones = np.ones((1, len(self.worlds)))
        told = linprog(
            np.zeros(len(self.worlds)), np.array(rows, float).reshape(-1, len(self.worlds)), limits, ones, [1.0]
        )
        assert told.status in (0, 2), told.message
        return told.status == 0


def _truth(code, world):
    return bool(eval(code, {"__builtins__": {}}, world))


def check_sheets(seed, count):
    """Returns how many sheets contradict themselves."""
    contradict = 0
    for number in range(count):
        sheet = RandomSheet(seed * 100_003 + number)
        if not sheet.answers:
            continue
        told = feedback(
            SheetSetting(sheet.items, sheet.laws),
            [Answered(item.id, value) for item, value in zip(sheet.items, sheet.answers, strict=True)],
            time_limit=600.0,
        )
        assert told.finished
        places = {item.id: place for place, item in enumerate(sheet.items)}
        fits = [places[event] for event, state in told.states.items() if state is AnswerState.FITS]
        assert set(told.states.values()) <= {AnswerState.FITS, AnswerState.CONTRADICTS}, (sheet.events, told.states)
        assert sheet.is_possible(fits, ROUGH), ("missing", seed, number, sheet.events, sheet.laws, sheet.answers)
        for clash in told.contradictions:
            own = [places[event] for event in clash.events]
            assert not sheet.is_possible(own, NEAR, LEAST), ("made up", seed, number, clash.sentence, sheet.answers)
        contradict += bool(told.contradictions)
    return contradict
