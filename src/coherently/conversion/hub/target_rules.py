"""Rules that relate the targets of a hub, such as "a season's peak is at least each of its weeks"."""

from __future__ import annotations

import bisect
import difflib
import itertools
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from coherently.conversion.hub.hub_cells import cell_number
from coherently.errors import PanelError, counted, summarise
from coherently.panel import read_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coherently.conversion.draft import Draft
    from coherently.conversion.hub.distributions import Threshold
    from coherently.conversion.hub.quantities import Quantity

Pair: TypeAlias = "tuple[Quantity, Quantity]"
"""Two quantities of which the first is never below the second."""
COMPARED: Final = re.compile(r"(?P<left>.+?)\s*(?P<sign>>=|<=)\s*(?P<right>.+?)\s+for same\s+(?P<same>.+)")
RISING: Final = re.compile(r"(?P<left>.+?)\s+rises with\s+(?P<by>\S+)\s+for same\s+(?P<same>.+)")
SHAPES: Final = "A rule is TARGET >= TARGET for same COLUMN, ..., or TARGET rises with COLUMN for same COLUMN, ..."


def read_rules(
    path: str | os.PathLike[str],
    quantities: Sequence[Quantity],
    targets: Iterable[str],
    columns: Sequence[str],
    draft: Draft,
) -> list[Pair]:
    """Read a file of rules, one per line, and give the pairs of quantities that they relate."""
    known, pairs, problems = sorted(set(targets)), [], []
    for number, line in enumerate(read_lines(path), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        place = f"{path} line {number}"
        try:
            made = _pairs(text, quantities, known, columns)
        except PanelError as error:
            problems.append(f"{place}: {error}")
            continue
        pairs += made
        if not made:
            draft.notes.append(f"{place} relates no two quantities of the forecasts that were converted: {text}")
    if problems:
        raise PanelError("\n".join([summarise(problems), SHAPES]))
    draft.notes.append(f"{path} relates {counted(len(pairs), 'pair')} of quantities")
    return pairs


def _pairs(text: str, quantities: Sequence[Quantity], targets: Sequence[str], columns: Sequence[str]) -> list[Pair]:
    rule = COMPARED.fullmatch(text) or RISING.fullmatch(text)
    if rule is None:
        raise PanelError(f"{text!r} is not a rule")
    parts = rule.groupdict()
    same = [_known(name, columns, "column") for name in parts["same"].split(",")]
    left = _known(parts["left"], targets, "target")
    members = _members(left, quantities)
    if "by" in parts:
        return _rising(members, _known(parts["by"], columns, "column"), same)
    right = _known(parts["right"], targets, "target")
    if left == right:
        raise PanelError(f"{left!r} is compared with itself; write {left} rises with COLUMN for same ...")
    groups = _grouped(_members(right, quantities), same)
    pairs = [(one, other) for one in members for other in groups.get(_key(one, same), ())]
    return pairs if parts["sign"] == ">=" else [(other, one) for one, other in pairs]


def _known(text: str, allowed: Sequence[str], what: str) -> str:
    name = text.strip().strip('"').strip()
    if name in allowed:
        return name
    close = difflib.get_close_matches(name, allowed, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise PanelError(f"unknown {what} {name!r}{hint} (the {what}s are {', '.join(allowed)})")


def _members(target: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    return [quantity for quantity in quantities if quantity.ids.get("target") == target]


def _key(quantity: Quantity, same: Sequence[str]) -> tuple[str, ...]:
    return tuple(quantity.ids.get(column, "") for column in same)


def _grouped(members: Iterable[Quantity], same: Sequence[str]) -> dict[tuple[str, ...], list[Quantity]]:
    groups: dict[tuple[str, ...], list[Quantity]] = {}
    for quantity in members:
        groups.setdefault(_key(quantity, same), []).append(quantity)
    return groups


def _rising(members: Sequence[Quantity], by: str, same: Sequence[str]) -> list[Pair]:
    """Pair each quantity with the next one along a column, whose values are numbers or dates."""

    def position(quantity: Quantity) -> tuple[float, str]:
        text = quantity.ids[by]
        number = cell_number(text)
        return (0.0, text) if number is None else (number, "")

    placed = [quantity for quantity in members if by in quantity.ids]
    ordered = (sorted(group, key=position) for group in _grouped(placed, same).values())
    steps = [step for group in ordered for step in itertools.pairwise(group)]
    return [(later, earlier) for earlier, later in steps if position(earlier) < position(later)]


def laws_of(
    pair: Pair, thresholds: Mapping[str, Sequence[Threshold]], event: Callable[[Quantity, Threshold], str]
) -> list[str]:
    """Write that one quantity is never below another, at the thresholds that both have.

    If the greater is at most b, the lesser is at most the first of its thresholds from b on; of all b with the same
    first threshold the last implies the rest. No law between two thresholds is lost by this.
    """
    greater, lesser = pair
    own = thresholds[lesser.name]
    needed: dict[Threshold, Threshold] = {}
    for limit in thresholds[greater.name]:
        at = bisect.bisect_left(own, limit)
        if at < len(own):
            needed[own[at]] = limit
    return [f"{event(greater, high)} -> {event(lesser, low)}" for low, high in needed.items()]
