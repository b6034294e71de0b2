"""What to ask next, by brute force over all worlds: other programs, another integral, another least square."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import coherently as co

NAMES = ("a", "b", "c")
EVENTS = ("a", "b", "c", "a & b", "b | c", "a -> c", "a ^ b", "a & b & c", "~b & c", "exactly(1; a, b, c)")
LAWS = ((), ("a -> b",), ("~(a & b)",), ("a | b | c",))


def truth(texts, laws=()):
    """The truth of texts, one row each, in every world of three variables that obeys the laws."""
    panel = co.Panel.from_records([("x", text, 0.5) for text in dict.fromkeys((*texts, *laws, *NAMES))])
    events = panel.events
    order = [events.variables.index(name) for name in NAMES]
    worlds = np.zeros((8, 3), bool)
    worlds[:, order] = list(product((False, True), repeat=3))
    sides = events.find([*texts, *laws]).event
    held = events.evaluate(sides, worlds)
    return held[held[:, len(texts) :].all(axis=1), : len(texts)].T.astype(float)


def ends(rows, values, aim, extra=()):
    """The least and the greatest of an event over all distributions with these probabilities."""
    matrix = np.vstack([rows, np.ones(rows.shape[1]), *[row for row, _ in extra]])
    right = np.array([*values, 1.0, *[value for _, value in extra]])
    found = []
    for sign in (1, -1):
        done = linprog(sign * aim, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs-ds")
        if done.status != 0:
            return None
        found.append(sign * done.fun)
    return found


def width(rows, values, aim, extra=()):
    found = ends(rows, values, aim, extra)
    return 0.0 if found is None else max(0.0, found[1] - found[0])


def integral(function, low, high, at_low, at_high, depth=0):
    """Of a concave function that is linear in pieces: where the middle lies on the chord, all of it does."""
    middle = 0.5 * (low + high)
    value = function(middle)
    if abs(value - 0.5 * (at_low + at_high)) < 1e-9 or depth > 12:
        return (high - low) * (at_low + 2 * value + at_high) / 4
    return integral(function, low, middle, at_low, value, depth + 1) + integral(
        function, middle, high, value, at_high, depth + 1
    )


def expected_gain(rows, values, candidate, target):
    low, high = ends(rows, values, candidate)
    if high - low < 1e-5:
        return None
    inside = 1e-7 * (high - low)  # at the ends themselves a program may be infeasible by rounding

    def section(c):
        return width(rows, values, target, [(candidate, c)])

    a, b = low + inside, high - inside
    mean = integral(section, a, b, section(a), section(b)) / (b - a)
    return width(rows, values, target) - mean


def drawn(rng, most):
    """Some events, laws over them, and numbers between 0 and 1 with two digits."""
    laws = LAWS[rng.integers(len(LAWS))]
    texts = rng.permutation(EVENTS).tolist()
    count = int(rng.integers(1, most + 1))
    return laws, texts[:count], texts[count:], rng.integers(1, 100, count) / 100


def answer(panel, asked):
    result = co.aggregate(panel, "exact", tolerance=1e-12)
    return np.array([result.probability(text) for text in asked])


def check_widths(seed, count):
    """Compare gains about one event with brute force; the largest difference."""
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(count):
        laws, asked, others, given = drawn(rng, 4)
        panel = co.Panel.from_records([("x", *row) for row in zip(asked, given.tolist(), strict=True)], laws=list(laws))
        target, *candidates = others[:4]
        values, rows = answer(panel, asked), truth([*asked, target, *candidates], laws)
        known, aim, places = rows[: len(asked)], rows[len(asked)], rows[len(asked) + 1 :]
        if values[0] > 0.01:  # the first event is known, so that conditionals on it are events on another scale
            places = np.vstack([places, places * rows[0] / values[0]])
            candidates += [f"({text}) given ({asked[0]})" for text in candidates]
            if rng.random() < 0.3:
                aim, target = aim * rows[0] / values[0], f"({target}) given ({asked[0]})"
        found = co.ask_next(panel, 10, about=target, candidates=candidates)
        assert found.open == pytest.approx(width(known, values, aim), abs=1e-5)
        gains = {one.event: one.gain for one in found.questions}
        order = [round(one.gain, 9) for one in found.questions]  # what differs by less is a tie
        assert order == sorted(order, reverse=True)
        for text, place in zip(candidates, places, strict=True):
            expected = expected_gain(known, values, place, aim)
            same = (place == aim).all() or (place == 1 - aim).all()
            if expected is not None and not same:
                worst = max(worst, abs(gains.get(text, 0.0) - expected))
                assert gains.get(text, 0.0) == pytest.approx(expected, abs=2e-4), (asked, given, laws, target, text)
    return worst


def least_square(rows, values):
    """The squared distance from the nearest coherent numbers, over all worlds."""
    if not len(values):
        return 0.0
    heavy = 1e4
    matrix = np.vstack([rows, np.full(rows.shape[1], heavy)])
    return nnls(matrix, np.append(values, heavy))[1] ** 2


def check_contradictions(seed, count):
    """Compare what asking again removes with brute force; the largest difference."""
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(count):
        laws, asked, _, values = drawn(rng, 6)
        pairs = [(judge, *row) for judge in "xy" for row in zip(asked, values.tolist(), strict=True)]
        found = co.ask_next(co.Panel.from_records(pairs, laws=list(laws)), 20, about="contradictions")
        rows = truth(asked, laws)
        whole = least_square(rows, values)
        assert found.open == pytest.approx(whole, abs=1e-5)
        gains = {one.event: one.gain for one in found.questions}
        for i, text in enumerate(asked):
            rest = np.delete(np.arange(len(asked)), i)
            expected = whole - least_square(rows[rest], values[rest])
            worst = max(worst, abs(gains.get(text, 0.0) - expected))
            assert gains.get(text, 0.0) == pytest.approx(expected, abs=1e-5), (asked, values, laws)
    return worst
