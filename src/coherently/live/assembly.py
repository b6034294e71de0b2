"""What stands, as an ordinary panel, and the other way round."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from coherently.errors import PanelError
from coherently.events import Events, quote_name
from coherently.live.ledger import NOTHING, StandingForecast, StandingLaw, StandingOutcome, law_variables
from coherently.panel import CALLED_OFF, NO_LAWS, UNRESOLVED, Panel, WrittenEvents, by_appearance, read_laws
from coherently.panel.laws import impossible_conditions
from coherently.panel.outcomes import Resolution, read_outcomes, resolve
from coherently.panel.texts import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.events import Reading
    from coherently.live.ledger import Contents, Ledger
    from coherently.panel import Laws


@dataclass(frozen=True, slots=True)
class Dress:
    """What a panel has for its readers only: titles of events, and the library of its frames."""

    labels: Mapping[str, str] = field(default_factory=dict)
    library: str | None = None


def panel_of(contents: Contents, dress: Dress | None = None) -> Panel:
    """The panel of what stands; its order is that of the places, whatever else stands."""
    dress = dress or Dress()
    events = Events()
    laws = read_laws([law.text for law in contents.laws], events) if contents.laws else NO_LAWS
    codes, texts = encode([forecast.event for forecast in contents.forecasts])
    reading = events.add(texts)
    if reading.faults:
        raise PanelError(f"{reading.faults[0].text!r}: {reading.faults[0]}")
    number, first = by_appearance(reading.event.astype(np.int64) << 32 | reading.condition)
    sides = reading.sides[first]
    own = [texts[i] for i in first.tolist()]
    resolved = _outcomes(contents, events, replace(reading, sides=sides), own, laws=laws)
    written = WrittenEvents(tuple(own), sides[:, 0], sides[:, 1], sides[:, 2], outcome=resolved.outcome)
    judge, judges = encode([forecast.judge for forecast in contents.forecasts])
    return Panel(
        events,
        tuple(judges),
        written,
        judge_index=judge,
        event_index=number[codes].astype(np.int32),
        **numbers_of(contents.forecasts),
        laws=laws,
        notes=tuple(resolved.notes()),
        labels=dress.labels,
        library=dress.library,
    )


class PanelNumbers(TypedDict):
    """The columns of numbers of a panel."""

    probability: NDArray[np.float64]
    weight: NDArray[np.float64]
    lower: NDArray[np.float64] | None
    upper: NDArray[np.float64] | None
    time: NDArray[np.float64] | None


def numbers_of(forecasts: Sequence[StandingForecast]) -> PanelNumbers:
    """The numbers of forecasts, as a panel has them."""
    lower, upper = [one.lower for one in forecasts], [one.upper for one in forecasts]
    time = np.array([one.time for one in forecasts], np.float64)
    return {
        "probability": np.array([one.probability for one in forecasts], np.float64),
        "weight": np.array([one.weight for one in forecasts], np.float64),
        "lower": None if lower.count(None) == len(lower) else np.array(lower, np.float64),
        "upper": None if upper.count(None) == len(upper) else np.array(upper, np.float64),
        "time": time if np.isfinite(time).all() else None,
    }


def _outcomes(contents: Contents, events: Events, asked: Reading, texts: list[str], laws: Laws) -> Resolution:
    """How each event came out; outcomes that contradict each other, logic or laws are refused."""
    said = {one.event: one.outcome for one in contents.outcomes}
    facts = {event: outcome for event, outcome in said.items() if outcome != CALLED_OFF}
    resolved = resolve(events, [read_outcomes(facts, events, plain_events=False)] if facts else [], asked, laws)
    off = np.array([said.get(text) == CALLED_OFF for text in texts], np.bool_)
    outcome = np.where(off & (resolved.outcome == UNRESOLVED), np.int8(CALLED_OFF), resolved.outcome)
    return replace(resolved, outcome=outcome)


def check(contents: Contents) -> None:
    """Refuse what cannot stand together: contradictory laws or outcomes, and conditions that laws rule out."""
    panel = panel_of(contents)
    broken = impossible_conditions(panel.laws, panel.events, panel.written.condition)
    for text, condition in zip(panel.written.text, panel.written.condition.tolist(), strict=True):
        if condition in broken:
            raise PanelError(f"{text!r}: {broken[condition]}")


def fill(ledger: Ledger, panel: Panel) -> None:
    """Put all that a panel has into an empty ledger."""
    laws = panel.laws
    for statement in (*laws.declarations, *laws.text, *laws.pins.text):
        if statement not in ledger.laws:
            ledger.put(StandingLaw(ledger.next_place(), -math.inf, statement, law_variables(statement, ledger.words)))
    texts = _readable(panel)
    meanings = [ledger.words.read(text) for text in texts]
    for judge, event, probability, weight, lower, upper, time in _rows(panel):
        since = -math.inf if time is None else time
        standing = StandingForecast(
            ledger.next_place(),
            since,
            panel.judges[judge],
            texts[event],
            probability=probability,
            weight=weight,
            lower=lower,
            upper=upper,
            meaning=meanings[event],
        )
        ledger.put(standing)
    for text, meaning, outcome in zip(texts, meanings, panel.written.outcome.tolist(), strict=True):
        if outcome != UNRESOLVED:
            variables = meaning.variables or NOTHING
            ledger.put(StandingOutcome(ledger.next_place(), -math.inf, text, outcome, variables=variables))


def _rows(panel: Panel) -> Iterator[tuple[int, int, float, float, float | None, float | None, float | None]]:
    """The forecasts: judge, event, probability, weight, and lower, upper and time where they are known."""
    absent = [None] * len(panel)
    columns = [
        absent if column is None else [None if math.isnan(value) else value for value in column.tolist()]
        for column in (panel.lower, panel.upper, panel.time)
    ]
    index = panel.judge_index.tolist(), panel.event_index.tolist()
    return zip(*index, panel.probability.tolist(), panel.weight.tolist(), *columns, strict=True)


def _readable(panel: Panel) -> list[str]:
    """The panel's texts as formulas: names of plain events that are no formulas are put in quotes."""
    again = Events()
    again.declare(panel.laws.declarations)
    texts = list(panel.written.text)
    reading = again.add(texts)
    starts, members = panel.events.supports(panel.written.event >> 1)
    names, kept = panel.events.variables, again.variables
    own_starts, own = again.supports(np.maximum(reading.event, 0) >> 1)
    for i, text in enumerate(texts):
        meant = [names[v] for v in members[starts[i] : starts[i + 1]].tolist()]
        read = [kept[v] for v in own[own_starts[i] : own_starts[i + 1]].tolist()]
        if (reading.event[i] < 0 or meant != read) and meant == [text]:
            texts[i] = quote_name(text)
    return texts
