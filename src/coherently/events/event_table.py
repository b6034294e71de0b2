"""Distinct events by number, over the compiled parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.errors import EventError
from coherently.events.choices import make_choices
from coherently.events.interpretation import Fault, Reading, faults_of, prepare, quote_name, reading_of
from coherently.events.packed import PackedTexts
from coherently.values import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.events.choices import Choice, Value

NEVER, CERTAIN = 0, 1
"""The sides of the two constant events."""

MAX_CHARACTERS = 10_000
"""The longest event text."""

_Read: TypeAlias = "tuple[str, Sequence[str], int]"


class Events:
    """A growing table of variables and of distinct events over them.

    >>> events = Events()
    >>> events.add(["p & q", "~(~p | ~q)", "~p | ~q", "p | ~p"]).event.tolist()
    [2, 2, 3, 1]
    """

    def __init__(self) -> None:
        self._table = _core.EventTable()
        self._read: list[_Read] = []
        self._asked: list[tuple[int, Sequence[str]]] = []
        self._told: tuple[int, set[str]] = 0, set()
        self._choices: tuple[tuple[int, ...], tuple[Choice, ...]] | None = None

    def __len__(self) -> int:
        """Count the coordinates, including the constant one."""
        return len(self._table)

    def __iter__(self) -> Iterator[str]:
        """Give the texts of the events that were read, in order, each once; laws, which may be longer, are not events.

        >>> events = Events()
        >>> _ = events.add(["p & q", "p"]), events.add(["p", "~p"])
        >>> list(events)
        ['p & q', 'p', '~p']
        """
        return iter(dict.fromkeys(text for _, texts in self._asked for text in texts))

    def __contains__(self, text: object) -> bool:
        """Whether a text is an event of the table, or the complement of one, however it is written."""
        if not isinstance(text, str):
            return False
        reading = self.find([text])
        return not reading.faults and bool((reading.sides[0] >= 0).all())

    def _size(self) -> tuple[int, int]:
        return len(self._table), self._table.n_variables

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return self._table.n_variables

    @property
    def variables(self) -> list[str]:
        """The variables in the order of their numbers: plain names, and atoms of declared variables as written."""
        return self._table.names()

    @property
    def written_variables(self) -> list[str]:
        """The variables as texts of the event language: names in quotes where they need them."""
        pairs = zip(self.variables, self._table.owners().tolist(), strict=True)
        return [name if owner >= 0 else quote_name(name) for name, owner in pairs]

    def declare(self, statements: Sequence[str], *, free: bool = False) -> tuple[Fault, ...]:
        """Declare variables: `variable winner: Ann, Bob, ...`, `variable rate: number` or `variable due: date`.

        A comparison with a declared variable becomes a function of Boolean variables, its atoms, such as
        "winner = Ann" and "rate < 3" (`choices`). A final `...` admits an unnamed other, written `winner = other`.
        If `free`, atoms are unrelated variables, as if nothing said that a declared variable has exactly one value.

        >>> events = Events()
        >>> events.declare(["variable winner: Ann, Bob, Cid", "variable rate: number"])
        ()
        >>> events.add(["winner = Cid", "winner in {Ann, Bob}", "rate >= 3 & rate >= 2.5", "rate < 3.0"]).event.tolist()
        [2, 3, 5, 4]
        >>> events.variables
        ['winner = Cid', 'rate < 3']
        """
        clean, classes, unreadable = prepare(statements)
        faults = faults_of(self._table.declare(clean, classes, free), clean, unreadable)
        refused = {fault.index for fault in faults}
        self._read.append(("declare", [text for i, text in enumerate(clean) if i not in refused], free))
        return faults

    def fresh(self) -> Events:
        """Give an empty table with the same declarations."""
        table = Events()
        for how, texts, free in self._read:
            if how == "declare" and not free:
                table.declare(texts)
        return table

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Whether the same events have the same numbers, over the same variables."""
        if not isinstance(other, Events):
            return NotImplemented
        (mine, own), (others, theirs) = self._functions(), other._functions()
        return mine == others and alike(own, theirs)

    def _functions(self) -> tuple[tuple[list[str], list[str]], tuple[NDArray[np.generic], ...]]:
        """All that the table holds: declarations and variables, then the function of each coordinate."""
        every = np.arange(len(self), dtype=np.int32)
        declared = [text for how, texts, _ in self._read if how == "declare" for text in texts]
        return (declared, self.variables), (*self.supports(every), *self.tables(every))

    def __reduce__(self) -> tuple[Callable[..., Events], tuple[list[_Read], list[tuple[int, Sequence[str]]]]]:
        """Pickle what was read, in order: reading it again gives the same numbers."""
        return _read_again, (self._read, self._asked)

    def choices(self) -> tuple[Choice, ...]:
        """The declared variables of which events mention an atom; they are made once for each state of the table."""
        state = *self._size(), len(self._read)
        if self._choices is None or self._choices[0] != state:
            self._choices = state, make_choices(self._table.choices())
        return self._choices[1]

    def declarations(self) -> tuple[Choice, ...]:
        """All declared variables, including those without an atom."""
        return make_choices(self._table.choices(), used=False)

    @property
    def declared(self) -> list[str]:
        """The names of all declared variables, in the order of their declarations."""
        return [row[0] for row in self._table.choices()]

    def user_variables(self) -> NDArray[np.int32]:
        """Give, for each Boolean variable, the number of the user's variable that it is, or is an atom of."""
        owners = self._table.owners()
        _, found = np.unique(np.where(owners < 0, len(owners) + np.arange(len(owners)), owners), return_inverse=True)
        return np.asarray(found, np.int32)

    def compared(self, text: str, max_characters: int = MAX_CHARACTERS) -> list[str]:
        """List the declared variables that a text compares with values, in the order of their declarations."""
        (clean,), classes, _ = prepare([text])
        named = set(_core.compared(clean, classes, max_characters))
        return [name for name in self.declared if name in named]

    def add(self, texts: Sequence[str], *, max_characters: int = MAX_CHARACTERS) -> Reading:
        """Read texts and number their events; new events get new numbers."""
        size = self._size()
        clean: Sequence[str]
        unreadable: list[int] = []
        if isinstance(texts, PackedTexts) and texts.is_ascii():
            clean = texts
            sides, faults = self._table.add_packed(texts.offsets, texts.data, {}, max_characters)
        else:
            clean, classes, unreadable = prepared = prepare(texts)
            sides, faults = self._table.add(prepared[0], classes, max_characters)
        if self._size() != size:
            self._read.append(("add", clean, max_characters))
        if max_characters == MAX_CHARACTERS:
            self._keep(clean, is_new=self._size() != size)
        return reading_of(sides, faults, clean, unreadable)

    def _keep(self, texts: Sequence[str], *, is_new: bool) -> None:
        """Keep texts for `__iter__`; where they brought nothing new, only those that were not asked before."""
        if not is_new:  # only then the texts so far are gathered, each once
            known, told = self._told
            told.update(text for _, each in self._asked[known:] for text in each)
            self._told = len(self._asked), told
            texts = [text for text in texts if text not in told]
        if texts:
            self._asked.append((len(self._read), texts))

    def calls(self) -> int:
        """The number of calls that brought anything, for `take_back`."""
        return len(self._read)

    def take_back(self, calls: int) -> None:
        """Forget what came after the first calls; what stays keeps its numbers. A text that was refused leaves names.

        >>> events = Events()
        >>> before = events.calls()
        >>> len(events.add(["Supplier delay"]).faults), events.variables
        (1, ['Supplier'])
        >>> events.take_back(before)
        >>> events.variables
        []
        """
        if calls < len(self._read):
            kept = _read_again(self._read[:calls], [each for each in self._asked if each[0] <= calls])
            self._asked, self._told = kept._asked, (0, set())
            self._table, self._read, self._choices = kept._table, kept._read, None

    def find(self, texts: Sequence[str]) -> Reading:
        """Read texts and give the numbers of those events that are in the table."""
        clean, classes, unreadable = prepare(texts)
        sides, faults = self._table.find(clean, classes, MAX_CHARACTERS)
        return reading_of(sides, faults, clean, unreadable)

    def add_names(self, names: Sequence[str]) -> Reading:
        """Read each text as the name of one variable; nothing in it is an operator."""
        clean, _, unreadable = prepare(names)
        size = self._size()
        event = self._table.add_variables(clean)
        if self._size() != size:
            self._read.append(("add_names", clean, 0))
        self._keep(clean, is_new=self._size() != size)
        sides = np.stack([event, np.full_like(event, CERTAIN), event ^ 1], axis=1)
        taken = np.flatnonzero(event < 0).tolist()
        sides[taken] = -1
        why = "is a declared variable, but with plain events each text names an event, which is true or false"
        faults = [(i, "mismatch", 0, f"{quote_name(clean[i])} {why}; rename one of the two") for i in taken]
        return reading_of(sides, faults, clean, unreadable)

    def supports(self, coordinates: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give the variables of each coordinate in ascending order, as starts and members."""
        return self._table.supports(np.ascontiguousarray(coordinates, np.int32))

    def tables(self, coordinates: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Give the truth table of each coordinate as starts and words.

        Bit i of a table is the event's truth where the truth of variable j of its `supports` is bit j of i. A
        coordinate with more than 16 variables is a count. Its table has, in whole words, one bit per variable (set if
        the variable counts when true, else it counts when false), then one bit per count from 0, set if the event is
        true at that count.
        """
        return self._table.tables(np.ascontiguousarray(coordinates, np.int32))

    def evaluate(self, sides: NDArray[np.int32], worlds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which events hold in which worlds.

        `worlds` has one row per world and one column per variable; the answer has one row per world and one column
        per side.

        >>> events = Events()
        >>> side = events.add(["p -> q"]).event
        >>> worlds = np.array([[False, False], [True, False], [True, True]])
        >>> events.evaluate(side, worlds).ravel().tolist()
        [True, False, True]
        """
        count = worlds.shape[0]
        padded = np.zeros((worlds.shape[1], -(-count // 64) * 64), np.uint8)
        padded[:, :count] = worlds.T
        packed = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
        words = self._table.evaluate(np.ascontiguousarray(sides, np.int32), np.ascontiguousarray(packed))
        octets = words.astype("<u8", copy=False).view(np.uint8)
        holds: NDArray[np.bool_] = np.unpackbits(octets, axis=1, count=count, bitorder="little").T.view(np.bool_)
        return holds

    def holds(self, sides: NDArray[np.int32], world: Mapping[str, Value]) -> NDArray[np.bool_]:
        """Tell which events hold in one world, given by the names of its variables (see `world`)."""
        return self.evaluate(sides, self.atoms(world)[None, :]).ravel()

    def world(self, truths: NDArray[np.bool_]) -> dict[str, Value]:
        """Give the value of each of the user's variables for a row of truths, one per Boolean variable.

        A plain variable is true or false. A declared one has a value: a name (None for the unnamed other), or a
        number or an ISO date inside the cell between its thresholds.

        >>> events = Events()
        >>> _ = events.declare(["variable winner: Ann, Bob, ...", "variable rate: number"])
        >>> _ = events.add(["rain & winner = Ann", "rate < 3 | rate > 5"])
        >>> events.world(np.array([True, False, False, True]))
        {'rain': True, 'winner': 'Bob', 'rate': 4.0}
        """
        return self.worlds(truths[None, :])[0]

    def worlds(self, rows: NDArray[np.bool_], told: NDArray[np.integer] | None = None) -> list[dict[str, Value]]:
        """Give, for each row of truths, the value of each of the user's variables (see `world`).

        `told` has the numbers of the Boolean variables whose columns are known (by default all); a user's variable is
        left out unless all its Boolean variables are among them.
        """
        is_told = np.ones(rows.shape[1], np.bool_)
        if told is not None:
            is_told[:] = False
            is_told[told] = True
        names, plain = self.variables, np.flatnonzero((self._table.owners() < 0) & is_told)
        plain_names = [names[v] for v in plain.tolist()]
        found: list[dict[str, Value]] = [dict(zip(plain_names, row, strict=True)) for row in rows[:, plain].tolist()]
        for choice in (choice for choice in self.choices() if is_told[choice.atoms].all()):
            own = np.ascontiguousarray(rows[:, choice.atoms], np.bool_)
            known: dict[bytes, Value] = {}
            for world, truths in zip(found, own, strict=True):
                key = truths.tobytes()
                if key not in known:
                    known[key] = choice.decode(truths)
                world[choice.name] = known[key]
        return found

    def atoms(self, world: Mapping[str, Value]) -> NDArray[np.bool_]:
        """Give the truth of each Boolean variable in a world: the inverse of `world`."""
        names, owners, choices = self.variables, self._table.owners(), self.choices()
        plain = np.flatnonzero(owners < 0).tolist()
        wanted = [*(names[v] for v in plain), *(choice.name for choice in choices)]
        absent = [name for name in wanted if name not in world]
        if absent:
            raise EventError(f"the world has no value for {', '.join(map(quote_name, absent))}", code="missing-value")
        truths = np.zeros(len(names), np.bool_)
        truths[plain] = [bool(world[names[v]]) for v in plain]
        for choice in choices:
            truths[choice.atoms] = choice.encode(world[choice.name])
        return truths


def _read_again(read: Iterable[_Read], asked: list[tuple[int, Sequence[str]]]) -> Events:
    events = Events()
    for how, texts, option in read:
        match how:
            case "declare":
                events.declare(texts, free=bool(option))
            case "add":
                events.add(texts, max_characters=option)
            case _:
                events.add_names(texts)
    events._asked = asked
    return events


def tidy(text: str) -> str:
    """Print an event in the usual symbols, without needless parentheses; its meaning does not change.

    >>> tidy("((not p) and q) implies (r)")
    '~p & q -> r'
    """
    reading = Events().add([text])
    if any(fault.kind != "undeclared" for fault in reading.faults):
        raise reading.faults[0].error()
    (clean,), classes, _ = prepare([text])
    return _core.reprint(clean, classes, MAX_CHARACTERS)
