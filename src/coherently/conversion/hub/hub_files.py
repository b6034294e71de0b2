"""The files of a hub: which of them are model output, target data and tasks, and which model a file belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coherently.conversion.draft import listed
from coherently.conversion.hub.hub_cells import cell_text
from coherently.conversion.hub.hub_tasks import HubTasks, read_tasks
from coherently.conversion.sources import Source, open_sources, parse_json
from coherently.errors import PanelError
from coherently.panel import read_table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from coherently.conversion.draft import Draft
    from coherently.panel import Table

OUTPUT: Final = ("output_type", "output_type_id", "value")
"""The columns that every file of model output has."""
ENDING: Final = re.compile(r"(\.(snappy|gzip|gz|brotli|zstd|lz4|lzo|bz2))?\.(csv|csv\.gz|parquet)$")
ROUND: Final = re.compile(r"\d{4}-\d\d-\d\d-(.+)")
"""A file's name without its ending: the round, then the model."""
ASKED: Final = "model output or target data in .csv, .csv.gz or .parquet"


@dataclass(frozen=True, slots=True)
class HubTable:
    """A table with the model that its place names, and the columns that the names of its folders add."""

    table: Table
    model: str
    folders: Mapping[str, str]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self.table.columns, *(name for name in self.folders if name not in self.table.columns)]

    def texts(self, column: str) -> list[str]:
        """The cells of a column as texts; empty texts where the table has no such column."""
        if column not in self.table.columns:
            return [self.folders.get(column, "")] * len(self.table.rows)
        written = list(map(str, self.table.columns[column]))
        known = {text: cell_text(text) for text in set(written)}
        return [known[text] for text in written]


@dataclass(slots=True)
class HubFiles:
    """The tables of a hub by what they hold, and its tasks if they were given."""

    outputs: list[HubTable] = field(default_factory=list)
    oracles: list[HubTable] = field(default_factory=list)
    series: list[HubTable] = field(default_factory=list)
    tasks: HubTasks | None = None


def open_hub(paths: Sequence[str | os.PathLike[str]], draft: Draft) -> HubFiles:
    """Read files and folders: a whole hub, its model-output or target-data, one model's folder, or single files."""
    if not paths:
        raise PanelError("no source was given: name a file or a folder")
    hub = HubFiles()
    ignored: list[str] = []
    for given in map(Path, paths):
        if given.suffix.lower() == ".zip":
            raise PanelError(f"{given} is an archive: unpack it and give the folder")
        files = list(_files(given)) if given.is_dir() else [given]
        if not files:
            raise PanelError(f"{given} contains none of the expected files: {ASKED}")
        for file in files:
            if file.suffix.lower() == ".json":
                hub.tasks = read_tasks(open_sources([file], bool, ASKED)[0], draft)
            elif not _sort(hub, _open(file), file):
                ignored.append(str(file))
    if ignored:
        draft.notes.append(f"target data that is neither oracle output nor a time series, ignored: {listed(ignored)}")
    if not hub.outputs:
        raise PanelError(f"no model output (with the columns {', '.join(OUTPUT)}) among {listed(map(str, paths))}")
    return hub


def _files(folder: Path) -> Iterator[Path]:
    """The files of a folder that count; of a whole hub, the tasks first."""
    config = folder / "hub-config"
    output = folder / "model-output"
    if (config / "admin.json").is_file():
        admin = open_sources([config / "admin.json"], bool, ASKED)[0]
        content = parse_json(admin.text, admin.name)
        if isinstance(content, dict) and isinstance(content.get("model_output_dir"), str):
            output = folder / content["model_output_dir"]
    if (config / "tasks.json").is_file():
        yield config / "tasks.json"
    roots = [root for root in (output, folder / "target-data") if root.is_dir()]
    for root in roots if output.is_dir() else [folder]:
        yield from (item for item in sorted(root.rglob("*")) if item.is_file() and ENDING.search(item.name.lower()))


def _open(path: Path) -> HubTable:
    table = read_table(path)
    stem = ENDING.sub("", path.name)
    folder = path.resolve().parent.name
    match = ROUND.fullmatch(stem)
    model = folder if stem.endswith(f"-{folder}") else match[1] if match else stem
    parts = [part.partition("=") for part in path.parts[:-1] if "=" in part]
    return HubTable(replace(table, source=str(path)), model, {key: cell_text(value) for key, _, value in parts})


def _sort(hub: HubFiles, found: HubTable, path: Path) -> bool:
    """Put a table where it belongs; false if it is target data of another kind, which a hub may have."""
    columns = found.columns
    if "oracle_value" in columns:
        hub.oracles.append(found)
    elif "observation" in columns and "output_type" not in columns:
        hub.series.append(found)
    elif missing := [name for name in OUTPUT if name not in columns]:
        if "target-data" in path.parts:
            return False
        if len(missing) == len(OUTPUT):
            raise Source(str(path), path.name, "", ",".join(columns)).refuse("hubverse")
        raise PanelError(f"{path}: expected the columns {', '.join(missing)}; found {', '.join(columns)}")
    else:
        hub.outputs.append(found)
    return True
