"""What a check says for people, held against the sheet in the workbench and against programs over all worlds."""

import numpy as np
import pytest

import coherently as co
from coherently.explain.judge_sheet import feedback
from tests.explain.judge_sheet.sheet_examples import GRACE, answers_of
from tests.explain.relation_checks import distinct, random_sheet

PLENTY = 60.0
CLOSE = 1e-6


def finding_of(sheet, value):
    rows = [("Ann", item.event, float(v)) for item, v in zip(sheet.items, value, strict=True)]
    labels = {item.event: item.title for item in sheet.items}
    return co.check(co.Panel.from_records(rows, laws=sheet.laws, labels=labels)).judges["Ann"]


def check_explanations(seed, count):
    """Hold the people's sentences, bands and repairs of so many random sheets against the sheet and brute force."""
    for number in range(seed * count, (seed + 1) * count):
        sheet, value = distinct(*random_sheet(number))  # a panel names events that mean the same by the first text
        try:
            check_explanation(sheet, value)
        except Exception as error:
            error.add_note(f"sheet {number}: {[item.event for item in sheet.items]} under {sheet.laws}: {value}")
            raise


def check_explanation(sheet, value):
    found = finding_of(sheet, value)
    told = feedback(sheet.setting, answers_of(sheet, value), time_limit=PLENTY)
    assert found.sentences("people") == tuple(clash.sentence for clash in told.contradictions)
    assert found.unchecked == ()
    event = {item.id: item.event for item in sheet.items}
    mine = [(band.event, band.fits, band.mended) for band in found.bands]
    assert mine == [(event[band.event], band.fits, band.mended) for band in told.bands]
    ends = [(band.low, band.high) for band in found.bands]
    assert ends == pytest.approx(np.array([(band.low, band.high) for band in told.bands]), abs=CLOSE)
    check_repair(sheet, value, found)


def check_repair(sheet, value, found):
    """The exact change is coherent and as far as the distance says; whole per cents fit to half a per cent."""
    number = {item.event: i for i, item in enumerate(sheet.items)}
    new, whole = value.copy(), value.copy()
    for change in found.repair.changes:
        assert change.old == value[number[change.event]]
        new[number[change.event]] = change.new
    every = list(range(len(value)))
    if not any(map(sheet.is_conditional, every)):
        assert sheet.miss(new, every) <= CLOSE
        assert np.linalg.norm(new - value) == pytest.approx(found.distance, abs=CLOSE)
    if found.repair.whole is None:
        assert found.repair.stuck
        return
    for change in found.repair.whole:
        whole[number[change.event]] = change.new
        assert round(100 * change.new) == pytest.approx(100 * change.new, abs=1e-9)
    assert sheet.miss(whole, every) <= GRACE + 1e-8
    assert finding_of(sheet, whole).sentences("people") == ()
