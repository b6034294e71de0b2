"""Panels of judges who err in known ways: alone, together, boldly, timidly; for choices that real panels cannot settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

import coherently as co

if TYPE_CHECKING:
    from coherently.panel import Panel


@dataclass(frozen=True, slots=True)
class Kind:
    """How judges err, in log-odds.

    Each answer has its own `noise`, each judge a `view` of each event (the same in all that is asked about it), and all
    judges share a `bias` towards yes and a `shock` of each event. Judges multiply what they know by `slope`.
    """

    name: str
    judges: int = 8
    groups: int = 30
    noise: float = 0.5
    view: float = 0.5
    bias: float = 0.0
    shock: float = 0.0
    slope: float = 1.0


KINDS = (
    Kind("noise", noise=1.0, view=0.0),
    Kind("other views", noise=0.1, view=1.0),
    Kind("noise and views"),
    Kind("3 judges", judges=3),
    Kind("40 judges", judges=40),
    Kind("6 groups", groups=6),
    Kind("timid", slope=0.6),
    Kind("bold", slope=1.6),
    Kind("a shared bias", bias=0.7),
    Kind("a shared bias, 6 groups", bias=0.7, groups=6),
    Kind("shared shocks", shock=1.0),
    Kind("shared shocks, bold", shock=1.0, slope=1.6),
    Kind("shared shocks, timid", shock=1.0, slope=0.6),
)


def drawn(kind: Kind, seed: int) -> Panel:
    """A panel of triples p, q, p & q and the negation of p, with the outcomes of a world for each."""
    rng = np.random.default_rng([seed, 30])
    rows: list[tuple[str, str, float]] = []
    outcomes: dict[str, bool] = {}
    for g in range(kind.groups):
        truth = rng.normal(0.0, 1.2, 2)
        happens = rng.random(2) < expit(truth)
        p, q = f"p{g}", f"q{g}"
        outcomes |= {p: bool(happens[0]), q: bool(happens[1])}
        shared = kind.shock * rng.normal(size=2)
        for j in range(kind.judges):
            seen = kind.slope * (truth + shared + kind.view * rng.normal(size=2))
            both = float(expit(seen[0]) * expit(seen[1]))
            asked = {p: seen[0], f"~{p}": -seen[0], q: seen[1], f"{p} & {q}": np.log(both / (1.0 - both))}
            for event, odds in asked.items():
                said = expit(odds + kind.bias + kind.noise * rng.normal())
                rows.append((f"J{j}", event, float(said)))
    return co.Panel.from_records(rows, outcomes=outcomes)
