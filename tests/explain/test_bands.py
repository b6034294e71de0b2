"""Bands by worlds and by the exact solver agree; the nearest mixture is no farther than any other."""

import numpy as np
import pytest
from scipy.optimize import nnls

from coherently import _core
from coherently.explain.fit.hull_point import nearest_in_hull
from coherently.explain.fit.piece_check import PieceCheck, looked_at
from coherently.explain.judge_sheet.live_feedback import on_sheet
from coherently.solve import Budget
from tests.explain.judge_sheet.sheet_examples import Brute, answers_of

HEAVY = 1e4


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_mixture(seed):
    chance = np.random.default_rng(seed)
    size = int(chance.integers(2, 12))
    truth = chance.integers(0, 2, (int(chance.integers(1, 60)), size)).astype(np.uint8)
    hull, target, every = _core.Hull(truth), chance.random(size), np.ones(size, np.bool_)
    found = nearest_in_hull(hull, target, every)
    assert found.share.min() > 0
    assert found.share.sum() == pytest.approx(1)
    points = truth - target
    mixed = found.share @ points[found.worlds]
    assert np.all(points @ mixed >= mixed @ mixed - 1e-9)
    share, _ = nnls(np.vstack([points.T, np.full(len(points), HEAVY)]), np.append(np.zeros(size), HEAVY))
    assert mixed @ mixed == pytest.approx(np.sum((share @ points / share.sum()) ** 2), abs=1e-6)
    assert set(found.worlds.tolist()) <= set(found.face.tolist())
    fewer = every.copy()
    fewer[0] = False
    again = nearest_in_hull(hull, target, fewer, found)
    alone = nearest_in_hull(hull, target, fewer)
    assert (again.share @ truth[again.worlds])[1:] == pytest.approx((alone.share @ truth[alone.worlds])[1:], abs=1e-6)


def bands_of(sheet, value):
    answers = on_sheet(sheet.setting, answers_of(sheet, value))
    return [band for check in looked_at(answers, frozenset(), Budget()) for band in check.bands()]


@pytest.mark.parametrize("seed", range(25))
def test_bands_by_worlds_are_those_of_the_exact_solver(seed, monkeypatch):
    sheet = Brute(seed, conditionals=0, laws=seed % 2)
    value = np.array([round(sheet.chance.random(), 2) for _ in sheet.items])
    by_worlds = bands_of(sheet, value)
    monkeypatch.setattr(PieceCheck, "_nearest_in_worlds", lambda *_: None)
    exact = bands_of(sheet, value)
    assert len(by_worlds) == len(sheet.items)
    for one, other in zip(by_worlds, exact, strict=True):
        assert (one.event, one.fits, one.mended) == (other.event, other.fits, other.mended)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=2e-4)
