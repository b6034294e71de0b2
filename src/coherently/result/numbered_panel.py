"""A panel as the checker of proofs numbers it, from what the compiled core has read.

The checker numbers terms by their first lines in the canonical form, and variables as texts mention them: laws, then
pins, then events by their first lines. Which forecasts are one term, and what the terms are about, the problem has
already. The checker's own reader reads pins and those events alone that the solver has in another form: counts,
conditionals about declared variables, and events that are wide.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.panel.canonical import is_plain, line_ranks
from coherently.problem.functions import Functions
from coherently.proofcheck.check_errors import BadInputError
from coherently.proofcheck.language import normal, read_event, read_pin
from coherently.proofcheck.leaves import WorkLeft
from coherently.proofcheck.loss_planes import LinearisedCost
from coherently.proofcheck.numbers import decimal
from coherently.proofcheck.posed_panel import PosedPanel, PosedPin, PosedTerm
from coherently.proofcheck.truth_functions import TRUE, TruthFunction
from coherently.result.numbered_space import NumberedSpace
from coherently.result.plain_tables import masks, plain_tables
from coherently.result.touching_points import SolvedCost

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.proofcheck.loss_planes import Cost, LossRule
    from coherently.result.result import Result

COUNT = re.compile("exactly|at_least|at_most", re.IGNORECASE)
WIDEST_TABLE = 16
"""Binary logarithm of the number of combinations of states above which the checker's reader reads an event."""
WIDEST_CONDITIONAL = 6
"""The same of a conditional, whose tables are compared."""
NEVER, CERTAIN = 0, 1


class NumberedPanel(PosedPanel):
    """The panel of a result with the checker's numbers of terms, laws, pins and variables."""

    def __init__(self, result: Result, digest: str) -> None:
        panel = result.panel
        self.result, self.digest = result, digest
        self.texts = [normal(text) for text in panel.written.text]
        self.lines = Lines(panel)
        place = np.argsort(line_ranks(panel.laws.text), kind="stable")
        laws = [normal(panel.laws.text[i]) for i in place.tolist()]
        pins = [normal(panel.laws.pins.text[i]) for i in np.argsort(line_ranks(panel.laws.pins.text), kind="stable")]
        told = [read_pin(text) for text in pins]
        seen = self.lines.seen.tolist()
        events = [self.texts[unit] for unit in seen]
        self.is_plain = is_plain(panel)
        texts = [*laws, *(event for event, _, _ in told), *([] if self.is_plain else events)]
        self.space: NumberedSpace = NumberedSpace(panel.events, texts, events if self.is_plain else ())
        sizes = np.zeros(len(self.texts))
        if not self.is_plain:
            sizes[seen] = self.space.sizes[len(laws) + len(told) :]
        self.functions = SolvedFunctions(panel, self.space, panel.laws.side[place])
        self.read = self._to_read(sizes)
        self.laws = self._laws(laws, panel.laws.side[place])
        self.pins = [
            PosedPin(text, *self.event(read_event(event)), low, high)
            for text, (event, low, high) in zip(pins, told, strict=True)
        ]

    def _to_read(self, sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which events the checker's reader must read."""
        known, own = self.functions, self.result.panel.written
        wide = (sizes > WIDEST_TABLE) | (known.size[own.event >> 1] > WIDEST_TABLE)
        hints = self.result.solution.hints  # type: ignore[attr-defined]
        unclear = (
            np.zeros(len(own), np.bool_) if hints.forces else ~(known.at_last(own.event) | known.at_last(own.rest))
        )
        if hints.forces:  # which are about the tables of conditions
            for side in (own.event, own.rest, own.condition):
                unclear |= ~known.has_mask[side >> 1]
        return np.asarray(_counts(self.texts) | wide | (self._is_given() & unclear))

    def read_side(self, unit: int) -> tuple[TruthFunction, TruthFunction, bool | None, bool]:
        """What an event is about, by the checker's reader; see `NumberedSides.of`."""
        text = self.texts[unit]
        program = read_event(text)
        self.programs, self.events = {text: program}, {text: self.event(program)}
        return self.side(text, WorkLeft())

    def _is_given(self) -> NDArray[np.bool_]:
        """Which events have a condition that is not certain, and are not settled."""
        return np.asarray(self.result.problem.conditional[: len(self.texts)])

    def _laws(self, texts: Sequence[str], sides: NDArray[np.int32]) -> list[TruthFunction]:
        wide = (self.space.sizes[: len(texts)] > WIDEST_TABLE) | (self.functions.size[sides >> 1] > WIDEST_TABLE)
        wide |= _counts(texts)
        return [
            self.space.function(read_event(text)[0])
            if is_wide
            else TruthFunction((), side)
            if side <= CERTAIN
            else TruthFunction(self.functions.scope(side), None)
            for text, side, is_wide in zip(texts, sides.tolist(), wide.tolist(), strict=True)
        ]

    def terms(self, loss: LossRule, work: WorkLeft) -> list[PosedTerm]:  # noqa: ARG002
        """Merged forecasts, and intervals of their own, in the order of appearance; hints lead to their costs."""
        sides, found = NumberedSides(self), dict[tuple[Any, ...], tuple[Any, ...]]()
        weights: dict[tuple[Any, ...], float] = {}
        for unit, low, high, weight in self.lines.forecasts():
            key, is_bounded, ends = sides.key(unit), low is not None or high is not None, None
            if is_bounded:
                bounds = decimal(repr((low or 0.0) + 0.0)), decimal(repr(1.0 if high is None else high + 0.0))
                ends = (1 - bounds[1], 1 - bounds[0]) if sides.of(unit)[-1] else bounds
            whole = (key, ends)
            if is_bounded:
                weights[whole] = weights.get(whole, 0.0) + weight
            if whole not in found:
                found[whole] = unit, *sides.of(unit)
        return [
            PosedTerm(
                joint,
                given,
                self._cost(loss, unit, key[1], weights.get(key, 0.0), given, turned),
                settled,
                text=self.texts[unit],
                turned=turned,
            )
            for key, (unit, joint, given, settled, turned) in found.items()
        ]

    def possible(self, function: TruthFunction, work: WorkLeft) -> bool:  # noqa: ARG002
        """Whether a function can hold; what laws forbid is settled in the problem already."""
        return function.constant is not False

    def _cost(
        self,
        loss: LossRule,
        unit: int,
        ends: tuple[Fraction, Fraction] | None,
        weight: float,
        given: TruthFunction,
        turned: bool,
    ) -> Cost:
        problem, mean = self.result.problem, 0.5
        is_given = given.constant is None
        if ends is None and is_given:
            merged, at = problem.merged.terms.conditionals, problem.coordinate[unit]
            weight, mean = float(merged.weight[at]) * problem.weight_unit, float(merged.mean[at])
            mean = 1.0 - mean if bool(problem.complemented[unit]) != turned else mean
        if loss.linearised and is_given:
            return LinearisedCost(Fraction(weight), *(ends or (Fraction(mean), Fraction(mean))))
        if ends is not None:
            return loss.interval(*ends, Fraction(weight))
        return SolvedCost(loss.name, mean, weight)  # type: ignore[return-value]


class Lines:
    """The forecasts in the order of the lines of the canonical form.

    `seen` are the events in the order of their first lines, `counted` in that of their first lines with some weight.
    """

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.judge, self.event = line_ranks(panel.judges), line_ranks(panel.written.text)
        self.seen, self.counted = self._first(slice(None)), self._first(panel.weight > 0)

    def _first(self, some: slice | NDArray[np.bool_]) -> NDArray[np.int64]:
        first = np.full(len(self.event), len(self.judge))
        np.minimum.at(first, self.panel.event_index[some], self.judge[self.panel.judge_index[some]])
        order = np.lexsort((self.event, first))
        return order[: np.count_nonzero(first < len(self.judge))]

    def forecasts(self) -> Iterator[tuple[int, float | None, float | None, float]]:
        """Events that count, each with the ends of an interval and their weight; without an interval once is enough."""
        panel = self.panel
        if panel.lower is None and panel.upper is None:
            yield from ((unit, None, None, 0.0) for unit in self.counted.tolist())
            return
        rows = np.flatnonzero(panel.weight > 0)
        judge, event = self.judge[panel.judge_index[rows]], self.event[panel.event_index[rows]]
        keys = zip(judge.tolist(), event.tolist(), (self._numbers(row) for row in rows.tolist()), strict=True)
        for _, row in sorted(zip(keys, rows.tolist(), strict=True)):
            low, high = (None if side is None or np.isnan(side[row]) else float(side[row]) for side in self._sides)
            yield int(panel.event_index[row]), low, high, float(panel.weight[row])

    @property
    def _sides(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        return self.panel.lower, self.panel.upper

    def _numbers(self, row: int) -> str:
        """The numbers of a forecast, as its line has them."""
        columns = ("probability", "weight", "lower", "upper")
        known = {name: values[row] for name in columns if (values := getattr(self.panel, name)) is not None}
        told = {name: float(value) + 0.0 for name, value in known.items() if not np.isnan(value)}
        return "".join(f',"{name}":{value!r}' for name, value in told.items()) + "}"


def _counts(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts may be counts, or have them inside."""
    if COUNT.search("\n".join(texts)) is None:
        return np.zeros(len(texts), np.bool_)
    return np.array([COUNT.search(text) is not None for text in texts], np.bool_)


class SolvedFunctions:
    """The functions of a panel's events and laws over the checker's variables, by the numbers of their coordinates.

    `size` is the number of the solver's variables, `last` the truth in the last states of all variables, and
    `has_mask` says which have tables.
    """

    def __init__(self, panel: Panel, space: NumberedSpace, laws: NDArray[np.int32]) -> None:
        own = panel.written
        used = np.unique(np.concatenate([own.event, own.rest, own.condition, laws]) >> 1)
        functions = Functions(*panel.events.supports(used), *panel.events.tables(used))
        self.place = np.zeros(len(panel.events), np.int64)
        self.place[used] = np.arange(len(used))
        numbers, sizes = space.owner[functions.variables], functions.sizes()
        if (numbers < 0).any():
            raise BadInputError("an event has a variable that no text mentions")
        self.size = self._by_coordinate(sizes)
        self.scopes = _scopes(numbers, sizes, len(space.variables))
        self.last = self._by_coordinate(_at(functions, space.last))
        is_plain = (
            np.bincount(np.repeat(np.arange(len(used)), sizes), ~space.plain[functions.variables], len(used)) == 0
        )
        asked = np.zeros(len(used), np.bool_)
        given = own.condition != CERTAIN
        for side in (own.event, own.rest, own.condition):
            asked[self.place[side[given] >> 1]] = True
        self.masks: list[int | None] = [None] * len(used)
        asked &= is_plain & (sizes <= WIDEST_CONDITIONAL)
        for rows, _, table in plain_tables(functions, asked, numbers):
            for row, mask in zip(rows.tolist(), masks(table), strict=True):
                self.masks[row] = mask
        self.has_mask = self._by_coordinate(asked)

    def _by_coordinate(self, values: NDArray[Any]) -> NDArray[Any]:
        return values[self.place]

    def scope(self, side: int) -> tuple[int, ...]:
        """The variables of the event of a side."""
        return self.scopes[int(self.place[side >> 1])]

    def at_last(self, sides: NDArray[np.int32]) -> NDArray[np.bool_]:
        """The truth of sides in the last states of all variables."""
        return np.asarray(self.last[sides >> 1] != (sides & 1).astype(np.bool_))

    def function(self, side: int) -> TruthFunction:
        """The function of a side, with its table if it has one."""
        row = int(self.place[side >> 1])
        scope, mask = self.scopes[row], self.masks[row]
        if mask is None:
            return TruthFunction(scope, None)
        return TruthFunction(scope, mask ^ ((1 << (1 << len(scope))) - 1) if side & 1 else mask)


def _scopes(numbers: NDArray[np.int64], sizes: NDArray[np.int64], count: int) -> list[tuple[int, ...]]:
    """The numbers of each row, ascending, each once."""
    row = np.repeat(np.arange(len(sizes)), sizes)
    row, number = np.divmod(np.unique(row * count + numbers), max(1, count))
    ends, members = np.cumsum(np.bincount(row, minlength=len(sizes))).tolist(), number.tolist()
    return [tuple(members[begin:end]) for begin, end in pairwise([0, *ends])]


def _at(functions: Functions, truths: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The truth of each function at given truths of all variables; it means nothing for functions without tables."""
    sizes = functions.sizes()
    inside = np.arange(len(functions.variables)) - np.repeat(functions.starts[:-1], sizes)
    bits = np.where(truths[functions.variables], 2.0 ** np.minimum(inside, WIDEST_TABLE), 0.0)
    place = np.bincount(np.repeat(np.arange(len(sizes)), sizes), bits, len(sizes)).astype(np.int64)
    place[sizes > WIDEST_TABLE] = 0
    word = functions.tables[functions.table_starts[:-1] + (place >> 6)]
    return (word >> (place & 63).astype(np.uint64) & np.uint64(1)).astype(np.bool_)


class NumberedSides:
    """What each event is about, turned to the side that stands for it and its complement."""

    def __init__(self, panel: NumberedPanel) -> None:
        self.panel, self.known = panel, dict[int, tuple[TruthFunction, TruthFunction, bool | None, bool]]()
        own, problem, count = panel.result.panel.written, panel.result.problem, len(panel.texts)
        self.event, self.rest, self.condition = own.event.tolist(), own.rest.tolist(), own.condition.tolist()
        self.coordinate, self.given = problem.coordinate[:count].tolist(), panel._is_given().tolist()
        is_constant = (own.event <= CERTAIN) | (own.rest <= CERTAIN) | ((own.condition != CERTAIN) & ~panel._is_given())
        self.settled, self.read = is_constant.tolist(), panel.read.tolist()
        self.complemented = problem.complemented[:count].tolist()
        self.turned = panel.functions.at_last(own.event).tolist()

    def key(self, unit: int) -> Hashable:
        """What equal events, and their complements, have in common."""
        if self.settled[unit]:
            return None
        if self.read[unit]:
            joint, given, settled, _ = self.of(unit)
            if settled is not None:
                return None
            if joint.mask is None:
                return joint, given
        return self.coordinate[unit], self.given[unit]

    def of(self, unit: int) -> tuple[TruthFunction, TruthFunction, bool | None, bool]:
        """The joint event, the condition, whether they are settled, and whether that is the complement of the event."""
        if unit not in self.known:
            self.known[unit] = self.panel.read_side(unit) if self.read[unit] else self._of(unit)
        return self.known[unit]

    def _of(self, unit: int) -> tuple[TruthFunction, TruthFunction, bool | None, bool]:
        if self.settled[unit]:
            return TRUE, TRUE, True, not self.complemented[unit]
        known = self.panel.functions
        if not self.given[unit]:
            return TruthFunction(known.scope(self.event[unit]), None), TRUE, None, self.turned[unit]
        joint, other, given = (known.function(side[unit]) for side in (self.event, self.rest, self.condition))
        turned = joint.scope > other.scope
        if joint.scope == other.scope:
            is_known = joint.mask is not None and other.mask is not None
            turned = joint.mask > other.mask if is_known else self.turned[unit]  # type: ignore[operator]
        return other if turned else joint, given, None, turned
