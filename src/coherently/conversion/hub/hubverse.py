"""The hubverse: model output and target data of forecasting hubs.

The format is that of https://hubverse.io (schemas 1 to 6), of the Consortium of Infectious Disease Modeling Hubs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from coherently.conversion.draft import Draft, DraftForecast, declaration
from coherently.conversion.hub.entries import layout_of, read_entries
from coherently.conversion.hub.hub_cells import plain_number
from coherently.conversion.hub.hub_files import open_hub
from coherently.conversion.hub.hub_outcomes import add_outcomes
from coherently.conversion.hub.quantities import Quantity, round_of, variables_of
from coherently.conversion.hub.target_rules import laws_of, read_rules
from coherently.errors import PanelError, counted
from coherently.events import quote_name

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from coherently.conversion.hub.distributions import Threshold
    from coherently.conversion.hub.quantities import Category
    from coherently.conversion.hub.target_rules import Pair


@dataclass(frozen=True, slots=True)
class HubOptions:
    """What the user decides.

    The number of common thresholds of each quantity (0: the values as each model reports them), a file of rules that
    relate targets, and the values of task ids to which the conversion is limited.
    """

    thresholds: int = 23
    rules: str | os.PathLike[str] | None = None
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.thresholds < 0:
            raise PanelError(f"thresholds is {self.thresholds}; it must be 0 (values as reported) or more")


def read_hubverse(paths: Sequence[str | os.PathLike[str]], options: HubOptions) -> Draft:
    """Make a panel from files or folders of a hub: one variable per task, one judge per model."""
    draft = Draft()
    hub = open_hub(paths, draft)
    layout = layout_of(hub, draft)
    entries = read_entries(hub, layout, options.only, draft)
    found = variables_of(entries, layout, hub.tasks, draft)
    pairs: list[Pair] = []
    if options.rules is not None:
        targets = {text for table in hub.outputs for text in table.texts("target")} - {""}
        targets |= set(hub.tasks.targets) if hub.tasks is not None else set()
        pairs = read_rules(options.rules, found.quantities, targets, layout.columns, draft=draft)
    rounds = {item.name: round_of(item.ids, hub.tasks) for item in found}
    _add_quantities(draft, found.quantities, pairs, options.thresholds)
    for category in found.categories:
        _add_category(draft, category)
    _add_times(draft, rounds)
    add_outcomes(draft, hub, layout, found)
    return draft


def _add_times(draft: Draft, rounds: Mapping[str, str]) -> None:
    """Give each forecast the day of its round, if every round is a day."""
    if all(rounds.values()):
        # An event starts with the name of its variable, which has no space in it unless it is in quotes.
        names = [_variable(forecast.event) for forecast in draft.forecasts]
        draft.forecasts = [replace(f, time=rounds[name]) for f, name in zip(draft.forecasts, names, strict=True)]


def _variable(event: str) -> str:
    return event[: event.index('" ') + 1] if event.startswith('"') else event.partition(" ")[0]


def event_text(quantity: Quantity, threshold: Threshold) -> str:
    """Write the event that a quantity is at most a threshold, or below it."""
    number, included = threshold
    written = date.fromordinal(int(number)).isoformat() if quantity.dates else plain_number(number)
    return f"{quantity.name} {'<=' if included else '<'} {written}"


def _add_quantities(draft: Draft, quantities: Sequence[Quantity], pairs: Sequence[Pair], count: int) -> None:
    common = _common(quantities, pairs, count) if count else {}
    thresholds: dict[str, list[Threshold]] = {}
    left: Counter[str] = Counter()
    for quantity in quantities:
        asked: dict[Threshold, None] = {}
        draft.laws.append(f"variable {quantity.name}: {'date' if quantity.dates else 'number'}")
        for model, said in quantity.said.items():
            answers: dict[Threshold, float] = {}
            for distribution, _ in said:
                if distribution.samples and not count:
                    left["samples"] += len(distribution.thresholds)
                    continue
                own = common[quantity.name] if count else distribution.thresholds
                answers = {**{limit: distribution.probability(limit) for limit in own}, **answers}
                if not distribution.samples:
                    left["interpolated"] += len(set(own).difference(distribution.thresholds))
            asked |= dict.fromkeys(answers)
            for limit, probability in answers.items():
                draft.forecasts.append(DraftForecast(model, event_text(quantity, limit), probability))
        thresholds[quantity.name] = sorted(asked)
        for limit in thresholds[quantity.name]:
            event = event_text(quantity, limit)
            draft.label(event, f"{quantity.title}: {event.removeprefix(quantity.name).strip()}")
    _note_thresholds(draft, left, count)
    laws = (law for pair in pairs for law in laws_of(pair, thresholds, event_text))
    draft.laws += dict.fromkeys(laws)


def _note_thresholds(draft: Draft, left: Counter[str], count: int) -> None:
    if left["samples"]:
        draft.notes.append(
            f"{counted(left['samples'], 'row')} of output type sample left out: a sample is not a probability; "
            f"--thresholds N gives the share of samples at most each of N thresholds"
        )
    if left["interpolated"]:
        draft.notes.append(
            f"{counted(left['interpolated'], 'forecast')} at common thresholds interpolated between what the models "
            f"report (--thresholds {count}); --thresholds 0 keeps the values as reported"
        )


def _common(quantities: Sequence[Quantity], pairs: Iterable[Pair], count: int) -> dict[str, list[Threshold]]:
    """Choose thresholds for each quantity; quantities that rules relate share them, so that the laws lose nothing.

    The thresholds of cumulative distributions and bins are common by the format and all stay; of the values of
    quantiles and samples `count` are chosen, at equal steps of their ranks.
    """
    leader = {quantity.name: quantity.name for quantity in quantities}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for one, other in pairs:
        leader[find(one.name)] = find(other.name)
    free: dict[str, list[Threshold]] = {}
    fixed: dict[str, set[Threshold]] = {}
    for quantity in quantities:
        for said in quantity.said.values():
            for distribution, is_grid in said:
                if is_grid:
                    fixed.setdefault(find(quantity.name), set()).update(distribution.thresholds)
                else:
                    free.setdefault(find(quantity.name), []).extend(distribution.thresholds)
    chosen = {name: set(_spread(limits, count)) for name, limits in free.items()}
    return {name: sorted(chosen.get(find(name), set()) | fixed.get(find(name), set())) for name in leader}


def _spread(limits: Sequence[Threshold], count: int) -> list[Threshold]:
    """All distinct thresholds if they are few enough, else `count` of them, evenly by rank."""
    distinct = sorted(set(limits))
    if len(distinct) <= count:
        return distinct
    ranked = sorted(limits)
    return [ranked[int((step + 0.5) / count * len(ranked))] for step in range(count)]


def _add_category(draft: Draft, category: Category) -> None:
    draft.laws.append(declaration(category.name, category.levels, complete=True))
    for model, said in category.said.items():
        for values, probability in said:
            names = [quote_name(value) for value in values]
            event = f"{category.name} = {names[0]}" if len(names) == 1 else f"{category.name} in {{{', '.join(names)}}}"
            draft.forecasts.append(DraftForecast(model, event, probability))
            draft.label(event, f"{category.title}: {' or '.join(values)}")
