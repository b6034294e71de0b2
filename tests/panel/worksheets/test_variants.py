"""Every variant of one table gives the same panel, without a change to the file."""

import pytest

import coherently as co
from coherently.web.operations.imports import read_table_bytes
from tests.panel.worksheets.spreadsheets import EVENTS, FORECASTS, variants

VARIANTS = dict(variants())


def spoken(panel):
    """The forecasts of a panel by judge and by what people wrote."""
    titles = [panel.labels.get(text, text) for text in panel.written.text]
    rows = zip(panel.judge_index.tolist(), panel.event_index.tolist(), panel.probability.tolist(), strict=True)
    return {(panel.judges[judge], titles[event]): value for judge, event, value in rows}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_read_as_it_is(tmp_path, name):
    (tmp_path / name).write_bytes(VARIANTS[name])
    panel = co.read_panel(tmp_path / name)
    found = spoken(panel)
    assert found.keys() == FORECASTS.keys()
    assert all(found[key] == pytest.approx(share, abs=1e-9) for key, share in FORECASTS.items())
    assert panel.events.variables == list(EVENTS[:2])
    assert panel.reading is not None


@pytest.mark.parametrize("name", VARIANTS)
def test_the_workbench_reads_the_same(tmp_path, name):
    (tmp_path / name).write_bytes(VARIANTS[name])
    panel = co.read_panel(tmp_path / name)
    table = read_table_bytes(VARIANTS[name], name, {}, 10.0)
    found = {(table.judges[judge], table.titles[event]): value for judge, event, value in table.rows}
    assert (found, table.events, table.notes) == (spoken(panel), tuple(panel.written.text), panel.notes)


def test_there_are_fifty_variants():
    assert len(VARIANTS) >= 50


def test_the_contradictions_of_the_table_are_found(tmp_path):
    (tmp_path / "risks.xlsx").write_bytes(VARIANTS["workbook.xlsx"])
    found = co.check(co.read_panel(tmp_path / "risks.xlsx"))
    assert {name: bool(judge.coherent) for name, judge in found.judges.items()} == {
        "Alice": False,
        "Bob": True,
        "Chris": True,
    }
