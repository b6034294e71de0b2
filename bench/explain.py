"""Processor time of the finder and of bands on sheets of many answers, as a table in Markdown."""

from __future__ import annotations

import itertools
import random
import time
from typing import TYPE_CHECKING

from coherently.explain.fit.answer_sheet import on_sheet
from coherently.explain.fit.piece_check import looked_at
from coherently.explain.fit.sheet_values import Answered, Item, SheetSetting
from coherently.solve import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = ("{0}a", "{0}b", "{0}c", "{0}d", "{0}a & {0}b", "{0}b & {0}c", "{0}c & {0}d", "{0}a | {0}d", "{0}a & ~{0}c")
COHERENT = (0.5, 0.6, 0.4, 0.7, 0.3, 0.24, 0.28, 0.85, 0.3)
"""Nine questions about four independent events, and answers that fit."""
VARIABLES = 10
"""Number of variables of a sheet of fifty questions that all hang together."""


def sheet(texts: Sequence[str]) -> SheetSetting:
    """A sheet with a question for each text."""
    return SheetSetting(tuple(Item(f"e{i}", text, text, i) for i, text in enumerate(texts, 1)))


def blocks(count: int) -> tuple[SheetSetting, list[float]]:
    """Questions about small independent groups of variables."""
    texts = [text.format(f"g{k}") for k in range(count // len(TEXTS) + 1) for text in TEXTS][:count]
    return sheet(texts), [COHERENT[i % len(TEXTS)] for i in range(count)]


def woven(count: int, rng: random.Random) -> tuple[SheetSetting, list[float]]:
    """Questions about pairs of neighbouring variables, all in one piece."""
    names = [f"v{i}" for i in range(VARIABLES * count // 50)]
    chance = [round(rng.uniform(0.1, 0.9), 2) for _ in names]
    asked = dict(zip(names, chance, strict=True))
    while len(asked) < count:
        i = rng.randrange(len(names))
        j = (i + rng.choice([1, 2, 3])) % len(names)
        sign, value = rng.choice([("&", chance[i] * chance[j]), ("|", chance[i] + chance[j] - chance[i] * chance[j])])
        asked[f"{names[i]} {sign} {names[j]}"] = value
    return sheet(list(asked)), list(asked.values())


def slipped(value: Sequence[float], slips: int, rng: random.Random) -> list[float]:
    """The same answers, some of them anything."""
    wrong = set(rng.sample(range(len(value)), slips))
    return [round(rng.random(), 2) if i in wrong else one for i, one in enumerate(value)]


def measure(name: str, setting: SheetSetting, value: Sequence[float]) -> None:
    """Print the processor time of the pieces, of contradictions and of bands; what a setting means is read before."""
    answers = [Answered(item.id, one) for item, one in zip(setting.items, value, strict=True)]
    on_sheet(setting, answers)
    times = [time.thread_time()]
    answered = on_sheet(setting, answers)
    assert answered is not None
    answered.pieces()
    times.append(time.thread_time())
    looked_at(answered, frozenset(), Budget())
    times.append(time.thread_time())
    checks = looked_at(answered, frozenset(), Budget())
    times.append(time.thread_time())
    bands = [band for check in checks for band in check.bands()]
    times.append(time.thread_time())
    pieces, first, again, band = (1e3 * (b - a) for a, b in itertools.pairwise(times))
    told = sum(len(check.misfits) for check in checks)
    checked = "all" if all(check.is_checked for check in checks) else "not all"
    print(
        f"| {name} | {len(value)} | {pieces:.0f} | {first:.0f} | {again:.0f} | {band:.0f} | {told} | {len(bands)} "
        f"| {checked} |",
        flush=True,
    )


def run() -> None:
    """Measure sheets of fifty answers with slips, and larger ones."""
    rng = random.Random(1)
    print("| sheet | answers | pieces, ms | finder at first, ms | finder, ms | bands, ms | told | bands | checked |")
    print("|---|---|---|---|---|---|---|---|---|")
    measure("one of each", *blocks(9))
    for slips in (0, 8, 50):
        setting, value = blocks(50)
        measure(f"groups, {slips} slips", setting, slipped(value, slips, rng))
        setting, value = woven(50, rng)
        measure(f"one piece, {slips} slips", setting, slipped(value, slips, rng))
    for count in (100, 200, 400):
        setting, value = blocks(count)
        measure("groups, 8 slips", setting, slipped(value, 8, rng))
    for count in (60, 120, 240, 490):
        measure("v_i & v_i+1", sheet([f"v{i} & v{i + 1}" for i in range(count)]), [0.4] * count)


if __name__ == "__main__":
    run()
