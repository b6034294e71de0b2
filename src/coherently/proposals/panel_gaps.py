"""What a panel thinks of proposals: how many judges contradict each, by how much; and what outcomes refute."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import quote_name
from coherently.proposals.proposal import PanelGap, ProposedLaw, RelationName, clauses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.panel import Panel

SLACK = 1e-9


def panel_gaps(proposals: Sequence[ProposedLaw], panel: Panel) -> list[PanelGap | None]:
    """One for each proposal; None if no judge answered two of its members."""
    answers = _answers(panel)
    return [_gap(one, answers) for one in proposals]


def _answers(panel: Panel) -> list[dict[str, float]]:
    """The mean forecast of each judge of each event, by text."""
    total: list[dict[str, list[float]]] = [{} for _ in panel.judges]
    texts = list(panel.written.text)
    for judge, event, value in zip(
        panel.judge_index.tolist(), panel.event_index.tolist(), panel.probability.tolist(), strict=True
    ):
        if value == value:  # noqa: PLR0124
            total[judge].setdefault(texts[event], []).append(value)
    return [{text: float(np.mean(values)) for text, values in one.items()} for one in total]


def _gap(proposal: ProposedLaw, answers: Sequence[Mapping[str, float]]) -> PanelGap | None:
    names = [(member, quote_name(member)) for member in proposal.members]
    found = []
    for given in answers:
        values = [given.get(plain, given.get(quoted)) for plain, quoted in names]
        known = [value for value in values if value is not None]
        if len(known) > 1:
            gap = excess(proposal.relation, known, whole=len(known) == len(values))
            found.append(max(gap, 0.0))
    if not found:
        return None
    violated = sum(gap > SLACK for gap in found)
    return PanelGap(violated, len(found), round(float(np.mean(found)), 6))


def excess(relation: RelationName, values: Sequence[float], *, whole: bool = True) -> float:
    """By how much probabilities of the members break the relation; not positive where they do not.

    >>> round(excess(RelationName.AT_MOST, [0.5, 0.4, 0.3]), 6), excess(RelationName.IMPLIES, [0.25, 0.5])
    (0.2, -0.25)
    """
    if relation in (RelationName.IMPLIES, RelationName.LADDER):
        return max(a - b for a, b in pairwise(values))
    if relation is RelationName.EQUIVALENT:
        return max(abs(a - b) for a, b in pairwise(values))
    more = sum(values) - 1.0
    must = relation in (RelationName.COMPLEMENT, RelationName.EXACTLY, RelationName.PARTITION)
    return abs(more) if must and whole else more


def refuted(proposal: ProposedLaw, outcomes: Mapping[str, bool]) -> bool:
    """Whether outcomes violate a proposal."""
    for (one, value), (other, follows) in clauses(proposal.relation, proposal.members):
        if outcomes.get(one) is value and outcomes.get(other) is (not follows):
            return True
    if proposal.relation in (RelationName.EXACTLY, RelationName.PARTITION):
        return all(outcomes.get(name) is False for name in proposal.members)
    return False


def outcomes_of(panel: Panel) -> dict[str, bool]:
    """The events of a panel that are resolved, by text."""
    told = zip(panel.written.text, panel.written.outcome.tolist(), strict=True)
    return {text.strip('"'): outcome == 1 for text, outcome in told if outcome in (0, 1)}
