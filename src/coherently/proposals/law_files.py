"""Laws files of accepted proposals: every law with its class, its rule and who accepted it, in a comment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coherently.events import quote_name
from coherently.panel import read_lines
from coherently.proposals.proposal import ProposalStatus, ProposedLaw, Strength

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from coherently.proposals.rules.quantity_rules import DeclaredQuantity

NOT_ACCEPTED: Final = "# not accepted"
_ORIGIN: Final = re.compile(r"#\s*(?P<strength>certain|likely|ask): (?P<rule>[^;]+); accepted by (?P<by>[^;\n]+)")
_COMMENT: Final = re.compile(r'("(?:[^"\\]|\\.)*")|(#[^\n]*)')


@dataclass(frozen=True, slots=True)
class LawOrigin:
    """Where a law of a file comes from: the class of its proposal, the rule, and who accepted it."""

    strength: Strength
    rule: str
    accepted_by: str

    def __str__(self) -> str:
        return f"{self.strength}, {self.rule}, accepted by {self.accepted_by}"


@dataclass(frozen=True, slots=True)
class LawLine:
    """A statement of a laws file, with what its comment says."""

    text: str
    comment: str = ""

    def __str__(self) -> str:
        return f"{self.text}  # {self.comment}" if self.comment else self.text


def accepted_laws(proposals: Sequence[ProposedLaw], quantities: Sequence[DeclaredQuantity]) -> list[LawLine]:
    """The statements of what is accepted, and of nothing else.

    A quantity all proposals about which are accepted as certain is declared once, and the formula of a compound
    stands for the relations that follow from it.
    """
    accepted = [one for one in proposals if one.status is ProposalStatus.ACCEPTED]
    declared = [one for one in quantities if _is_whole(proposals, one.family)]
    replaced = {one.family for one in declared}
    lines: list[LawLine] = []
    for quantity in declared:
        lines.append(LawLine(f"variable {quantity.name}: {quantity.kind}"))
        comment = _comment(next(one for one in accepted if one.family == quantity.family))
        lines += [LawLine(f"{quote_name(row)} <-> {formula}", comment) for row, formula in quantity.formulas]
    kept = told_relations([one for one in accepted if one.family not in replaced])
    return [*lines, *(LawLine(one.law, _comment(one)) for one in kept)]


def told_relations(proposals: Sequence[ProposedLaw]) -> list[ProposedLaw]:
    """Without relations that follow from the formula of a compound among them."""
    meant = {one.family for one in proposals if len(one.members) == 1}
    return [one for one in proposals if one.family not in meant or len(one.members) == 1]


def _is_whole(proposals: Sequence[ProposedLaw], family: str) -> bool:
    """Whether all that a family proposes is certain and was accepted, unchanged."""
    own = [one for one in proposals if one.family == family]
    sure = (one.strength is Strength.CERTAIN and one.status is ProposalStatus.ACCEPTED and not one.told for one in own)
    return bool(own) and all(sure)


def _comment(one: ProposedLaw) -> str:
    by = re.sub(r"[;\n]", ",", one.accepted_by) or "nobody"
    words = "; ".join(f"{quote.words!r}" for quote in one.evidence[:3])
    return f"{one.strength}: {one.rule}; accepted by {by}{f'; words {words}' if words else ''}"


def laws_text(lines: Sequence[LawLine], proposals: Sequence[ProposedLaw], digest: str) -> str:
    """The whole file: what is accepted, then all else as comments."""
    others = [one for one in proposals if one.status is not ProposalStatus.ACCEPTED]
    told = [f"# Laws that people accepted, of questions with the digest {digest[:16]}", *map(str, lines), NOT_ACCEPTED]
    told += [f"# {one.status}, {one.strength}: {one.rule}: {_one_line(one.law)}" for one in others]
    return "".join(f"{line}\n" for line in told)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def read_origins(source: str | os.PathLike[str]) -> dict[str, LawOrigin]:
    r"""The laws of a file that say where they come from, by their text.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "accepted.laws"
    >>> _ = path.write_text("a -> b  # likely: deadline ladder; accepted by Ann, 2026-11-18; words 'by june'\n")
    >>> print(read_origins(path)["a -> b"])
    likely, deadline ladder, accepted by Ann, 2026-11-18
    """
    found = {}
    for line in read_lines(source):
        comment = next((match[2] for match in _COMMENT.finditer(line) if match[2]), "")
        origin = _ORIGIN.match(comment)
        law = _COMMENT.sub(lambda match: match[1] or "", line).strip()
        if origin is not None and law:
            found[law] = LawOrigin(Strength(origin["strength"]), origin["rule"], origin["by"].strip())
    return found
