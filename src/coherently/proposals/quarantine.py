"""Quarantine: proposals of a person or a program, tried before anybody sees them, and used by nobody until accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from coherently.errors import CoherentlyError, PanelError
from coherently.events import Events
from coherently.proposals.proposal import (
    RULES,
    ProposalStatus,
    ProposedLaw,
    QuotedWords,
    RelationName,
    Strength,
)
from coherently.proposals.row_readings import lowered, same_length

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALLOWED: Final = "relation, members, counterexample and source, and where it can be evidence, assumes and class"


def admitted(values: Any, texts: Mapping[str, str], laws: Sequence[str], first: int) -> list[ProposedLaw]:
    """Read proposals in the format of the list, and try each; the first that does not pass is an error.

    They are in quarantine whatever class and status they claim.
    """
    told = values.get("proposals") if isinstance(values, dict) else values
    if not isinstance(told, list):
        raise PanelError(
            "proposals to add are a list of objects, or an object with such a list under 'proposals'",
            code="bad-proposal",
        )
    found = []
    for number, one in enumerate(told):
        place = f"proposal {number + 1} to add"
        read = _read(one, place)
        _try(read, texts, laws, place)
        found.append(replace(read, id=f"a{first + number}"))
    return found


def _read(values: Any, place: str) -> ProposedLaw:
    if not isinstance(values, dict):
        raise PanelError(f"{place} is not an object with {ALLOWED}", code="bad-proposal")
    for needed in ("relation", "members", "counterexample", "source"):
        if not values.get(needed):
            raise PanelError(f"{place} has no {needed}: it needs {ALLOWED}", code="bad-proposal")
    try:
        relation, claimed = RelationName(values["relation"]), Strength(values.get("class", "ask"))
        evidence = tuple(QuotedWords(str(one["row"]), str(one["words"])) for one in values.get("evidence", ()))
    except (ValueError, KeyError, TypeError) as error:
        words = ", ".join(RelationName)
        raise PanelError(f"{place}: {error}; relations are {words}", code="bad-proposal") from None
    members = values["members"]
    if not isinstance(members, list) or len(set(map(str, members))) < max(2, len(members)):
        raise PanelError(f"{place}: members must be two or more different names of questions", code="bad-proposal")
    if str(values["source"]) == RULES:
        raise PanelError(f"{place}: the source {RULES!r} is that of the rules: give your own", code="bad-proposal")
    return ProposedLaw(
        rule=str(values.get("rule", "added")),
        relation=relation,
        members=tuple(map(str, members)),
        strength=claimed,
        evidence=evidence,
        assumes=tuple(map(str, values.get("assumes", ()))),
        counterexample=str(values["counterexample"]),
        family=f"added: {values['source']}: {' '.join(map(str, members))}",
        source=str(values["source"]),
        status=ProposalStatus.QUARANTINED,
    )


def _try(one: ProposedLaw, texts: Mapping[str, str], laws: Sequence[str], place: str) -> None:
    """Members exist, quoted words are there, the law can be read and fits with what is accepted."""
    from coherently.panel import read_laws

    for member in one.members:
        if member not in texts:
            raise PanelError(f"{place}: there is no question {member!r}", code="bad-proposal")
    for quoted in one.evidence:
        if _plain(quoted.words) not in _plain(texts.get(quoted.row, "")):
            raise PanelError(
                f"{place}: the words {quoted.words!r} are not in the question {quoted.row!r}: quote what it says",
                code="bad-proposal",
            )
    try:
        events = Events()
        read = read_laws([*laws, one.law], events)
    except CoherentlyError as error:
        raise PanelError(
            f"{place}: {one.law} does not fit with the accepted laws: {error}", code="bad-proposal"
        ) from None
    import numpy as np

    from coherently.events import find_world, quote_name

    sides = events.add([quote_name(member) for member in one.members]).event
    for member, side in zip(one.members, sides.tolist(), strict=True):
        if find_world(events, np.append(read.side, np.int32(side))) is None:
            raise PanelError(
                f"{place}: with the accepted laws, {one.law} makes {member!r} impossible", code="bad-proposal"
            )


def _plain(text: str) -> str:
    return " ".join(lowered(same_length(text)).split())
