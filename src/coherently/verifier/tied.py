"""Whether a result was made from this panel: its digest, laws, way of reading, and the forecasts that it repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.panel import digest, is_plain
from coherently.panel.statements import PinStatement, read_pin
from coherently.verifier.distinct_events import CLOSE
from coherently.verifier.promises import Unchecked, cut

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.panel import Panel
    from coherently.result import Result


def check_digest(panel: Panel, result: Result) -> tuple[list[str], list[Unchecked]]:
    """The digest of the result must be that of the panel: the problems, and what cannot be checked without one."""
    if result.panel is panel:
        return [], []
    stated, own = result.panel_sha256, digest(panel)
    if stated is None or own is None:
        return [], [
            Unchecked(("panel_sha256",), "that the result was made from this panel: it is not tied to its panel")
        ]
    if stated != own:
        return [f"the result was made from another panel: the digest is {stated[:12]}..., here {own[:12]}..."], []
    return [], []


def check_reading(panel: Panel, result: Result) -> list[str]:
    """Events must have been read alike: as formulas, or as plain names."""
    if result.panel is panel or is_plain(panel) == is_plain(result.panel):
        return []
    words = {True: "single variables", False: "formulas"}
    return [f"the result has {words[is_plain(result.panel)]} for events, the panel {words[is_plain(panel)]}"]


def check_rows(panel: Panel, result: Result, rows: Indices) -> list[str]:
    """The forecasts of events with intervals must be those of the panel; `rows` has the result's row of each event."""
    if result.panel is panel:
        return []
    number = np.empty(len(rows), np.int64)
    number[rows] = np.arange(len(rows))
    own, told = _interval_rows(panel, np.arange(len(rows))), _interval_rows(result.panel, number)
    bad = {int(event) for event in np.setxor1d(own.event, told.event).tolist()}
    counts = [np.bincount(one.event, minlength=len(rows)) for one in (own, told)]
    bad |= set(np.flatnonzero(counts[0] != counts[1]).tolist())
    if not bad:
        apart = ~np.isclose(told.numbers, own.numbers, rtol=CLOSE, atol=0.0, equal_nan=True).all(axis=1)
        bad = set(own.event[apart].tolist())
    return cut(
        [f"the forecasts of {panel.written.text[i]!r}, of intervals, are not those of the panel" for i in sorted(bad)]
    )


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRows:
    """The forecasts of events that have intervals, by event and then by numbers: probability, weight, lower, upper."""

    event: Indices
    numbers: Vector


def _interval_rows(panel: Panel, number: Indices) -> RepeatedRows:
    none = np.full(len(panel), np.nan)
    low, high = (none if ends is None else ends for ends in (panel.lower, panel.upper))
    given = np.zeros(len(panel.written), np.bool_)
    given[panel.event_index[~(np.isnan(low) & np.isnan(high))]] = True
    mine = np.flatnonzero(given[panel.event_index])
    event = number[panel.event_index[mine]]
    numbers = np.stack([panel.probability, panel.weight, low, high], axis=1)[mine]
    order = np.lexsort((*numbers.T[::-1], event))
    return RepeatedRows(event[order], numbers[order])


def check_laws(panel: Panel, other: Panel) -> list[str]:
    """The result must have been made under the panel's laws, in whatever words; `other` is the result's own panel."""
    if panel.laws is other.laws:
        return []
    given, made = _meanings(panel, panel), _meanings(panel, other)
    problems = [f"the result was made without the panel's {given[key]}" for key in given if key not in made]
    problems += [
        f"the result was made under {made[key]}, which is not in the panel" for key in made if key not in given
    ]
    counts = [len(one.laws.statements()) for one in (other, panel)]
    if not problems and counts[0] != counts[1]:
        problems.append(f"the result was made under {counts[0]:,} laws, in the panel there are {counts[1]:,}")
    return cut(problems)


def _meanings(panel: Panel, other: Panel) -> dict[tuple[object, ...], str]:
    """Each declaration, law and pin of the other, by what it means to the panel, in words."""
    laws, pins = other.laws, other.laws.pins
    found: dict[tuple[object, ...], str] = {("".join(t.split()),): f"declaration {t!r}" for t in laws.declarations}
    for text, sides in zip(laws.text, panel.events.find(laws.text).sides.tolist(), strict=True):
        found["law", sides[0]] = f"law {text!r}"
    read = [read_pin(text) for text in pins.text]
    events = [pin.event if isinstance(pin, PinStatement) else "" for pin in read]
    for i, sides in enumerate(panel.events.find(events).sides.tolist()):
        found["pin", *sides[:2], float(pins.low[i]), float(pins.high[i])] = f"pin {pins.text[i]!r}"
    return found
