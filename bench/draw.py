"""Panels of one forecast an event, on a random graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.panel import Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMS = ("{} & {}", "{} | {}", "{} & ~{}")
NOISE = 0.2
COMPONENTS = 4


def sparse_panel(variables: int, events: int, kind: str, seed: int) -> Panel:
    """Forecasts of so many distinct events about two literals each, and of no variable alone.

    They are `uniform` on [0, 1], or `simulated`: as in `co.simulate`, from a mixture of 4 product distributions, with
    noise of deviation 0.2, clipped. No event is another's complement.
    """
    rng = np.random.default_rng(seed)
    form, a, b = _events(rng, variables, events)
    probability = rng.random(events) if kind == "uniform" else _noisy(rng, variables, form, a, b)
    texts = [
        FORMS[kind].format(f"v{x}", f"v{y}") for kind, x, y in zip(form.tolist(), a.tolist(), b.tolist(), strict=True)
    ]
    return Panel.from_records([("panel", text, p) for text, p in zip(texts, probability.tolist(), strict=True)])


def _events(
    rng: np.random.Generator, variables: int, events: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Form and two variables of distinct events, the four of a pair being equally likely."""
    drawn = np.empty(0, np.int64)
    while len(drawn) < events:
        a = rng.integers(variables, size=events)
        b = (a + rng.integers(1, variables, size=events)) % variables
        form = np.where(rng.random(events) < 0.5, 2, rng.integers(2, size=events))
        low, high = np.minimum(a, b), np.maximum(a, b)
        a, b = np.where(form < 2, low, a), np.where(form < 2, high, b)
        drawn = np.concatenate([drawn, (form * variables + a) * variables + b])
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    code = drawn[:events]
    return code // variables**2, code // variables % variables, code % variables


def _noisy(
    rng: np.random.Generator, variables: int, form: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    weight = rng.dirichlet(np.full(COMPONENTS, 2.0))
    log_odds = rng.normal(0, 1, variables) + rng.normal(0, 1.2, (COMPONENTS, variables))
    chance = 1 / (1 + np.exp(-log_odds))
    first, second = chance[:, a], np.where(form == 2, 1 - chance[:, b], chance[:, b])
    both = first * second
    true: NDArray[np.float64] = weight @ np.where(form == 1, first + second - both, both)
    return np.clip(true + NOISE * rng.standard_normal(len(form)), 0.0, 1.0)
