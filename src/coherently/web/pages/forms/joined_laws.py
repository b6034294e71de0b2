"""Laws that relate questions, picked as chips: one of them, not both, one if another, the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.pages.formats import listed
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.joined_events import conditional, need, picked
from coherently.web.shapes.panel_shapes import LawDraft
from coherently.web.sizes import TITLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.pages.forms.joined_events import EventChip

COUNTED = {"exactly-one": "exactly(1; {})", "at-most-one": "at_most(1; {})", "at-least-one": "at_least(1; {})"}
"""How many of the picked events come true, by the word for it in the form."""
PAIRS = {"not-both": "~({} & {})", "same": "{} <-> {}"}
"""What holds between two events."""
RELATIONS = ("if", *PAIRS, *COUNTED)
"""The ways to relate, in the order of the form."""


def relate(form: Mapping[str, str], offered: Sequence[EventChip]) -> LawDraft:
    """The law that a form of chips describes, in words and as a formula, or a refusal that says how many are needed."""
    way, parts = form.get("relation", RELATIONS[0]), picked(form, offered)
    if way in PAIRS:
        need(len(parts) == 2, "relate.need.two")
        first, second = parts
        words = plain(f"relate.says.{way}", first=first.words, second=second.words)
        return _law(PAIRS[way].format(first.formula, second.formula), words)
    if way in COUNTED:
        need(len(parts) >= 2, "join.need.two")
        words = plain(f"relate.says.{way}", events=listed([part.words for part in parts]))
        return _law(COUNTED[way].format(", ".join(part.formula for part in parts)), words)
    wanted, condition = conditional(form, offered)
    words = plain("relate.says.if", condition=condition.words, what=wanted.words)
    return _law(f"{condition.formula} -> {wanted.formula}", words)


def _law(statement: str, words: str) -> LawDraft:
    return fill(LawDraft, statement=statement, title=words if len(words) <= TITLE else "")
