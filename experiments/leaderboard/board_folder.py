"""A folder with a panel, laws, outcomes, clusters and a split, as docs/leaderboard.md describes it."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import coherently as co
from coherently.errors import PanelError
from coherently.problem import components_of, pose, settled
from coherently.scoring.event_clusters import cluster_labels, joined
from coherently.scoring.tuning.blocks import make_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coherently.arrays import Indices
    from coherently.panel import Panel

FORMAT, VERSION = "coherently-board", 1
PANEL, LAWS, OUTCOMES, CLUSTERS, SPLIT, BOARD = (
    "panel.csv",
    "laws.txt",
    "outcomes.csv",
    "clusters.csv",
    "split.csv",
    "board.json",
)
"""The files of a folder; laws, clusters and the split may be missing."""
OVERS = ("components", "time")
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, eq=False)
class BoardFolder:
    """A panel with outcomes, its clusters by event, and the fold of each event as written, -1 for none.

    With `over` "time", only earlier folds teach; else all others.
    """

    name: str
    panel: Panel
    clusters: Mapping[str, str]
    fold: Indices
    over: str

    @property
    def folds(self) -> tuple[int, ...]:
        """The folds that have resolved events."""
        return tuple(np.unique(self.fold[(self.fold >= 0) & (self.panel.written.outcome >= 0)]).tolist())

    def taught(self, fold: int) -> Panel:
        """The panel with the outcomes that may teach for a fold, and no others."""
        may = (self.fold >= 0) & ((self.fold < fold) if self.over == "time" else (self.fold != fold))
        return self._with_outcomes(np.where(may, self.panel.written.outcome, -1))

    def untaught(self) -> Panel:
        """The panel without outcomes."""
        return self._with_outcomes(np.full(len(self.fold), -1))

    def _with_outcomes(self, outcome: Indices) -> Panel:
        written = self.panel.written
        return replace(self.panel, written=replace(written, outcome=outcome.astype(written.outcome.dtype)))

    def label(self) -> Indices | None:
        """The cluster of each event as written, for intervals."""
        return cluster_labels(self.panel, self.clusters) if self.clusters else None


def read_board(folder: Path) -> BoardFolder:
    """Read a folder; an error says what is wrong with it, a split that leaks above all."""
    if not (folder / PANEL).is_file() or not (folder / OUTCOMES).is_file():
        raise PanelError(f"{folder} is not a folder of the leaderboard: it needs {PANEL} and {OUTCOMES}")
    laws = folder / LAWS
    panel = co.read_panel(folder / PANEL, laws=laws if laws.is_file() else None, outcomes=folder / OUTCOMES)
    told = _told(folder / BOARD)
    clusters = dict(_pairs(folder / CLUSTERS, "cluster")) if (folder / CLUSTERS).is_file() else {}
    component = joined(components_of(pose(settled(panel))), cluster_labels(panel, clusters) if clusters else None)
    if (folder / SPLIT).is_file():
        fold = _fold(panel, dict(_pairs(folder / SPLIT, "fold")), folder / SPLIT)
    else:
        fold = _made_split(panel, clusters, told["over"])
    _check_split(panel, component, fold, folder)
    return BoardFolder(told.get("name", folder.name), panel, clusters, fold, told["over"])


def _told(file: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    if told and (told.get("format"), told.get("version")) != (FORMAT, VERSION):
        raise PanelError(f"{file} must have the format {FORMAT!r} and the version {VERSION}")
    told.setdefault("over", OVERS[0])
    if told["over"] not in OVERS:
        raise PanelError(f"{file}: over is {told['over']!r}; it must be {' or '.join(OVERS)}")
    return told


def _pairs(file: Path, column: str) -> Iterable[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        if not {"event", column} <= set(rows.fieldnames or ()):
            raise PanelError(f"{file} must have the columns event and {column}")
        yield from ((row["event"], row[column]) for row in rows)


def _fold(panel: Panel, split: Mapping[str, str], file: Path) -> Indices:
    """The fold of each event as written, by its text."""
    wrong = [value for value in split.values() if not value.strip().isdigit()]
    if wrong:
        raise PanelError(f"{file}: fold is {wrong[0]!r}; it must be a whole number of 0 or more")
    return np.array([int(split.get(text, "-1")) for text in panel.written.text], np.int64)


def _made_split(panel: Panel, clusters: Mapping[str, str], over: str) -> Indices:
    """Five folds of whole components and clusters, or in order of time."""
    plain = settled(panel)
    problem = pose(plain)
    label = cluster_labels(panel, clusters) if clusters else None
    blocks = make_blocks(plain, problem, by_time=over == "time", label=label)
    return blocks.fold_of_events(len(panel.written))


def _check_split(panel: Panel, component: Indices, fold: Indices, folder: Path) -> None:
    known = (fold >= 0) & (component >= 0) & (panel.written.outcome >= 0)
    pairs = np.unique(np.stack([component[known], fold[known]]), axis=1)
    often = np.bincount(pairs[0])
    if (often > 1).any():
        cut = np.flatnonzero(known & (component == int(np.argmax(often))))
        raise PanelError(
            f"{folder}: the split cuts events that a law, a variable or a cluster ties together, such as "
            f"{panel.written.text[cut[0]]}: outcomes would leak; put them into one fold"
        )
    if len(np.unique(fold[known])) < 2:
        raise PanelError(f"{folder}: the split has fewer than two folds with resolved events")


def write_board(
    folder: Path,
    panel: Panel,
    *,
    laws: str = "",
    cluster: Callable[[str], str] | None = None,
    over: str = "components",
    about: str = "",
) -> Path:
    """Write a panel with outcomes as such a folder, with the split that `co.tune` would make."""
    if REPOSITORY in (folder.resolve(), *folder.resolve().parents) and "build" not in folder.resolve().parts:
        raise PanelError(f"{folder} lies in the repository, into which data are never copied; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    text, outcome = panel.written.text, panel.written.outcome
    _write(folder / PANEL, *_forecast_rows(panel))
    _write(
        folder / OUTCOMES,
        ("event", "outcome"),
        [(text[i], int(outcome[i])) for i in np.flatnonzero(outcome >= 0).tolist()],
    )
    (folder / LAWS).write_text(laws, "utf-8")
    clusters = {} if cluster is None else {one: cluster(one) for one in text}
    if clusters:
        _write(folder / CLUSTERS, ("event", "cluster"), clusters.items())
    fold = _made_split(panel, clusters, over)
    _write(folder / SPLIT, ("event", "fold"), [(text[i], int(fold[i])) for i in np.flatnonzero(fold >= 0).tolist()])
    told = {"format": FORMAT, "version": VERSION, "name": folder.name, "about": about, "over": over}
    (folder / BOARD).write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    return folder


def _forecast_rows(panel: Panel) -> tuple[list[str], Iterable[tuple[Any, ...]]]:
    """The columns that a panel has, and its forecasts."""
    columns: dict[str, Any] = {
        "judge": [panel.judges[i] for i in panel.judge_index],
        "event": [panel.written.text[i] for i in panel.event_index],
        "probability": panel.probability.tolist(),
        "weight": panel.weight.tolist(),
    }
    for name in ("lower", "upper", "time"):
        if (values := getattr(panel, name)) is not None:
            columns[name] = ["" if np.isnan(value) else float(value) for value in values]
    return list(columns), zip(*columns.values(), strict=True)


def _write(file: Path, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(head)
        writer.writerows(rows)
