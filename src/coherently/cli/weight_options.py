"""The weights of judges that the options of a command ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from pathlib import Path

    from coherently.panel import Options
    from coherently.panel.weights import Weighting


def choose_weights(
    listed: Path | None, word: str | None, history: Path | None, **options: Unpack[Options]
) -> Weighting | None:
    """Give the product of the chosen weightings; the options say how the history is read."""
    parts: list[Weighting] = []
    if listed is not None:
        from coherently.panel.weights import find_weighting

        parts.append(find_weighting(listed))
    if word is not None:
        parts.append(_find(word))
    if history is not None:
        from coherently.judge_weights import HistoryWeights
        from coherently.panel import read_panel

        parts.append(HistoryWeights(read_panel(history, **options)))
    if len(parts) < 2:
        return parts[0] if parts else None
    from coherently.judge_weights import ProductWeights

    return ProductWeights(tuple(parts))


def _find(word: str) -> Weighting:
    from coherently.errors import unknown_word
    from coherently.judge_weights import WEIGHTINGS

    if word not in WEIGHTINGS:
        raise unknown_word("weighting", word, WEIGHTINGS)
    weighting: Weighting = WEIGHTINGS[word]()
    return weighting
