from tests.verifier.tampering import EDITS, check_tampering


def test_edits_are_refused_where_they_change_what_is_claimed():
    done = check_tampering(seed=1, count=400)
    assert sum(done.values()) == 400
    assert sum(count == 0 for count in done.values()) <= len(EDITS) // 10
