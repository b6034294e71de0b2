"""Two panels as one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coherently.errors import PanelError
from coherently.events.interpretation import quote_name
from coherently.note_log import notes_unlogged
from coherently.panel.canonical import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coherently.panel.panel import Panel

OPTIONAL = ("lower", "upper", "time")


def joined(one: Panel, other: Panel) -> Panel:
    """All forecasts of both, read again so that events have one numbering; see `Panel.__or__`."""
    from coherently.panel.panel import Panel

    if one.reduced or other.reduced:
        raise PanelError("a panel that was reduced while it was read has no single forecasts: put the files together")
    if (one.time is None) != (other.time is None):
        raise PanelError("one panel has times, the other has none: give all forecasts a time, or none of them")
    plain = is_plain(one) and is_plain(other)
    with notes_unlogged():
        found = Panel.from_records(
            (*_records(one, other, plain=plain), *_records(other, one, plain=plain)),
            laws=list(dict.fromkeys((*one.laws.statements(), *other.laws.statements()))) or None,
            outcomes=_agreed(_outcomes(one, plain=plain), _outcomes(other, plain=plain), "outcome") or None,
            labels=_agreed(one.labels, other.labels, "label"),
            plain_events=plain,
        )
    notes = tuple(dict.fromkeys((*one.notes, *other.notes)))
    return replace(found, notes=notes, library=one.library or other.library)


def _texts(panel: Panel, *, plain: bool) -> list[str]:
    """The events as written; names in quotes where they need them beside formulas."""
    texts = list(panel.written.text)
    return texts if plain or not is_plain(panel) else [quote_name(text) for text in texts]


def _records(panel: Panel, other: Panel, *, plain: bool) -> Iterator[dict[str, Any]]:
    """One mapping per forecast, with the columns that one of the panels has."""
    names = [name for name in OPTIONAL if getattr(panel, name) is not None or getattr(other, name) is not None]
    columns = {name: getattr(panel, name) for name in names}
    cells = {name: [None] * len(panel) if column is None else column.tolist() for name, column in columns.items()}
    texts = _texts(panel, plain=plain)
    for i, (judge, event) in enumerate(zip(panel.judge_index.tolist(), panel.event_index.tolist(), strict=True)):
        row = {"judge": panel.judges[judge], "event": texts[event]}
        row |= {"probability": float(panel.probability[i]), "weight": float(panel.weight[i])}
        yield row | {name: own[i] for name, own in cells.items()}


def _outcomes(panel: Panel, *, plain: bool) -> dict[str, bool]:
    """The events of which it is known whether they came true."""
    pairs = zip(_texts(panel, plain=plain), panel.written.outcome.tolist(), strict=True)
    return {text: bool(outcome) for text, outcome in pairs if outcome >= 0}


def _agreed(one: Mapping[str, Any], other: Mapping[str, Any], what: str) -> dict[str, Any]:
    for text in one.keys() & other.keys():
        if one[text] != other[text]:
            both = f"{one[text]!r} in one panel and {other[text]!r} in the other"
            raise PanelError(f"the {what} of {text!r} is {both}: make them the same")
    return {**one, **other}
