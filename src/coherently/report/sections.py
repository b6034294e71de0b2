"""What the appendix of a page says of scores, and the certificate, as plain values for its template."""

from __future__ import annotations

import base64
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from coherently.scoring import RULES

if TYPE_CHECKING:
    from coherently.result import Result
    from coherently.scoring import Scores

JUDGES = 100
"""Maximum number of rows of each table of judges."""
EMBEDDED = 1_000_000
"""Maximum size, in bytes, of a certificate inside a page: browsers save links of up to two megabytes."""
PACKAGES = ("coherently", "numpy", "scipy", "highspy")


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A row of the table of judges by accuracy; `replaced` is the Brier score of the answer in place of the judge."""

    name: str
    scored: int
    scores: tuple[float, ...]
    replaced: float | None


@dataclass(frozen=True, slots=True)
class AccuracySection:
    """The judges that are shown (the best Brier score first), how many there are, and the average judge.

    `heads` are the titles of the scores, `upward` the titles of scores where higher is better.
    """

    heads: tuple[str, ...]
    upward: tuple[str, ...]
    rows: tuple[Accuracy, ...]
    total: int
    average: Accuracy


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result as JSON, in a link that saves it; `link` is None if it is too large for a page."""

    link: str | None
    size: int


def accuracies(scores: Scores, replaced: Scores | None) -> AccuracySection:
    """The judges by mean Brier score, beside the Brier score of the result for the same events."""
    others = np.full(len(scores.judges), np.nan) if replaced is None else replaced.brier
    order = np.argsort(scores.brier, kind="stable")[:JUDGES]
    rows = tuple(
        Accuracy(
            scores.judges[i],
            int(scores.scored[i]),
            tuple(float(values[i]) for values in scores.by_rule.values()),
            None if replaced is None else float(others[i]),
        )
        for i in order.tolist()
    )
    together = None if replaced is None else replaced.average()["brier"]
    average = Accuracy("", int(scores.scored.sum()), tuple(scores.average().values()), together)
    heads, upward = (rule.head for rule in RULES), (rule.head for rule in RULES if rule.higher_is_better)
    return AccuracySection(tuple(heads), tuple(upward), rows, len(scores.judges), average=average)


def certificate(result: Result) -> Certificate:
    """What is needed, besides the panel, to verify the result."""
    text = result.to_json().encode("utf-8")
    link = None
    if len(text) <= EMBEDDED:
        link = f"data:application/json;base64,{base64.b64encode(text).decode('ascii')}"
    return Certificate(link, len(text))


def versions() -> tuple[tuple[str, str], ...]:
    """The versions of the software that computed the answer."""
    return (*((name, version(name)) for name in PACKAGES), ("Python", platform.python_version()))
