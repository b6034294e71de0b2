"""Programs in the compiled core, in blocks and by HiGHS agree with each other."""

import random

import numpy as np
import pytest

from coherently import _core
from coherently.explain.fit.answer_sheet import on_sheet
from coherently.explain.fit.least_change import least_change
from coherently.explain.fit.linked_bounds import LinkedBounds
from coherently.explain.fit.mixture_program import MixtureProgram
from coherently.explain.fit.nearest_answers import mended, nearest_in_few_worlds
from coherently.explain.fit.piece_check import looked_at
from coherently.explain.fit.pieces import SheetPiece
from coherently.explain.fit.small_program import LOOSE, bounds_on_face
from coherently.explain.fit.sparse_program import SparseProgram
from coherently.explain.judge_sheet import Answered, Item, SheetSetting
from coherently.explain.relations.scope_relations import FreshRelations
from coherently.solve import Budget
from tests.explain.judge_sheet.sheet_examples import Brute, answers_of


def same(ends, others, within=2e-7):
    assert len(ends) == len(others)
    for one, other in zip(ends, others, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one == pytest.approx(other, abs=within)


def pieces_with(sheet, value):
    answers = on_sheet(sheet.setting, answers_of(sheet, value))
    return [(piece, answers.value[piece.items]) for piece in answers.pieces() if piece.columns is not None]


def agree(piece: SheetPiece, value, slack=0.0):
    """The program of a piece says what HiGHS says."""
    active, items = ~np.isnan(value), list(range(len(piece)))
    program, sparse = MixtureProgram(piece), SparseProgram(piece)
    others = np.vstack([value, np.clip(value + 0.01, 0, 1), np.round(value, 1)])
    found = program.misses(others, active)
    assert found == pytest.approx(sparse.misses(others, active), abs=1e-7)
    if found[0] <= 1e-9 or slack:
        same(program.bounds(items, value, active, slack), sparse.bounds(items, value, active, slack))
    return found[0]


@pytest.mark.parametrize("seed", range(60))
def test_small_programs_say_what_highs_says(seed):
    sheet = Brute(seed, conditionals=seed % 4, laws=seed % 3)
    for value in (sheet.coherent(), np.array([round(sheet.chance.random(), 2) for _ in sheet.items])):
        for piece, own in pieces_with(sheet, value):
            own[np.array([sheet.chance.random() < 0.3 for _ in own])] = np.nan
            agree(piece, own)
            agree(piece, own, slack=0.02)


def test_the_first_that_fits_ends_the_search():
    sheet = Brute(3, conditionals=1)
    piece, value = pieces_with(sheet, sheet.coherent())[0]
    values = np.vstack([1.0 - value, value, value])
    found = MixtureProgram(piece).misses(values, ~np.isnan(value), 0.001)
    assert found[0] > 0.001
    assert found[1] <= 0.001
    assert np.isnan(found[2])


def chain(seed, *, conditionals, pins):
    """A sheet about a tree of variables, and answers that some mixture of worlds gives."""
    chance = random.Random(seed)
    n = chance.randint(60, 75)
    links = [(max(0, i - chance.randint(1, 2)), i) for i in range(1, n)]
    shapes = ["a{0} & a{1}", "a{0} | a{1}", "a{0} & ~a{1}", *["a{0} given a{1}"] * conditionals]
    texts = [chance.choice(shapes).format(*link) for link in links]
    texts += [f"a{i}" for i in range(n) if chance.random() < 0.3]
    texts += [f"a{i} & a{i + 1} & a{i + 2}" for i in range(0, n - 2, 7)]  # blocks of more than one clique
    worlds = np.array([[chance.random() < 0.5 for _ in range(n)] for _ in range(9)])
    share = np.array([chance.expovariate(1.0) for _ in worlds])
    share /= share.sum()

    def truth(text):
        names = {f"a{i}": worlds[:, i] for i in range(n)}
        return np.asarray(eval(text, {}, names), bool)

    value = []
    for text in texts:
        event, _, condition = text.partition(" given ")
        given = truth(condition) if condition else np.ones(len(worlds), bool)
        value.append(share @ (truth(event) & given) / (share @ given) if share @ given > 0.01 else np.nan)
    laws = [f"P(a{i}) <= {min(1.0, share @ worlds[:, i] + 0.05):.6f}" for i in range(pins)]
    items = tuple(Item(f"e{i}", text, text, i) for i, text in enumerate(texts))
    given = [Answered(item.id, float(one)) for item, one in zip(items, value, strict=True) if not np.isnan(one)]
    answers = on_sheet(SheetSetting(items, tuple(laws)), given)
    return max(((piece, answers.value[piece.items]) for piece in answers.pieces()), key=lambda one: len(one[0]))


@pytest.mark.parametrize("seed", range(8))
def test_bounds_in_blocks_are_those_of_the_whole(seed):
    piece, value = chain(seed, conditionals=seed % 3, pins=seed % 4)
    assert len(piece.blocks) > 10
    assert max(len(block.columns.ties) for block in piece.blocks) > 0
    active = ~np.isnan(value)
    active &= np.random.default_rng(seed).random(len(value)) < 0.8  # so that bands have a width
    items = np.random.default_rng(seed).choice(len(piece), 25, replace=False).tolist()
    ends = LinkedBounds(piece, value, active, LOOSE).bounds(items)
    same(ends, SparseProgram(piece).bounds(items, value, active, LOOSE), 5e-6)
    assert max(end.high - end.low for end in ends) > 0.05
    same(MixtureProgram(piece).bounds(items, value, active, LOOSE), ends, 1e-12)


def test_answers_that_do_not_fit_have_no_bounds_in_blocks():
    piece, value = chain(0, conditionals=0, pins=0)
    active = ~np.isnan(value)
    value[next(block.items for block in piece.blocks if active[block.items].any())] = 1.7
    assert LinkedBounds(piece, value, active, 0.0).bounds([0]) is None
    assert MixtureProgram(piece).bounds([0], value, active, 0.0) == [None]


@pytest.mark.parametrize("seed", range(24))
def test_changes_that_break_something_fresh_are_those_that_are_refused(seed, monkeypatch):
    sheet = Brute(seed, conditionals=seed % 3, laws=seed % 2)
    value = np.clip(np.round(sheet.coherent(), 2), 0, 1)
    value[[1, 4]] = [round(sheet.chance.random(), 2) for _ in range(2)]

    def changes():
        checks = looked_at(on_sheet(sheet.setting, answers_of(sheet, value)), frozenset(), Budget())
        return [(check.key(one), least_change(check, one)) for check in checks for one in check.misfits]

    found = changes()
    monkeypatch.setattr(FreshRelations, "fits_at", lambda *_: False)
    assert changes() == found
    monkeypatch.setattr(FreshRelations, "broken_at", lambda _, values, *__: np.zeros(len(values), bool))
    assert changes() == found


def test_bounds_on_a_face():
    truth = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], bool)
    near = truth.T @ np.array([0.2, 0.3, 0.1, 0.4])
    only = np.array([True, False, False])
    assert bounds_on_face(truth, only, 1, near) == pytest.approx((0.0, 1.0), abs=1e-6)
    every = np.ones(3, bool)
    assert bounds_on_face(truth, every, 1, near) == pytest.approx((0.1, 0.9), abs=1e-6)  # the others are .5 and .4


def test_the_core_refuses_arrays_that_do_not_fit():
    truth, none = np.ones((2, 3), np.uint8), np.ones((2, 0), np.uint8)
    made = (truth, truth, np.zeros(3, np.uint8), none, none, np.zeros(0), np.zeros(0), np.ones(2, np.uint8))
    program = _core.Answers(*made, np.zeros((0, 2)))
    with pytest.raises(ValueError, match="differ"):
        _core.Answers(*made, np.zeros((0, 3)))
    with pytest.raises(ValueError, match="differ"):
        program.misses(np.ones((1, 2)), np.ones(3, np.uint8), 0.0)
    with pytest.raises(IndexError):
        program.bounds(np.ones(3), np.ones(3, np.uint8), 0.0, np.array([3]))
    with pytest.raises(ValueError, match="no world"):
        _core.Hull(np.ones((0, 2), np.uint8))
    with pytest.raises(IndexError):
        _core.Hull(truth).nearest(np.ones(3), np.ones(3, np.uint8), np.array([2]), np.ones(1))


@pytest.mark.parametrize("seed", range(60))
def test_the_nearest_answers_in_few_worlds_are_those_of_the_exact_solver(seed):
    sheet = Brute(seed, conditionals=seed % 4, laws=seed % 2)
    value = np.array([round(sheet.chance.random(), 2) for _ in sheet.items])
    answers = on_sheet(sheet.setting, answers_of(sheet, value))
    for piece in answers.pieces():
        own, active = answers.value[piece.items], np.random.default_rng(seed).random(len(piece)) < 0.8
        near = nearest_in_few_worlds(piece, own, active)
        exact = mended(answers.sheet, piece.items, own, active, budget=Budget())
        if near is not None:
            assert near[active] == pytest.approx(exact[active], abs=2e-5)
        else:
            assert piece.conditional.any() or len(piece.columns.ties)


def test_few_worlds_are_left_to_the_exact_solver_where_a_law_pins_a_probability():
    setting = SheetSetting((Item("p", "p", "p", 1), Item("pq", "p & q", "p & q", 2)), ("P(p) = 0.3",))
    answers = on_sheet(setting, [Answered("p", 0.6), Answered("pq", 0.5)])
    (piece,) = answers.pieces()
    assert nearest_in_few_worlds(piece, answers.value, np.ones(2, bool)) is None


@pytest.mark.parametrize("seed", range(25))
def test_a_least_change_breaks_nothing_that_was_whole(seed):
    """After the change of one contradiction, only others that were told before are left."""
    chance = np.random.default_rng(seed)
    a, b = chance.uniform(0.1, 0.9, 2)
    texts = ("a", "b", "a & b", "a | b", "b given a")
    value = np.round([a, b, a * b, a + b - a * b, b], 2)
    value[chance.choice(5, 2, replace=False)] = np.round(chance.random(2), 2)
    setting = SheetSetting(tuple(Item(text, text, text, i) for i, text in enumerate(texts)))
    given = [Answered(text, float(one)) for text, one in zip(texts, value, strict=True)]
    (check,) = looked_at(on_sheet(setting, given), frozenset(), Budget())
    before = {check.key(one) for one in check.simple}
    for misfit in check.misfits:
        change = least_change(check, misfit)
        new = {one.event: one.new for one in change.changes}
        after = check.at(np.array([new.get(text, one) for text, one in zip(texts, value, strict=True)]))
        left = {after.key(one) for one in after.simple}
        assert not new or left <= before - {check.key(misfit)}
