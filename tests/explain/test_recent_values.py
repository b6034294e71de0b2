"""What is kept for whoever asks again, and what goes with its owner."""

import gc

import coherently as co
from coherently.explain.fit.pieces import SheetPiece
from coherently.explain.fit.read_sheets import ReadSheet
from coherently.explain.recent_values import Lately, kept_with_owner
from coherently.explain.relations.scope_relations import Scope


def alive():
    """How many values of a sheet there are in this process."""
    gc.collect()
    return sum(isinstance(each, ReadSheet | SheetPiece | Scope) for each in gc.get_objects())


def test_reports_and_checks_leave_nothing_behind():
    panel = co.simulate(judges=5, variables=12, seed=1)
    result = co.aggregate(panel)
    result.report()
    co.check(panel).to_json()
    before = alive()
    result.report()
    co.check(panel).to_json()
    assert alive() <= before


def test_the_oldest_go_when_there_are_too_many_or_they_are_too_heavy():
    few, light = Lately(2), Lately(100, weigh=len, most=10)
    for name in "abc":
        few.put(name, name)
        light.put(name, "four")
    assert [few.get(name) for name in "abc"] == [None, "b", "c"]
    assert [light.get(name) for name in "abc"] == [None, "four", "four"]
    light.put("b", "again")
    assert light.get("c") == "four"
    assert light.get("b") == "again"
    light.put("d", "much too heavy")
    assert [light.get(name) for name in "bcd"] == [None, None, "much too heavy"]


def test_what_was_made_of_an_owner_is_kept_as_long_as_the_owner():
    class Owner:
        pass

    made = []

    @kept_with_owner
    def part(owner):
        made.append(owner.__class__)

    one = Owner()
    assert part(one) is part(one) is None
    assert len(made) == 1
    del one
    part(Owner())
    assert len(made) == 2
