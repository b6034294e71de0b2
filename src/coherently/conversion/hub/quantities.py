"""The tasks of a hub as variables: quantities with thresholds, and variables with categories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from coherently.conversion.draft import listed
from coherently.conversion.hub.distributions import (
    Distribution,
    binned,
    cumulative,
    quantiles,
    read_bin,
    sampled,
    shares,
)
from coherently.conversion.hub.entries import ORIGINS, Entry, HubLayout
from coherently.conversion.hub.hub_cells import cell_day, cell_number
from coherently.errors import PanelError, counted
from coherently.events import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coherently.conversion.draft import Draft
    from coherently.conversion.hub.hub_tasks import HubTasks, Target

NO_TARGET: Final = "target"
"""The first part of names in a hub that has no column `target`."""


@dataclass(slots=True)
class Quantity:
    """A task of which models give a distribution; `said` marks those whose thresholds are common by the format."""

    name: str
    title: str
    ids: Mapping[str, str]
    dates: bool = False
    said: dict[str, list[tuple[Distribution, bool]]] = field(default_factory=dict)


@dataclass(slots=True)
class Category:
    """A task of which models give probabilities of categories, or of at most a category if these have an order."""

    name: str
    title: str
    ids: Mapping[str, str]
    levels: list[str] = field(default_factory=list)
    said: dict[str, list[tuple[tuple[str, ...], float]]] = field(default_factory=dict)


@dataclass(slots=True)
class HubVariables:
    """All variables of a conversion, in the order of the rows."""

    quantities: list[Quantity] = field(default_factory=list)
    categories: list[Category] = field(default_factory=list)

    def __iter__(self) -> Iterator[Quantity | Category]:
        yield from self.quantities
        yield from self.categories


def variables_of(entries: Sequence[Entry], layout: HubLayout, tasks: HubTasks | None, draft: Draft) -> HubVariables:
    """Sort the entries by task and model, and read each model's distribution of each task."""
    names = _Names(layout, tasks)
    grouped: dict[tuple[str, ...], dict[str, dict[str, list[Entry]]]] = {}
    for entry in entries:
        models = grouped.setdefault(names.identity(entry), {})
        models.setdefault(entry.model, {}).setdefault(entry.type, []).append(entry)
    found = HubVariables()
    counts: Counter[str] = Counter()
    for identity, models in grouped.items():
        ids = names.ids[identity]
        target = None if tasks is None else tasks.targets.get(ids.get("target", ""))
        name, title = names.name(identity), names.title(ids, target)
        number, category = _read_task(
            Quantity(name, title, ids), Category(name, title, ids), models, target, counts=counts
        )
        found.quantities += [number] if number.said else []
        if category.said and number.said:
            category.name = quote_name(f"{names.plain(identity)}:category")
            counts["separate"] += 1
        found.categories += [category] if category.said else []
    _note(counts, draft)
    return found


def _note(counts: Counter[str], draft: Draft) -> None:
    sentences = {
        "tied": "{} left out: a higher level of the same model has the same value",
        "ends": "{} left out: the levels 0 and 1 are the ends of a range and not probabilities to average",
        "median": "{} left out: the quantile 0.5 of the same model says the same",
        "separate": "{} with categories that have no numbers in them: no law relates them to the same task's quantiles",
    }
    things = {"median": "median", "separate": "task"}
    for key, sentence in sentences.items():
        if counts[key]:
            draft.notes.append(sentence.format(counted(counts[key], things.get(key, "quantile"))))


def _read_task(
    number: Quantity,
    category: Category,
    models: Mapping[str, Mapping[str, list[Entry]]],
    target: Target | None,
    counts: Counter[str],
) -> tuple[Quantity, Category]:
    """Read what each model says about a task."""
    categories = dict.fromkeys(e.id for said in models.values() for e in said.get("pmf", ()))
    with_numbers = bool(categories) and all(map(read_bin, categories))
    if all(cell_number(text) is not None for text in categories):
        # A single number may be the lower end of a bin; only the type of the target says that it is a value.
        with_numbers = with_numbers and target is not None and target.type == "discrete"
    category.levels = list(target.levels) if target is not None and target.levels else list(categories)
    for model, said in models.items():
        distributions = []
        points = [*said.get("quantile", ()), *said.get("median", ())]
        if points:
            counts["median"] += "median" in said and any(cell_number(e.id) == 0.5 for e in said.get("quantile", ()))
            distribution, tied, ends = quantiles(points)
            counts.update(tied=tied, ends=ends)
            distributions += [] if distribution is None else [(distribution, False)]
        if "sample" in said:
            distributions.append((sampled(said["sample"]), False))
        if "cdf" in said and _is_measured(said["cdf"]):
            number.dates = cell_day(said["cdf"][0].id) is not None
            distributions.append((cumulative(said["cdf"]), True))
        elif "cdf" in said:
            category.said.setdefault(model, []).extend(_ordered(said["cdf"], target))
        if "pmf" in said and with_numbers:
            distributions.append((binned(said["pmf"]), True))
        elif "pmf" in said:
            category.said.setdefault(model, []).extend(_named(said["pmf"], category.levels))
        if distributions:
            number.said[model] = distributions
    return number, category


def _is_measured(entries: Sequence[Entry]) -> bool:
    """Whether a cumulative distribution is at numbers or days, and not at categories."""
    return all(cell_number(entry.id) is not None for entry in entries) or all(cell_day(e.id) for e in entries)


def _named(entries: Sequence[Entry], levels: Sequence[str]) -> list[tuple[tuple[str, ...], float]]:
    said = shares(entries)
    for entry in entries:
        _check_level(entry, levels)
    return [((level,), probability) for level, probability in said.items()]


def _ordered(entries: Sequence[Entry], target: Target | None) -> list[tuple[tuple[str, ...], float]]:
    """Read the probabilities of at most each category."""
    if target is None or not target.levels:
        raise PanelError(
            f"{entries[0].place('output_type_id')}: {entries[0].id!r} is a category, whose order tasks.json says; "
            f"give the folder of the hub, or its hub-config/tasks.json, as a source too"
        )
    for entry in entries:
        _check_level(entry, target.levels)
    by_level = sorted(entries, key=lambda entry: target.levels.index(entry.id))
    for before, after in pairwise(by_level):
        if after.value < before.value:
            raise PanelError(
                f"{after.place('value')}: {after.value:g} at {after.id}, below {before.value:g} at {before.id} "
                f"({before.row}); a cumulative distribution must not decrease: correct one of the two values"
            )
    if by_level[0].value < 0.0 or by_level[-1].value > 1.0:
        worst = by_level[0] if by_level[0].value < 0.0 else by_level[-1]
        raise PanelError(f"{worst.place('value')}: {worst.value:g} is not a probability; it lies between 0 and 1")
    last = len(target.levels) - 1
    ends = [(target.levels.index(entry.id), entry.value) for entry in by_level]
    return [(tuple(target.levels[: at + 1]), value) for at, value in ends if at < last]


def _check_level(entry: Entry, levels: Sequence[str]) -> None:
    if entry.id not in levels:
        raise PanelError(
            f"{entry.place('output_type_id')}: unknown category {entry.id!r}; tasks.json has {listed(levels)}"
        )


class _Names:
    """Names of variables by task: `wk_inc_flu_hosp:US:2024-01-06:h1`."""

    def __init__(self, layout: HubLayout, tasks: HubTasks | None) -> None:
        self._layout = layout
        self._own = [layout.columns.index(name) for name in layout.own]
        alone = list(tasks.targets) if tasks is not None else []
        self._first = [] if "target" in layout.columns else [alone[0] if len(alone) == 1 else NO_TARGET]
        self._taken: dict[str, tuple[str, ...]] = {}
        self._origin: dict[tuple[str, ...], Entry] = {}
        self.ids: dict[tuple[str, ...], dict[str, str]] = {}

    def identity(self, entry: Entry) -> tuple[str, ...]:
        """The task ids that tell tasks apart; the derived ones must be the same in every row of a task."""
        identity = tuple(entry.task[position] for position in self._own)
        first = self._origin.setdefault(identity, entry)
        if first is entry:
            self.ids[identity] = {c: v for c, v in zip(self._layout.columns, entry.task, strict=True) if v}
        elif first.task != entry.task:
            position = next(i for i, (a, b) in enumerate(zip(first.task, entry.task, strict=True)) if a != b)
            column = self._layout.columns[position]
            raise PanelError(
                f"{entry.place(column)}: {entry.task[position] or 'no value'}, but {first.place(column)} has "
                f"{first.task[position] or 'no value'} for the same task; correct one of the two"
            )
        return identity

    def plain(self, identity: tuple[str, ...]) -> str:
        parts = [*self._first]
        for column, value in zip(self._layout.own, identity, strict=True):
            parts += [f"h{value}" if column == "horizon" else value] if value else []
        return ":".join(parts)

    def name(self, identity: tuple[str, ...]) -> str:
        """A name without spaces, unless another task has it already."""
        text = self.plain(identity)
        short = "_".join(text.split())
        if self._taken.setdefault(short, identity) != identity:
            short = text
        return quote_name(short)

    def title(self, ids: Mapping[str, str], target: Target | None) -> str:
        said = target.title if target is not None and target.title else ids.get("target", NO_TARGET)
        rest = [f"{'' if c == 'location' else c.replace('_', ' ') + ' '}{v}" for c, v in ids.items() if c != "target"]
        return ", ".join([said, *rest])


def round_of(ids: Mapping[str, str], tasks: HubTasks | None) -> str:
    """The day of the round that a task belongs to, or an empty text."""
    columns = (tasks.round, *ORIGINS) if tasks is not None else ORIGINS
    days = [ids[column] for column in columns if column in ids and cell_day(ids[column])]
    return days[0] if days else ""
