"""Relations that the words of questions suggest, and what people decide about them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coherently.web.shapes.panel_shapes import LawView
from coherently.web.shapes.shape import Id, Note, Shape, Statement, Time, Title, example

Decision = Literal["accept", "reject", "same occasion"]
FamilyKey = Annotated[str, Field(pattern="^[0-9a-f]{20}$", description="The key of a family, as the list has it.")]


class RelationDraft(Shape):
    """A decision about a family of relations; "same occasion" is one about all questions of the panel."""

    model_config = example(
        decision="accept", family="0f3b6c1d2e4a5b6c7d8e", reason="Both windows open today.", by="Ann Lee"
    )

    decision: Decision
    family: FamilyKey | None = None
    reason: Note = ""
    law: Statement | None = Field(None, description="A law that is accepted instead of those that are proposed.")
    by: Title | None = Field(None, description="Who decides; the account, if it is left out.")


class RelationView(Shape):
    """A relation that is proposed: only one that somebody accepted is a law."""

    law: str
    sentence: str
    strength: Literal["certain", "likely", "ask"]
    rule: str
    words: list[str] = Field(description="The words that it was read from.")
    assumes: list[str]
    counterexample: str = Field(description="The question that would refute it.")
    status: Literal["proposed", "accepted", "rejected", "quarantined", "withdrawn"]
    accepted_by: str
    violated_by: int | None = Field(description="How many judges contradict it; null while that is private.")
    judges: int | None = Field(description="How many judges answered two of its events or more.")


class FamilyView(Shape):
    """Relations about which one decision is made."""

    family: str
    state: Literal["waiting", "ask", "decided"]
    strength: Literal["certain", "likely", "ask"]
    in_conflict: bool
    sentences: list[str] = Field(description="What would hold, in words.")
    relations: list[RelationView]


class DecisionView(Shape):
    """What somebody decided."""

    decision: Decision
    by: str
    reason: str
    law: str
    words: list[str] = Field(description="The texts of the questions that it is about.")
    time: Time


class RelationsDecided(Shape):
    """What a decision did."""

    decisions: int
    added: list[LawView]
    dropped: list[Id]


class RelationList(Shape):
    """All relations that the words of a panel's questions suggest, in the order of review."""

    families: list[FamilyView]
    waiting: int
    same_occasion: bool = Field(description="Whether some of them assume that all questions ask about one occasion.")
    notes: list[str]
    decisions: list[DecisionView]
