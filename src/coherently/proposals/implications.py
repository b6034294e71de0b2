"""What proposals say together: chains of implications, events that become impossible, and events that become equal."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from coherently.proposals.proposal import Literal, ProposedLaw, clauses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Implications:
    """The implications between single events, true or false, that follow from pairs in proposals.

    >>> from coherently.proposals.proposal import RelationName, Strength
    >>> ladder = ProposedLaw("r", RelationName.LADDER, ("a", "b", "c"), Strength.CERTAIN, id="r1")
    >>> apart = ProposedLaw("r", RelationName.EXCLUDES, ("a", "c"), Strength.CERTAIN, id="r2")
    >>> [(name, [one.id for one in chain]) for name, chain in Implications([ladder, apart]).impossible()]
    [('a', ['r1', 'r2'])]
    """

    def __init__(self, proposals: Iterable[ProposedLaw]) -> None:
        self._edges: dict[Literal, dict[Literal, ProposedLaw]] = {}
        self.proposals = tuple(proposals)
        for proposal in self.proposals:
            for first, second in clauses(proposal.relation, proposal.members):
                self._edges.setdefault(first, {}).setdefault(second, proposal)
                self._edges.setdefault(_denied(second), {}).setdefault(_denied(first), proposal)

    def names(self) -> list[str]:
        """The events, in order."""
        return sorted({name for name, _ in self._edges})

    def reached(self, start: Literal) -> dict[Literal, Literal]:
        """All that follows from a literal, each with the literal before it in a shortest chain."""
        before = {start: start}
        queue = deque([start])
        while queue:
            one = queue.popleft()
            for other in self._edges.get(one, ()):
                if other not in before:
                    before[other] = one
                    queue.append(other)
        return before

    def chain(self, before: dict[Literal, Literal], end: Literal) -> list[ProposedLaw]:
        """The proposals on the way to a literal, each once."""
        steps: list[ProposedLaw] = []
        while before[end] != end:
            proposal = self._edges[before[end]][end]
            if proposal not in steps:
                steps.append(proposal)
            end = before[end]
        return steps[::-1]

    def impossible(self) -> Iterator[tuple[str, list[ProposedLaw]]]:
        """Events that can never come true, each with the chain that does it."""
        for name in self.names():
            for value in (True, False):
                before = self.reached((name, value))
                if (name, not value) in before:
                    yield name, self.chain(before, (name, not value))

    def equal(self) -> Iterator[tuple[str, str, list[ProposedLaw]]]:
        """Pairs of events that always come true together, each with the chain that does it."""
        reached = {name: self.reached((name, True)) for name in self.names()}
        for name, before in reached.items():
            for other, value in sorted(before):
                if value and name < other and (name, True) in reached.get(other, ()):
                    back = self.chain(reached[other], (name, True))
                    yield name, other, [*self.chain(before, (other, True)), *back]


def _denied(literal: Literal) -> Literal:
    return literal[0], not literal[1]
