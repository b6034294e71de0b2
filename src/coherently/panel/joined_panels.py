"""Several panels as one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coherently.errors import PanelError
from coherently.events.interpretation import quote_name
from coherently.note_log import notes_unlogged
from coherently.panel.canonical import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coherently.panel.panel import Panel

OPTIONAL = ("lower", "upper", "time")
QUOTED = r'"(?:[^"\\]|\\.)*"'
"""A name or a value in quotes, in which nothing is looked for."""


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


def side_by_side(panels: Sequence[Panel]) -> Panel:
    """All forecasts of several panels that are about different things, although they may use the same names.

    Every variable gets the number of its panel after its name, so that no event of one panel is tied to another's.
    Judges of the same name are the same person.

    >>> from coherently.panel.panel import Panel
    >>> spring = Panel.from_records([("Ann", "rain & wind", 0.2)], outcomes={"rain": True, "wind": True})
    >>> autumn = Panel.from_records([("Ann", "rain", 0.6)], outcomes={"rain": False})
    >>> both = side_by_side([spring, autumn])
    >>> both.judges, both.written.text, both.written.outcome.tolist()
    (('Ann',), ('"rain (1)" & "wind (1)"', '"rain (2)"'), [1, 0])
    """
    found = [_numbered(panel, number) for number, panel in enumerate(panels, 1)]
    whole = found[0]
    for each in found[1:]:
        whole = joined(whole, each)
    return whole


def _numbered(panel: Panel, number: int) -> Panel:
    """The panel with its number after the names of its variables."""
    from coherently.panel.panel import Panel

    plain = is_plain(panel)
    texts = _texts(panel, plain=False)
    names = _names(panel)
    with notes_unlogged():
        return Panel.from_records(
            [
                row | {"event": _renamed(quote_name(row["event"]) if plain else row["event"], names, number)}
                for row in _records(panel, panel, plain=plain)
            ],
            laws=[_renamed(law, names, number) for law in panel.laws.statements()] or None,
            outcomes={_renamed(text, names, number): bool(value) for text, value in _known(panel, texts)} or None,
        )


def _names(panel: Panel) -> set[str]:
    """The names of the variables, those that are declared and those that are not."""
    atoms = {int(atom) for choice in panel.events.declarations() for atom in choice.atoms}
    return {*panel.events.declared, *(name for i, name in enumerate(panel.events.variables) if i not in atoms)}


def _known(panel: Panel, texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    pairs = zip(texts, panel.written.outcome.tolist(), strict=True)
    return ((text, outcome) for text, outcome in pairs if outcome >= 0)


def _renamed(text: str, names: set[str], number: int) -> str:
    """A text of the event language with a number after each of some names, wherever they stand outside of others."""
    written = {quote_name(name): name for name in names}
    bare = [re.escape(word) for word in sorted(written, key=len, reverse=True) if not word.startswith('"')]
    # A dot or a hyphen is part of a name only if more of it follows: "a->b" has the names a and b.
    inside = rf"(?<!\w)(?<!\w[-.])(?:{'|'.join(bare)})(?!\w|[-.]\w)" if bare else r"(?!)"

    def numbered(found: re.Match[str]) -> str:
        name = written.get(found[0])
        return found[0] if name is None else quote_name(f"{name} ({number})")

    return re.sub(f"{QUOTED}|{inside}", numbered, text)
