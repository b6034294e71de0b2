"""Group designs by name, and user-defined ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from coherently.errors import MethodError, unknown_word
from coherently.problem.groups.restricted import Setting
from coherently.problem.groups.shared import cliques, triples
from coherently.problem.groups.simple import everything, gather, logical, pairs, singletons

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.problem.groups.simple import Groups
    from coherently.problem.problem import Merged

DESIGNS: dict[str, Callable[[Merged], Groups]] = {
    "singletons": singletons,
    "logical": logical,
    "pairs": pairs,
    "triples": triples,
    "cliques": cliques,
    "global": everything,
}
"""The designs that come with the package."""
SHARING = ("triples", "cliques")
"""Designs whose groups share coordinates that nobody forecast; only Dykstra's algorithm supports these."""


Design: TypeAlias = "str | Callable[[list[tuple[int, ...]]], list[list[int]]]"
"""The name of a design, or a function from the variables of each distinct event to the groups of events."""


def find_design(design: Design) -> Callable[[Merged], Groups]:
    """Return the design with a name, or make one from a user's function."""
    if callable(design):
        return partial(_custom, design)
    if design in DESIGNS:
        return DESIGNS[design]
    raise unknown_word("group design", design, DESIGNS, "designs")


def _custom(design: Callable[[list[tuple[int, ...]]], list[list[int]]], merged: Merged) -> Groups:
    setting = Setting(merged)
    events = list(setting.own)
    groups = [sorted(set(group)) for group in design(events)]
    wrong = [group for group in groups if not group or group[0] < 0 or group[-1] >= len(events)]
    name = getattr(design, "__name__", "custom")
    if wrong:
        raise MethodError(
            f"the design {name} gave the group {wrong[0]}; a group lists numbers of the {len(events)} events"
        )
    # Events that are certain or impossible are corrected in every design.
    grouped = {i for group in groups for i in group}
    constant = [[i] for i, variables in enumerate(events) if not variables and i not in grouped]
    return gather(name, setting, [setting.draft(group) for group in groups + constant])
