"""What was learned, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Described,
    ListOf,
    OneWord,
    OrNull,
    Record,
    RecordField,
    RecordOf,
)
from coherently.scoring.comparison import Comparison
from coherently.scoring.tuning.learned_judges import JUDGES, LearnedJudges
from coherently.solve import Recipe

SCORED = {
    "components": "On events that it did not learn from (learned on other components)",
    "time": "On events that it did not learn from (learned on earlier components)",
}
"""Which events are scored, in words."""


def how_scored(over: str, untaught: int, events: int) -> tuple[str, str]:
    """Which events are scored, and a remark if nothing earlier could teach for some of them, in words."""
    if untaught == events:
        return "No resolved component is earlier than another, so the scores are those of the default recipe", ""
    some = f"Nothing earlier could teach for {untaught:,} of the {events:,} events, which have the default recipe."
    return SCORED.get(over, ""), some if untaught else ""


TUNED = Record(
    "tuned",
    4,
    "A recipe learned from outcomes, and what it is worth (`co.tune`, `coherently tune --json`).",
    (
        RecordField("recipe", RecordOf(lambda: Recipe.record), "the recipe that was learned"),
        RecordField(
            "is_learned", FLAG, "false if what outcomes teach scored worse than the default recipe, which was kept"
        ),
        RecordField("over", OneWord(lambda: (*SCORED, "history")), "how events were kept apart"),
        RecordField("components", WHOLE, "the number of independent components that taught"),
        RecordField("events", WHOLE, "the number of resolved events that taught"),
        RecordField("sentence", TEXT, "what was learned and what it is worth", derived=True),
        RecordField("scored", TEXT, "which events are scored, in words"),
        RecordField("remark", TEXT, "what else to bear in mind; may be empty"),
        RecordField("scores", RecordOf(lambda: Comparison.record), "the recipe beside others, scored"),
        RecordField("judges", JUDGES, "what outcomes taught about each judge", since=3),
        RecordField(
            "judges_words", ListOf(TEXT), "the same in plain words, those who count most first", derived=True, since=3
        ),
        RecordField(
            "effective_judges",
            OrNull(NUMBER),
            "how many judges who count alike and err independently these are worth",
            derived=True,
            since=3,
        ),
        RecordField(
            "error_correlation", OrNull(NUMBER), "that of judges' errors; null if outcomes do not show it", since=3
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Tuned(Described):
    """A recipe learned from `events` resolved events in `components` components, and its `scores` beside others.

    `recipe` is learned from all of them; in `scores`, each event has what was learned from others: the rows are Raw,
    Linear average and other pools, Exact, Default recipe, Tuned pool (without coherence) and Tuned recipe. If what
    is learned scored worse than the default recipe, `is_learned` is false and the recipe is the default.
    `judges` has what outcomes taught about each judge: `judges.frame()` is a table, `judges.sentences` the same in
    words, `judges.effective` how many equal, independent judges they are worth; it is None for records of before.
    `over` says how events were kept apart, `scored` which events have scores, in words, and `remark` what else to bear
    in mind: if a history taught, or if nothing earlier could teach for some events.
    """

    record: ClassVar[Record] = TUNED

    recipe: Recipe
    is_learned: bool
    over: str
    components: int
    events: int
    scores: Comparison
    scored: str = SCORED["components"]
    remark: str = ""
    judges: LearnedJudges | None = None

    @property
    def sentence(self) -> str:
        """What was learned and what it is worth, in one honest sentence."""
        remark = f" {self.remark}" if self.remark else ""
        other = "Linear average" if self.is_learned else "Default recipe"
        worth = f"{self.scored}: {self.scores.difference('Tuned recipe', other).sentence}{remark}"
        taught = f"{self.events:,} resolved events in {self.components:,} independent groups"
        if self.is_learned:
            return f"Learned from {taught}: {self.recipe.sentence}. {worth}"
        return (
            f"{taught} teach nothing better than the default recipe, so that is kept: {self.recipe.sentence}. {worth}"
        )

    def __str__(self) -> str:
        rows = zip(self.scores.methods, self.scores.value[:, 0].tolist(), strict=True)
        wide = max(20, *map(len, self.scores.methods))
        return "\n".join(["Brier score", *(f"  {name:{wide}} {brier:.4f}" for name, brier in rows), "", self.sentence])

    def _plain(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.as_dict(),
            "is_learned": self.is_learned,
            "over": self.over,
            "components": self.components,
            "events": self.events,
            "sentence": self.sentence,
            "scored": self.scored,
            "remark": self.remark,
            "scores": self.scores.as_dict(),
            "judges": [] if self.judges is None else self.judges.rows(),
            "judges_words": [] if self.judges is None else list(self.judges.sentences),
            "effective_judges": None if self.judges is None else self.judges.effective,
            "error_correlation": None if self.judges is None else self.judges.correlation,
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Tuned:
        derived = ("sentence", "judges", "judges_words", "effective_judges", "error_correlation")
        told = {name: value for name, value in values.items() if name not in derived}
        parts = {"recipe": Recipe.from_dict(told["recipe"]), "scores": Comparison.from_dict(told["scores"])}
        rows = values.get("judges")
        judges = LearnedJudges.of_rows(rows, values["error_correlation"]) if rows else None
        return cls(**{**told, **parts}, judges=judges)
