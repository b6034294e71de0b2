"""Which judges of an account's panels are one person.

A link opens one panel, and two people may have the same name. So judges are one person where mail to them goes to the
same address under the same name, or where their facilitator said so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.web.refusals import not_found
from coherently.web.store.identifiers import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.store import JudgeRecord


def is_same(one: JudgeRecord, other: JudgeRecord) -> bool:
    """Whether two judges of an account's panels are known to be one person."""
    if one.id == other.id or (one.person and one.person == other.person):
        return True
    return bool(one.address) and (one.name, one.address.casefold()) == (other.name, other.address.casefold())


def are_same(judges: Sequence[JudgeRecord]) -> bool:
    """Whether all of some judges are known to be one person."""
    return all(is_same(one, other) for one in judges for other in judges)


def join_people(bench: Workbench, caller: AccountCaller, name: str, *, same: bool) -> None:
    """Note that all judges of a name in the account's panels are one person, or no longer that somebody said so.

    A judge of that name who is invited later is another person until this is said again.
    """
    judges = [each for each in bench.store.judges.list_of(caller.account) if each.name == name]
    if not judges:
        raise not_found("judge")
    person = new_id("w") if same else ""

    def action() -> None:
        for judge in judges:
            bench.store.judges.set_person(judge.id, person)

    bench.store.write(action)
