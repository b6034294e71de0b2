"""The ledger: the forecasts, laws and outcomes that stand, those that stood before, and what hangs together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from coherently.live.vocabulary import Vocabulary, declared_name
from coherently.panel.statements import PinStatement, Statement, read_pin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coherently.live.vocabulary import Key, Meaning

NOTHING = ("",)
"""Where events without variables are at home: those that are certain or impossible. No variable has this name."""


@dataclass(frozen=True, slots=True)
class StandingForecast:
    """A forecast: its place among all forecasts, and the time since which it stands.

    `lower` and `upper` are None unless it is an interval; `time` is -inf if it has stood from the beginning.
    """

    place: int
    time: float
    judge: str
    event: str
    probability: float
    weight: float
    lower: float | None
    upper: float | None
    meaning: Meaning = field(compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it is about."""
        return self.meaning.variables or NOTHING


@dataclass(frozen=True, slots=True)
class StandingLaw:
    """A law, a declaration or a pin, its place among them and the time since which it stands."""

    place: int
    time: float
    text: str
    variables: tuple[str, ...]

    @property
    def declares(self) -> str | None:
        """The name of the variable that it declares."""
        return declared_name(self.text) if Statement(self.text, "").is_declaration else None


@dataclass(frozen=True, slots=True)
class StandingOutcome:
    """How an event, or a declared variable, came out, and since when that is known."""

    place: int
    time: float
    event: str
    outcome: int | float | str
    variables: tuple[str, ...]


Standing: TypeAlias = StandingForecast | StandingLaw | StandingOutcome


@dataclass(frozen=True, slots=True)
class Contents:
    """What stands, in the order of its places."""

    forecasts: tuple[StandingForecast, ...] = ()
    laws: tuple[StandingLaw, ...] = ()
    outcomes: tuple[StandingOutcome, ...] = ()

    def __iter__(self) -> Iterator[Standing]:
        yield from self.forecasts
        yield from self.laws
        yield from self.outcomes

    @staticmethod
    def of(items: Iterable[Standing]) -> Contents:
        """Sort items by kind and place."""
        ordered = sorted(items, key=lambda item: item.place)
        return Contents(
            tuple(item for item in ordered if isinstance(item, StandingForecast)),
            tuple(item for item in ordered if isinstance(item, StandingLaw)),
            tuple(item for item in ordered if isinstance(item, StandingOutcome)),
        )

    def variables(self) -> frozenset[str]:
        """The variables that the items are about."""
        return frozenset(name for item in self for name in item.variables)

    def connected(self) -> list[Contents]:
        """Take apart what no variable connects, directly or through others."""
        home: dict[str, list[Standing]] = {}
        names: dict[int, list[str]] = {}
        for item in self:
            known = {id(found): found for name in item.variables if (found := home.get(name)) is not None}
            largest = max(known.values(), key=len, default=[])
            own = names.setdefault(id(largest), [])
            for other in known.values():
                if other is not largest:
                    largest += other
                    own += names.pop(id(other))
            largest.append(item)
            own += item.variables
            home.update(dict.fromkeys(own if len(known) > 1 else item.variables, largest))
        groups = {id(group): group for group in home.values()}
        return [Contents.of(group) for group in groups.values()]


@dataclass(eq=False, slots=True)
class Neighbourhood:
    """Variables that hang together, and all that stands about them; more than one component only until it is solved.

    `changes` counts what happened to it. `split` says whether it may have fallen apart.
    """

    variables: set[str] = field(default_factory=set)
    items: dict[tuple[type, int], Standing] = field(default_factory=dict)
    changes: int = 0
    split: bool = False

    def contents(self) -> Contents:
        """What stands."""
        return Contents.of(self.items.values())

    def title(self) -> str:
        """The first event of it, or the first law."""
        contents = self.contents()
        for forecast in contents.forecasts:
            return forecast.event
        return contents.laws[0].text if contents.laws else next(iter(sorted(self.variables)), "")


class Ledger:
    """What stands and what stood; every change touches one neighbourhood, which is returned."""

    def __init__(self) -> None:
        self.words = Vocabulary()
        self.homes: dict[str, Neighbourhood] = {}
        """The neighbourhood of each variable."""
        self.by_judge: dict[tuple[str, Key], list[StandingForecast]] = {}
        self.judges: dict[str, int] = {}
        """How many forecasts of each judge stand."""
        self.laws: dict[str, StandingLaw] = {}
        self.outcomes: dict[str, StandingOutcome] = {}
        self.past: list[tuple[Standing, float]] = []
        """What stood, and until when."""
        self.places = 0
        self.size = 0
        """How many forecasts stand."""

    def remember(self, past: Iterable[tuple[Standing, float]], places: int) -> None:
        """Take over what stood, until when, and how many places were given, from a ledger that was kept."""
        self.past, self.places = list(past), places

    def next_place(self) -> int:
        """A place after all others."""
        self.places += 1
        return self.places - 1

    def items(self) -> list[Standing]:
        """All that stands, in any order: `Contents.of` puts it in order."""
        every = {id(home): home for home in self.homes.values()}
        return [item for home in every.values() for item in home.items.values()]

    def around(self, variables: Iterable[str]) -> Contents:
        """What stands about variables, and about those that hang together with them."""
        found = {id(home): home for name in variables if (home := self.homes.get(name)) is not None}
        return Contents.of(item for home in found.values() for item in home.items.values())

    def latest(self) -> float:
        """The last time at which anything changed."""
        since = (item.time for item in self.items())
        return max((*since, *(until for _, until in self.past)), default=-math.inf)

    def put(self, item: Standing) -> Neighbourhood:
        """Add an item, or replace the one at its place: neighbourhoods that it connects become one."""
        home = self._join(item.variables)
        home.items[type(item), item.place] = item
        home.changes += 1
        if isinstance(item, StandingForecast):
            standing = self.by_judge.setdefault((item.judge, item.meaning.key), [])
            known = [i for i, other in enumerate(standing) if other.place == item.place]
            if known:
                standing[known[0]] = item
            else:
                standing.append(item)
                self.judges[item.judge] = self.judges.get(item.judge, 0) + 1
                self.size += 1
        elif isinstance(item, StandingLaw):
            self.laws[item.text] = item
            if (name := item.declares) is not None:
                self.words.declare(name, item.text)
        else:
            self.outcomes[item.event] = item
        return home

    def remove(self, item: Standing, time: float) -> Neighbourhood:
        """Take an item away, which stood until a time."""
        home = self.homes[item.variables[0]]
        del home.items[type(item), item.place]
        home.changes += 1
        home.split = True
        self.past.append((item, time))
        if isinstance(item, StandingForecast):
            standing = self.by_judge[item.judge, item.meaning.key]
            standing[:] = [other for other in standing if other.place != item.place]
            if not standing:
                del self.by_judge[item.judge, item.meaning.key]
            self.judges[item.judge] -= 1
            if not self.judges[item.judge]:
                del self.judges[item.judge]
            self.size -= 1
        elif isinstance(item, StandingLaw):
            del self.laws[item.text]
            if (name := item.declares) is not None:
                self.words.forget(name)
        else:
            del self.outcomes[item.event]
        return home

    def exchange(self, old: StandingForecast, new: StandingForecast) -> Neighbourhood:
        """Put a forecast in the place of another one of the same event."""
        self.past.append((old, new.time))
        return self.put(new)

    def _join(self, variables: tuple[str, ...]) -> Neighbourhood:
        found = {id(home): home for name in variables if (home := self.homes.get(name)) is not None}
        largest = max(found.values(), key=lambda home: len(home.items) + len(home.variables), default=None)
        if largest is None:
            largest = Neighbourhood()
        for home in found.values():
            if home is not largest:
                largest.items |= home.items
                largest.split |= home.split
                self._own(largest, home.variables)
                home.items, home.variables = {}, set()
        self._own(largest, variables)
        return largest

    def _own(self, home: Neighbourhood, variables: Iterable[str]) -> None:
        for name in variables:
            self.homes[name] = home
        home.variables.update(variables)

    def part(self, home: Neighbourhood, groups: Iterable[Contents]) -> list[Neighbourhood]:
        """Replace a neighbourhood that fell apart by those that it fell into."""
        for name in home.variables:
            del self.homes[name]
        found = []
        for group in groups:
            one = Neighbourhood(items={(type(item), item.place): item for item in group})
            self._own(one, group.variables())
            found.append(one)
        return found


def standing_at(time: float, items: Iterable[Standing], past: Iterable[tuple[Standing, float]]) -> Contents:
    """What stood at a time, of what stands now and what stood until some time."""
    before = (item for item, until in past if item.time <= time < until)
    return Contents.of([*(item for item in items if item.time <= time), *before])


def law_variables(statement: str, words: Vocabulary) -> tuple[str, ...]:
    """The variables that a law, a declaration or a pin is about."""
    one = Statement(statement, "")
    if one.is_declaration:
        return (declared_name(statement),)
    if not one.is_pin:
        return words.variables(statement) or NOTHING
    pin = read_pin(statement)
    return (words.variables(pin.event) if isinstance(pin, PinStatement) else ()) or NOTHING
