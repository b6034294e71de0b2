"""A slice of the campaign: random sheets against all their worlds."""

from tests.explain.judge_sheet import sheet_checks


def test_no_contradiction_is_missing_or_made_up():
    assert sheet_checks.check_sheets(1, 60) > 10


def test_the_reference_finds_a_contradiction_that_is_left_out():
    """Whoever tells nothing of a sheet that contradicts itself is found out."""
    sheets = [sheet_checks.RandomSheet(number) for number in range(60)]
    broken = [one for one in sheets if one.answers and not one.is_possible(range(len(one.events)), sheet_checks.ROUGH)]
    assert len(broken) > 10
