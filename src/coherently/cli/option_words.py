"""Words in the help of commands, which come from the registries when the help is shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _methods() -> Iterable[str]:
    from coherently.solve import METHODS

    return METHODS


def _recipe_pools() -> Iterable[str]:
    from coherently.solve.methods.recipe import POOLS

    return POOLS


def _losses() -> Iterable[str]:
    from coherently.problem import LOSSES

    return LOSSES


def _designs() -> Iterable[str]:
    from coherently.problem.groups.named import DESIGNS

    return DESIGNS


def _weightings() -> Iterable[str]:
    from coherently.judge_weights import WEIGHTINGS

    return WEIGHTINGS


def _scores() -> Iterable[str]:
    from coherently.scoring import RULES

    return [rule.head for rule in RULES]


def _folds() -> Iterable[str]:
    from coherently.scoring.tuning.learned_recipe import OVERS

    return OVERS


def _voices() -> Iterable[str]:
    from coherently.explain.findings import VOICES

    return VOICES


WORDS: dict[str, Callable[[], Iterable[str]]] = {
    "methods": _methods,
    "recipe pools": _recipe_pools,
    "losses": _losses,
    "designs": _designs,
    "weightings": _weightings,
    "scores": _scores,
    "folds": _folds,
    "voices": _voices,
}
"""What may stand in angle brackets in the text of a help, and where its words come from."""
MARK = re.compile("<(" + "|".join(WORDS) + ")>")


def filled(text: str) -> str:
    """The text with words in the place of its marks.

    >>> filled("Distance measure to minimise: <losses>.")
    'Distance measure to minimise: brier, log, spherical.'
    """
    return MARK.sub(lambda mark: ", ".join(WORDS[mark.group(1)]()), text)


class WordedCommand(TyperCommand):
    """A command whose help names the words that the registries have."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help; only then are the registries imported."""
        fill(self)
        super().format_help(ctx, formatter)


def fill(command: TyperCommand) -> None:
    """Put words in the place of the marks in the help of a command and of its options."""
    told: list[Any] = [command, *command.params]
    for each in told:
        if getattr(each, "help", None):
            each.help = filled(each.help)
