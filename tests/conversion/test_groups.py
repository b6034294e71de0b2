import pytest

from coherently.conversion.label_groups import recognise


@pytest.mark.parametrize(
    ("labels", "title", "events"),
    [
        (["Before 2030", "before 1 May 2031"], "", ("g < 2030-01-01", "g < 2031-05-01")),
        (["by July 4th, 2030", "By the end of 2030"], "", ("g <= 2030-07-04", "g <= 2030-12-31")),
        (["by 2030", "by February 2032"], "", ("g < 2030-01-01", "g < 2032-02-01")),
        (["by end of February 2032", "on or before 2033-01-01"], "", ("g <= 2032-02-29", "g <= 2033-01-01")),
        (["2030", "Dec 2031"], "Will it fly before these dates?", ("g < 2030-01-01", "g < 2031-12-01")),
        (["January 1, 2030", "January 1, 2035"], "Will it fly by ...?", ("g <= 2030-01-01", "g <= 2035-01-01")),
        ([">5%", ">10%"], "", ("g > 5", "g > 10")),
        (["at least $1.5 billion", "at least $2,000 million"], "", ("g >= 1500000000", "g >= 2000000000")),
        (["less than 3", "4 or fewer"], "", ("g < 3", "g <= 4")),
        (["-2 or lower", "0.50 or less"], "", ("g <= -2", "g <= 0.5")),
    ],
)
def test_ladders(labels, title, events):
    found = recognise("g", labels, title)
    assert found is not None
    assert found.events == events
    assert found.law == ("variable g: date" if "-0" in events[0] or "-1" in events[0][6:] else "variable g: number")


@pytest.mark.parametrize(
    ("labels", "complete"),
    [
        (["<10", "10-19", "20+"], True),
        (["<10", "10 to 20", "≥20"], True),
        (["less than 1.0%", "1.0%–1.4%", "1.5% or more"], True),
        (["<10", "12-19", "20+"], False),
        (["0-9", "10-19"], False),
        (["between 0 and 9", "10 or more"], False),
    ],
)
def test_brackets(labels, complete):
    found = recognise("g", labels, "")
    assert found is not None
    assert found.kind == "brackets"
    assert found.law.startswith("variable g: ")
    assert found.law.endswith(", ...") is not complete


@pytest.mark.parametrize(
    "labels",
    [
        ["Spain", "Italy"],
        ["2030", "2031"],
        ["by 2030"],
        ["by 2030", "By 2030"],
        ["<10", "5-19", "20+"],
        [">5%", ">10 GW"],
        ["Before 2030", "Spain"],
        ["by the river", "by the sea"],
        ["5", "10"],
    ],
)
def test_labels_that_say_nothing_of_each_other(labels):
    assert recognise("g", labels, "What will happen?") is None
