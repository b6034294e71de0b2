r"""A scorer and metrics for inspect-ai: probabilities from models' answers, how incoherent they are, and how accurate.

The incoherence of n answers p is \(\frac{1}{n} \min_x \sum_i (p_i - x_i)^2\) over coherent x: the Brier penalty per
answer that the nearest coherent answers save in every possible world.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from coherently.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

NAMED = re.compile(
    r"(?:probability|forecast|answer|prediction)\b[\s:=*_]*(?:is|of)?[\s:=*_]*([0-9]*\.?[0-9]+)\s*(%)?", re.IGNORECASE
)
PERCENT = re.compile(r"([0-9]*\.?[0-9]+)\s*(%)")
DECIMAL = re.compile(r"(?<![0-9.])([01]?\.[0-9]+|[01])(?![0-9.%])()")
OUTCOMES = {"yes": 1.0, "true": 1.0, "1": 1.0, "no": 0.0, "false": 0.0, "0": 0.0}


def probability_in(text: str) -> float | None:
    """The probability that an answer ends with: the last that is called one, else the last per cent or decimal number.

    >>> [probability_in(text) for text in ("I think 0.2, so Probability: 35%", "about 40 %", "0.25", "2 of 3", "120%")]
    [0.35, 0.4, 0.25, None, None]
    """
    for pattern in (NAMED, PERCENT, DECIMAL):
        found = [float(number) / (100.0 if percent else 1.0) for number, percent in pattern.findall(text)]
        if found and 0.0 <= found[-1] <= 1.0:
            return found[-1]
    return None


def forecast_scorer(event: str = "event", laws: Sequence[str] = ()) -> Any:
    """A scorer for inspect-ai: the probability in the completion, with the metrics `incoherence` and `brier`.

    `event` is the key of a sample's metadata that has its event as a formula; a sample without it is the event that its
    input is, as one variable. `laws` are those of `co.Panel`. The target is yes, no, true, false, 1, 0, or empty. An
    answer without a probability has the value NaN, which the metrics leave out.
    """
    package = _package()

    @package.scorer(metrics=[incoherence_metric(laws), brier_metric()], name="forecast_scorer")  # type: ignore[untyped-decorator,unused-ignore]
    def made() -> Any:
        async def score(state: Any, target: Any) -> Any:
            found = probability_in(state.output.completion)
            told = (state.metadata or {}).get(event) or _quoted(state.input_text)
            outcome = OUTCOMES.get(target.text.strip().casefold())
            return package.Score(
                value=math.nan if found is None else found,
                answer=None if found is None else str(found),
                explanation="no probability was found in the answer" if found is None else None,
                metadata={"event": told, "outcome": outcome},
            )

        return score

    return made()


def incoherence_metric(laws: Sequence[str] = ()) -> Any:
    """A metric for inspect-ai: the squared distance of all answers from coherent ones, divided by their number.

    `laws` are those of `co.Panel`.
    """

    def incoherence(scores: list[Any]) -> float:
        from coherently.explain import check
        from coherently.panel import Panel

        rows = [("model", one.metadata["event"], float(one.value)) for one in _answered(scores)]
        if not rows:
            return 0.0
        found = check(Panel.from_records(rows, laws=list(laws)), threads=1)
        judge = found.judges["model"]
        return 0.0 if judge.coherent else judge.distance**2 / len(rows)

    return _as_metric("incoherence", incoherence)


def brier_metric() -> Any:
    """A metric for inspect-ai: the mean squared difference of probabilities and outcomes, where these are known."""

    def brier(scores: list[Any]) -> float:
        squares = [
            (float(one.value) - one.metadata["outcome"]) ** 2
            for one in _answered(scores)
            if one.metadata["outcome"] is not None
        ]
        return sum(squares) / len(squares) if squares else 0.0

    return _as_metric("brier", brier)


def _answered(scores: list[Any]) -> Iterable[Any]:
    """The scores of samples with a probability."""
    return [one.score for one in scores if not math.isnan(float(one.score.value))]


def _as_metric(name: str, call: Callable[[list[Any]], float]) -> Any:
    def made() -> Any:
        return call

    return _package().metric(name=name)(made)()


def _quoted(text: str) -> str:
    from coherently.events import quote_name

    return quote_name(" ".join(text.split()))


def _package() -> Any:
    try:
        import inspect_ai.scorer as package
    except ImportError:
        raise MissingDependencyError("the scorers need inspect-ai: pip install inspect-ai") from None
    return package
