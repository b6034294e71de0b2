"""What was learned, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.values import Told

if TYPE_CHECKING:
    from coherently.scoring.comparison import Comparison
    from coherently.solve import Recipe

SOURCES = {
    "components": "learned on other components",
    "time": "learned on earlier components",
    "history": "learned on the history",
}


@dataclass(frozen=True, slots=True)
class Tuned(Told):
    """A recipe learned from `events` resolved events in `components` components, and its `scores` beside others.

    `recipe` is learned from all of them; in `scores`, each event has what was learned from others: the rows are Raw,
    Linear average, Median, Exact, Default recipe, Tuned pool (without coherence) and Tuned recipe. If nothing could be
    learned, `is_learned` is false and the recipe is the default. `over` says how events were kept apart.
    """

    recipe: Recipe
    is_learned: bool
    over: str
    components: int
    events: int
    scores: Comparison

    @property
    def sentence(self) -> str:
        """What was learned and what it is worth, in one honest sentence."""
        if not self.is_learned:
            return (
                f"Only {self.components:,} independent groups of events are resolved; at least 30 are needed to learn, "
                f"so the default recipe is kept: {self.recipe.sentence}."
            )
        worth = self.scores.difference("Tuned recipe", "Linear average").sentence
        return (
            f"Learned from {self.events:,} resolved events in {self.components:,} independent groups: "
            f"{self.recipe.sentence}. On events that it did not learn from ({SOURCES[self.over]}): {worth}"
        )

    def __str__(self) -> str:
        return f"{self.scores}\n\n{self.sentence}"

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
