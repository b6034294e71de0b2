"""What a past panel has in common with the one that it teaches, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Mask
    from coherently.panel import Panel

OTHER_EVENTS = (
    "What it teaches, a pool and a line in log-odds, carries over only if judges and questions are of the same kind."
)


def where_scored(panel: Panel, history: Panel) -> str:
    """Which events the scores are of, and whether they taught."""
    if not _resolved(panel).any():
        return "On events of the history that it did not learn from (the panel has no outcomes)"
    common = len(_variables(panel, _resolved(panel)) & _variables(history, _resolved(history)))
    if not common:
        return "On the panel's events (learned on the history)"
    some = "1 variable of which is" if common == 1 else f"{common:,} variables of which are"
    return (
        f"On the panel's events, {some} resolved in the history, too, so that these scores may be too good "
        "(learned on the history)"
    )


def what_is_shared(panel: Panel, history: Panel) -> str:
    """A remark if the history is about other events; empty if it shares a variable with the panel."""
    if _variables(panel) & _variables(history):
        return ""
    judges = "" if set(panel.judges) & set(history.judges) else ", nor a judge,"
    return f"The history shares no event{judges} with the panel. {OTHER_EVENTS}"


def _resolved(panel: Panel) -> Mask:
    """Which events as written are forecast and have an outcome."""
    forecast = np.bincount(panel.event_index, minlength=len(panel.written)) > 0
    return np.asarray(forecast & (panel.written.outcome >= 0))


def _variables(panel: Panel, among: Mask | None = None) -> set[str]:
    """The names of the variables of events as written, by default of all; of a declared variable, its own."""
    events, written = panel.events, panel.written
    sides = np.concatenate([written.event, written.condition] if among is None else [written.event[among]])
    name = list(events.variables)
    for choice in events.choices():
        for atom in choice.atoms.tolist():
            name[atom] = choice.name
    return {name[i] for i in np.unique(events.supports(sides // 2)[1]).tolist()}
