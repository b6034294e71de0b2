"""Events are named as people name them."""

import pytest

import coherently as co


def test_events_are_found_by_their_labels():
    labels = {"p": "Supplier delay", "p & q": "Both", "q": "Twice", "r": "Twice"}
    rows = [("Ann", "p", 0.3), ("Ann", "q", 0.5), ("Ann", "r", 0.4), ("Ann", "p & q", 0.4)]
    result = co.aggregate(co.Panel.from_records(rows, labels=labels))
    assert result.probability("Supplier delay") == result.probability("p")
    assert result.why("Both").probability == result.probability("p & q")
    assert tuple(result.bounds("Supplier delay")[:2]) == tuple(result.bounds("p")[:2])
    with pytest.raises(co.EventError, match="Twice"):
        result.probability("Twice")
