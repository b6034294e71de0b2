"""The tasks of a hub, from its `hub-config/tasks.json`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from coherently.conversion.draft import Draft, kind_of
from coherently.conversion.hub.hub_cells import cell_text
from coherently.conversion.sources import Source, parse_json
from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KNOWN: Final = {
    "fields": frozenset({"schema_version", "rounds", "output_type_id_datatype", "derived_task_ids"}),
    "fields of rounds": frozenset(
        {
            *("round_id_from_variable", "round_id", "round_name", "model_tasks", "submissions_due"),
            *("last_data_date", "file_format", "additional_metadata", "derived_task_ids"),
        }
    ),
    "fields of model tasks": frozenset({"task_ids", "output_type", "target_metadata"}),
    "fields of target metadata": frozenset(
        {
            *("target_id", "target_name", "target_units", "target_keys", "target_type", "description"),
            *("is_step_ahead", "time_unit", "alternative_name", "uri", "additional_metadata"),
        }
    ),
}
"""The documented fields of tasks.json, versions 1 to 6 of the schema."""


@dataclass(slots=True)
class Target:
    """What the tasks say about a target: its title, type, unit of time, and its categories from low to high."""

    title: str = ""
    type: str = ""
    unit: str = ""
    levels: list[str] = field(default_factory=list)


@dataclass(slots=True)
class HubTasks:
    """The columns of task ids, those that follow from others, the column of the round, and the targets by name."""

    name: str
    columns: dict[str, None] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)
    round: str = ""
    targets: dict[str, Target] = field(default_factory=dict)


def read_tasks(source: Source, draft: Draft) -> HubTasks:
    """Read tasks.json; fields that are not documented are noted."""
    content = parse_json(source.text, source.name)
    if not isinstance(content, dict) or not isinstance(content.get("rounds"), list):
        raise source.refuse("hubverse")
    tasks = HubTasks(source.name)
    unknown = {what: Counter[str]() for what in KNOWN}
    unknown["fields"].update(set(content) - KNOWN["fields"])
    tasks.derived.update(map(str, content.get("derived_task_ids") or []))
    for where, item in _objects(content["rounds"], f"{source.name}, rounds"):
        unknown["fields of rounds"].update(set(item) - KNOWN["fields of rounds"])
        tasks.derived.update(map(str, item.get("derived_task_ids") or []))
        if item.get("round_id_from_variable"):
            tasks.round = str(item.get("round_id", ""))
        for place, task in _objects(item.get("model_tasks"), f"{where}.model_tasks"):
            unknown["fields of model tasks"].update(set(task) - KNOWN["fields of model tasks"])
            _add_task(tasks, task, place, unknown["fields of target metadata"])
    for what, counts in unknown.items():
        draft.note_unknown(source.name, what, counts)
    return tasks


def _objects(value: object, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(value, list):
        raise PanelError(f"{place}: expected a list of objects, found {kind_of(value)}; see tasks.json of the hub")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise PanelError(f"{place}[{index}]: expected an object, found {kind_of(item)}; see tasks.json of the hub")
        yield f"{place}[{index}]", item


def _add_task(tasks: HubTasks, task: Mapping[str, Any], place: str, unknown: Counter[str]) -> None:
    ids = _object(task, "task_ids", place)
    tasks.columns |= dict.fromkeys(ids)
    names = _values(ids, "target", f"{place}.task_ids") if "target" in ids else []
    for where, item in _objects(task.get("target_metadata") or [], f"{place}.target_metadata"):
        unknown.update(set(item) - KNOWN["fields of target metadata"])
        keys = item.get("target_keys")
        keyed = keys.get("target") if isinstance(keys, dict) else None
        own = keyed if isinstance(keyed, list) else [keyed if keyed is not None else item.get("target_id", "")]
        for name in map(cell_text, own):
            target = tasks.targets.setdefault(name, Target())
            target.title = str(item.get("target_name") or "")
            target.type = str(item.get("target_type") or "")
            target.unit = str(item.get("time_unit") or "")
            if "target" in ids and name not in names:
                raise PanelError(f"{where}: the target {name!r} is not among those of task_ids: {', '.join(names)}")
    outputs = _object(task, "output_type", place)
    for kind in ("pmf", "cdf"):
        if kind in outputs:
            levels = _values(_object(outputs, kind, place), "output_type_id", f"{place}.output_type.{kind}")
            for name in names or list(tasks.targets):
                target = tasks.targets.setdefault(name, Target())
                target.levels += [level for level in levels if level not in target.levels]
    for name in names:
        tasks.targets.setdefault(name, Target())


def _object(owner: Mapping[str, Any], key: str, place: str) -> dict[str, Any]:
    value = owner.get(key)
    if not isinstance(value, dict):
        raise PanelError(f"{place}.{key}: expected an object, found {kind_of(value)}; see tasks.json of the hub")
    return value


def _values(owner: Mapping[str, Any], key: str, place: str) -> list[str]:
    """The values that are required and those that are optional."""
    asked = _object(owner, key, place)
    listed = [asked.get(word) or [] for word in ("required", "optional")]
    if not all(isinstance(values, list) for values in listed):
        raise PanelError(f"{place}.{key}: required and optional must be lists or null; see tasks.json of the hub")
    return list(dict.fromkeys(cell_text(value) for values in listed for value in values))
