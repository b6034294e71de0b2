"""What was learned, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.values import Told

if TYPE_CHECKING:
    from coherently.scoring.comparison import Comparison
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


@dataclass(frozen=True, slots=True)
class Tuned(Told):
    """A recipe learned from `events` resolved events in `components` components, and its `scores` beside others.

    `recipe` is learned from all of them; in `scores`, each event has what was learned from others: the rows are Raw,
    Linear average, Median, Trimmed mean, Log pool, Normalised average, Exact, Default recipe, Tuned pool (without
    coherence) and Tuned recipe. If nothing could be learned, `is_learned` is false and the recipe is the default.
    `over` says how events were kept apart, `scored` which events have scores, in words, and `remark` what else to bear
    in mind: if a history taught, or if nothing earlier could teach for some events.
    """

    recipe: Recipe
    is_learned: bool
    over: str
    components: int
    events: int
    scores: Comparison
    scored: str = SCORED["components"]
    remark: str = ""

    @property
    def sentence(self) -> str:
        """What was learned and what it is worth, in one honest sentence."""
        remark = f" {self.remark}" if self.remark else ""
        if not self.is_learned:
            where = " of the history" if self.over == "history" else ""
            return (
                f"Only {self.components:,} independent groups of events{where} are resolved; at least 30 are needed to "
                f"learn, so the default recipe is kept: {self.recipe.sentence}.{remark}"
            )
        worth = self.scores.difference("Tuned recipe", "Linear average").sentence
        return (
            f"Learned from {self.events:,} resolved events in {self.components:,} independent groups: "
            f"{self.recipe.sentence}. {self.scored}: {worth}{remark}"
        )

    def __str__(self) -> str:
        rows = zip(self.scores.methods, self.scores.value[:, 0].tolist(), strict=True)
        return "\n".join(["Brier score", *(f"  {name:20} {brier:.4f}" for name, brier in rows), "", self.sentence])

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain values."""
        return {
            "recipe": self.recipe.as_dict(),
            "is_learned": self.is_learned,
            "over": self.over,
            "components": self.components,
            "events": self.events,
            "sentence": self.sentence,
            "scores": self.scores.as_dict(),
        }
