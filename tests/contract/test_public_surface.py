"""Nothing public changes by accident."""

import re

import coherently as co
from tests.contract.public_surface import LIST, lines


def test_what_is_public_is_as_listed():
    listed, found = LIST.read_text("utf-8").splitlines(), lines()
    gone, new = [each for each in listed if each not in found], [each for each in found if each not in listed]
    assert (gone, new) == ([], []), "read docs/reference/stability.md, then `python -m tests.contract.public_surface`"
    assert listed == found


def test_the_list_has_every_section():
    text = LIST.read_text("utf-8")
    for expected in (
        "co.aggregate(panel",
        "co.Result.bounds(",
        "coherently check ",
        "exit codes: ",
        "record ",
        "GET /panels",
    ):
        assert re.search(rf"^{re.escape(expected)}", text, re.MULTILINE), expected
    assert all(f"co.{name}" in text for name in co.__all__)


def test_what_goes_away_is_noticed(monkeypatch):
    before = lines()
    monkeypatch.delattr(co.Result, "bounds")
    after = lines()
    gone = [each for each in before if each not in after]
    assert len(gone) == 1
    assert gone[0].startswith("co.Result.bounds(")
