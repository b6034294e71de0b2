"""Laws: what holds in every possible world, and probabilities that are fixed or limited."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import ContradictionError, ListedProblem, PanelError
from coherently.events import CERTAIN, NEVER, Events, find_conflict, find_world
from coherently.panel.cell_table import read_only
from coherently.panel.statements import MAX_CHARACTERS, PinStatement, Statement, read_pin, split_statements
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Fault
    from coherently.panel.statements import LawsSource


def _no_sides() -> NDArray[np.int32]:
    return np.empty(0, np.int32)


def _no_numbers() -> NDArray[np.float64]:
    return np.empty(0, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Pins(Value):
    """Probabilities that laws fix or limit, one entry per statement: the probability lies in [`low`, `high`].

    `event` and `condition` are sides as in `coherently.events.Reading`: for P(E given H) the event is E & H.
    """

    text: tuple[str, ...] = ()
    event: NDArray[np.int32] = field(default_factory=_no_sides)
    condition: NDArray[np.int32] = field(default_factory=_no_sides)
    low: NDArray[np.float64] = field(default_factory=_no_numbers)
    high: NDArray[np.float64] = field(default_factory=_no_numbers)

    def __post_init__(self) -> None:
        read_only(self, "event", "condition", "low", "high")

    def __len__(self) -> int:
        return len(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class Laws(Value):
    """Formulas that are true in every possible world (as sides, with text and place of each), and pins.

    `declarations` are the texts of declarations of variables; their meaning is kept with the events
    (`coherently.events.Events.choices`).
    """

    text: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    side: NDArray[np.int32] = field(default_factory=_no_sides)
    pins: Pins = field(default_factory=Pins)
    declarations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self, "side")

    def __len__(self) -> int:
        return len(self.text)

    def statements(self) -> list[str]:
        """The texts of declarations, then of laws, then of pins."""
        return [*self.declarations, *self.text, *self.pins.text]

    def say(self, index: int) -> str:
        """Quote a law and its place."""
        return f"'{shorten(self.text[index])}' ({self.place[index]})"


NO_LAWS = Laws()

LONGEST_QUOTE = 200


def shorten(text: str) -> str:
    """Cut a long text for a message."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 4]} ..."


def read_laws(source: LawsSource, events: Events) -> Laws:
    """Read declarations, formulas and pins from a file or a list; all declarations are read first.

    Raises one error for all statements that cannot be read. If all can be read and the formulas contradict each other,
    raises a `ContradictionError` with a minimal set of contradictory statements.

    >>> from coherently.events import Events
    >>> laws = read_laws(["winner = Ann -> rain  # a note", "variable winner: Ann, Bob", "P(rain) <= 40%"], Events())
    >>> laws.text, laws.pins.text, laws.pins.high.tolist()
    (('winner = Ann -> rain',), ('P(rain) <= 40%',), [0.4])
    """
    statements = split_statements(source)
    declarations = [one for one in statements if one.is_declaration]
    pinning = [one for one in statements if not one.is_declaration and one.is_pin]
    formulas = [one for one in statements if not one.is_declaration and not one.is_pin]
    problems: dict[str, Fault | str] = {}
    for fault in events.declare([one.text for one in declarations]):
        problems[declarations[fault.index].place] = fault
    side = _read_formulas(formulas, events, problems)
    pins = _read_pins(pinning, events, problems)
    if problems:
        ordered = [one.problem(problems[one.place]) for one in statements if one.place in problems]
        raise PanelError.listing(ordered)
    laws = Laws(
        text=tuple(one.text for one in formulas),
        place=tuple(one.place for one in formulas),
        side=side,
        pins=pins,
        declarations=tuple(one.text for one in declarations),
    )
    _check_contradiction(laws, formulas, declarations, events)
    _check_pins(laws, pinning, events)
    return laws


def _read_formulas(
    formulas: Sequence[Statement], events: Events, problems: dict[str, Fault | str]
) -> NDArray[np.int32]:
    reading = events.add([one.text for one in formulas], max_characters=MAX_CHARACTERS)
    for fault in reading.faults:
        problems[formulas[fault.index].place] = fault
    for index in np.flatnonzero(reading.condition > CERTAIN).tolist():
        problems[formulas[index].place] = (
            "a law is a formula without 'given'; write a -> b for a law, or P(a given b) = 0.9 for a probability"
        )
    return reading.event


def _read_pins(pinning: Sequence[Statement], events: Events, problems: dict[str, Fault | str]) -> Pins:
    found: list[tuple[Statement, PinStatement]] = []
    for one in pinning:
        pin = read_pin(one.text)
        if isinstance(pin, PinStatement):
            found.append((one, pin))
        else:
            problems[one.place] = pin
    reading = events.add([pin.event for _, pin in found], max_characters=MAX_CHARACTERS)
    for fault in reading.faults:
        one, pin = found[fault.index]
        problems[one.place] = _within(fault, one, pin)
    return Pins(
        text=tuple(one.text for one, _ in found),
        event=reading.event,
        condition=reading.condition,
        low=np.array([pin.low for _, pin in found], np.float64),
        high=np.array([pin.high for _, pin in found], np.float64),
    )


def _within(fault: Fault, one: Statement, pin: PinStatement) -> Fault:
    """Move a fault in a pin's event to its column in the whole statement."""
    return replace(fault, text=one.text, column=fault.column and fault.column + pin.offset)


def _check_contradiction(
    laws: Laws, formulas: Sequence[Statement], declarations: Sequence[Statement], events: Events
) -> None:
    conflict = find_conflict(events, laws.side)
    if conflict is None:
        return
    together = [formulas[index] for index in conflict]
    needed = [*_needed(declarations, together, events), *together]
    problems = [_in_conflict(one, "Change or delete one of them.") for one in needed]
    listed = "\n".join(f"  {one.place}: {shorten(one.text)}" for one in needed)
    if len(needed) == 1:
        alone = [_in_conflict(needed[0], "Change or delete it.")]
        raise ContradictionError(f"this law can never be true:\n{listed}\nChange or delete it.", problems=alone)
    raise ContradictionError(
        f"the laws contradict each other. No possible world obeys these {len(needed)} statements together, "
        f"and without any one of them there is no such conflict:\n{listed}\nChange or delete one of them.",
        problems=problems,
    )


def _in_conflict(one: Statement, remedy: str) -> ListedProblem:
    """One of the statements that contradict each other."""
    where = replace(one.where, event=one.text)
    return ListedProblem(f"{one.place}: {shorten(one.text)}", ContradictionError.code, where, remedy)


def _needed(declarations: Sequence[Statement], formulas: Sequence[Statement], events: Events) -> list[Statement]:
    """Find the declarations that the contradiction needs: without them the formulas could hold."""
    texts = [one.text for one in formulas]
    compared = {name for text in texts for name in events.compared(text, MAX_CHARACTERS)}
    bound = [one for one, name in zip(declarations, events.declared, strict=True) if name in compared]
    free: list[Statement] = []
    for one in list(bound):
        fewer = [other for other in bound if other is not one]
        scratch = Events()
        scratch.declare([other.text for other in fewer])
        scratch.declare([other.text for other in (*free, one)], free=True)
        reading = scratch.add(texts, max_characters=MAX_CHARACTERS)
        if not reading.faults and find_world(scratch, reading.event) is None:
            bound = fewer
            free.append(one)
    return bound


def impossible_conditions(laws: Laws, events: Events, conditions: NDArray[np.int32]) -> dict[int, str]:
    """Find the conditions (sides) that are false in every world of the laws, each with the laws that rule it out.

    A condition that shares no variable with a law is possible, since no condition is impossible by itself.
    """
    if not len(laws):
        return {}
    pending = np.unique(conditions[conditions > CERTAIN])
    if not len(pending):
        return {}
    pending = pending[touching(events, pending, laws.side)]
    world = find_world(events, laws.side)
    found = {}
    while len(pending) and world is not None:
        pending = pending[~events.evaluate(pending, world[None, :]).ravel()]
        if not len(pending):
            break
        world = find_world(events, np.r_[laws.side, pending[0]])
        while world is None and len(pending):
            found[int(pending[0])] = _ruled_out(laws, events, pending[0])
            pending = pending[1:]
            world = find_world(events, np.r_[laws.side, pending[:1]])
    return found


def count_idle(laws: Laws, events: Events, used: NDArray[np.int32]) -> int:
    """Count the laws and pins that have variables, but share none with the sides in use."""
    stated = np.concatenate([laws.side, laws.pins.event])
    if not len(stated):
        return 0
    about = np.concatenate([laws.side, laws.pins.condition])
    touched = touching(events, stated, used) | touching(events, about, used)
    return int(((stated > CERTAIN) & ~touched).sum())


def touching(events: Events, sides: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which sides share one of the user's variables with any of the others."""
    owner = events.user_variables()
    among = np.zeros(len(owner), np.bool_)
    among[owner[events.supports(others // 2)[1]]] = True
    starts, members = events.supports(sides // 2)
    touches = np.r_[0, np.cumsum(among[owner[members]])]
    return np.asarray(touches[starts[1:]] > touches[starts[:-1]])


def _ruled_out(laws: Laws, events: Events, side: np.int32) -> str:
    conflict = find_conflict(events, np.r_[laws.side, side]) or ()
    names = [laws.say(index) for index in conflict if index < len(laws)]
    return f"the condition after 'given' can never be true under the laws: {' and '.join(names)}"


def _check_constant_pins(pins: Pins, pinning: Sequence[Statement]) -> None:
    """Refuse pins on events that are never or always true, if they do not allow the probability 0 or 1."""
    for one, event, condition, low, high in zip(
        pinning, pins.event.tolist(), pins.condition.tolist(), pins.low.tolist(), pins.high.tolist(), strict=True
    ):
        if condition == CERTAIN and ((event == NEVER and low > 0) or (event == CERTAIN and high < 1)):
            why = "never true, so its probability is 0" if event == NEVER else "always true, so its probability is 1"
            raise ContradictionError(
                f"this law can never hold:\n  {one.place}: {shorten(one.text)}\n"
                f"Its event is {why}. Change or delete it.",
                where=replace(one.where, event=one.text),
                remedy="Change or delete it.",
            )


def _check_pins(laws: Laws, pinning: Sequence[Statement], events: Events) -> None:
    _check_constant_pins(laws.pins, pinning)
    broken = impossible_conditions(laws, events, laws.pins.condition)
    problems = [
        replace(one.problem(broken[condition]), code="impossible-condition")
        for one, condition in zip(pinning, laws.pins.condition.tolist(), strict=True)
        if condition in broken
    ]
    if problems:
        raise PanelError.listing(problems)
