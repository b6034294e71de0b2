"""Practice before the first round: what somebody guesses about known facts, looked at and forgotten."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from coherently.web.catalogue.practice_facts import FACTS
from coherently.web.operations.known_scores import calibration_of
from coherently.web.refusals import RefusedError
from coherently.web.shapes.practice_shapes import PracticeList, PracticeResult, PracticeStatement, PracticeView

if TYPE_CHECKING:
    from coherently.web.shapes.practice_shapes import PracticeDraft


def list_statements() -> PracticeList:
    """All statements, without what is known of them."""
    return PracticeList(
        statements=[PracticeStatement(number=number, text=fact.text) for number, fact in enumerate(FACTS, 1)]
    )


def look_at_guesses(draft: PracticeDraft) -> PracticeView:
    """How well somebody was calibrated; the last guess about a statement counts."""
    guessed = {guess.number: guess.probability for guess in draft.guesses}
    unknown = next((number for number in guessed if number > len(FACTS)), None)
    if unknown is not None:
        raise RefusedError(
            404, "not-found", f"There is no statement {unknown}.", where="body.guesses", allowed=f"1 to {len(FACTS)}"
        )
    results = [
        PracticeResult(
            number=number,
            text=(fact := FACTS[number - 1]).text,
            probability=value,
            is_true=fact.is_true,
            source=fact.source,
        )
        for number, value in guessed.items()
    ]
    return PracticeView(
        results=results,
        brier=mean((each.probability - each.is_true) ** 2 for each in results),
        sure=mean(max(each.probability, 1 - each.probability) for each in results),
        right=mean(_right(each.probability, is_true=each.is_true) for each in results),
        calibration=calibration_of([(each.probability, int(each.is_true)) for each in results]),
    )


def _right(probability: float, *, is_true: bool) -> float:
    """Whether a guess was on the right side; one of 50 per cent was half right.

    >>> _right(0.9, is_true=True), _right(0.5, is_true=False), _right(0.2, is_true=True)
    (1.0, 0.5, 0.0)
    """
    if probability == 0.5:
        return 0.5
    return float((probability > 0.5) == is_true)
