"""The whole result, put together from the answers for its components."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from coherently.errors import PanelError
from coherently.live.assembly import panel_of
from coherently.live.ledger import Contents
from coherently.live.published.edition import is_same, scaled
from coherently.live.vocabulary import user_names
from coherently.problem import split
from coherently.result import aggregate
from coherently.solve import Budget
from coherently.solve.methods.exact import Known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.live.assembly import Dress
    from coherently.live.published.edition import Edition, Rules
    from coherently.problem import Merged, Problem
    from coherently.result import Result
    from coherently.solve import Exact, Global, Method
    from coherently.solve.component.answer import Answer


def whole(editions: Sequence[Edition], rules: Rules, method: Method, dress: Dress) -> Result:
    """The result of all editions together, for the panel that they were made for."""
    contents = Contents.of(item for one in editions for item in one.contents)
    if not contents.forecasts:
        raise PanelError("no forecast is solved yet: add one, then call settle()")
    panel = panel_of(contents, dress)
    home = {name: one for one in editions for name in one.variables}
    of_variable = [home.get(name) for name in user_names(panel.events)]
    return replace(aggregate(panel, _Recalled(rules.exact, of_variable), rules.loss), method=method)


@dataclass(frozen=True, slots=True)
class _Recalled:
    """The exact method, with answers that are known; `editions` has the edition of each variable of the panel."""

    name: ClassVar[str] = "exact"

    exact: Exact
    editions: Sequence[Edition | None]

    def solve(self, problem: Problem, budget: Budget | None = None) -> Global:
        """Join the known answers; what has none is solved."""
        editions: dict[int, list[tuple[Merged, Answer]]] = defaultdict(list)
        for one in {id(one): one for one in self.editions if one is not None}.values():
            if (answers := one.answers) is not None:
                editions[id(one)] = [*zip(one.parts(), answers, strict=True)]
        parts = split(problem.merged)
        recalled = [self._recall(problem, part.merged, editions) for part in parts]
        known = {i: answer for i, answer in enumerate(recalled) if answer is not None}
        own = replace(budget or Budget(), tolerance=0.5 * self.exact.tolerance, floor=1.0 / max(1, len(parts)))
        answers = self.exact.answers(problem, own.within(self.exact.time_limit), Known(known))
        return self.exact.joined(problem, answers)

    def _recall(self, problem: Problem, part: Merged, known: dict[int, list[tuple[Merged, Answer]]]) -> Answer | None:
        """The answer for a component, if what was solved is exactly that component."""
        if not part.n_variables:
            return None
        edition = self.editions[int(problem.merged.origin[part.origin[0]])]
        if edition is None:
            return None
        factor = edition.problem.weight_unit / problem.weight_unit
        for own, answer in known[id(edition)]:
            if is_same(part, own, factor):
                return scaled(answer, factor)
        return None
