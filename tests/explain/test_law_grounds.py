"""The laws behind a contradiction are those without which there would be none."""

from hypothesis import given
from hypothesis import strategies as st

import coherently as co

LAWS = ["a -> b", "b -> c", "~(c & d)", "exactly(1; d, e, f)", "e -> f | a"]
NAMES = "abcdef"


@given(st.sets(st.sampled_from(LAWS)), st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_without_its_laws_a_pair_is_coherent_and_with_them_it_is_not(laws, tenths):
    rows = [("Ann", name, tenth / 10) for name, tenth in zip(NAMES, tenths, strict=True)]
    finding = co.check(co.Panel.from_records(rows, laws=sorted(laws))).judges["Ann"]
    assert len(finding.grounds) == len(finding.contradictions)
    for found, grounds in zip(finding.contradictory, finding.grounds, strict=True):
        own = [rows[number] for number in found.forecasts]
        assert set(grounds) <= laws
        assert grounds
        assert not co.check(co.Panel.from_records(own, laws=list(grounds))).coherent
        assert co.check(co.Panel.from_records(own)).coherent


def test_logic_alone_needs_no_law():
    rows = [("Ann", "p", 0.2), ("Ann", "p & q", 0.5)]
    finding = co.check(co.Panel.from_records(rows, laws=["r -> s"])).judges["Ann"]
    assert finding.contradictions
    assert finding.grounds == ((),)
