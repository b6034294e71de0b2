"""Clusters of events that come true together for reasons that no law states: a date, a place, a season.

Folds and intervals take independence for granted. Laws and shared variables say which events hang together by logic;
only the user knows which share a shock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import MethodError, PanelError
from coherently.panel import cells
from coherently.panel.cell_table import Table
from coherently.panel.columnar.cell_values import is_missing
from coherently.panel.frames import table_from_frame
from coherently.panel.layout import ROLES, pick
from coherently.panel.readers import read_table
from coherently.panel.texts import name_some

if TYPE_CHECKING:
    from coherently.arrays import Indices
    from coherently.panel import Panel

Clusters: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | Callable[[str], object] | object
"""A function of an event's text, a mapping from events, or a file or frame with the columns event and cluster."""
COLUMNS = ("cluster", "group")
"""The names of a column of clusters; `FILE:COLUMN` names any other."""


def cluster_labels(panel: Panel, cluster: Clusters | None) -> Indices | None:
    """The number of the cluster of each event as written, -1 where it has none; None if nothing was asked.

    A file may be the panel's own: its rows name events, and may repeat them.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "az_1", 0.5), ("Ann", "az_2", 0.4), ("Bob", "ny_1", 0.1)])
    >>> cluster_labels(panel, lambda text: text[:2]).tolist()
    [0, 0, 1]
    >>> cluster_labels(panel, {"az_1": "west", "ny_1": "east"}).tolist()
    [1, -1, 0]
    """
    if cluster is None:
        return None
    if callable(cluster):
        found = [cluster(text) for text in panel.written.text]
    else:
        table, column = _table(cluster)
        found = _looked_up(panel, table, column)
    words = np.array(["" if label is None else str(label) for label in found])
    if not (words != "").any():
        raise PanelError("no event of the panel has a cluster; name the events as the panel does")
    number = np.unique(words, return_inverse=True)[1].astype(np.int64).ravel()
    return number - 1 if (words == "").any() else number


def labels_of_rows(scored: Panel, panel: Panel, rows: Indices, label: Indices | None) -> Indices | None:
    """The clusters of the events of some rows, `scored`, given those of all events of the panel."""
    if label is None:
        return None
    found = np.empty(len(scored.written), np.int64)
    found[scored.event_index] = label[panel.event_index[rows]]
    return found


def joined(component: Indices, label: Indices | None) -> Indices:
    """Components that share a cluster, directly or through others, as one; -1 stays."""
    if label is None:
        return component
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    both = (component >= 0) & (label >= 0)
    count, clusters = int(component.max(initial=-1)) + 1, int(label.max(initial=-1)) + 1
    size = count + clusters
    ties = coo_array((np.ones(int(both.sum())), (component[both], count + label[both])), (size, size))
    number = connected_components(ties, directed=False)[1].astype(np.int64)
    return np.where(component < 0, -1, number[np.maximum(component, 0)])


def _table(cluster: Clusters) -> tuple[Table, str]:
    """The table that lists clusters, and the name of the column that has them."""
    if isinstance(cluster, Mapping):
        columns = {"event": list(cluster), "cluster": list(cluster.values())}
        return Table("clusters", columns, range(1, len(cluster) + 1)), "cluster"
    if not isinstance(cluster, str | os.PathLike):
        table = table_from_frame(cluster, "clusters")
        return table, pick(table, "cluster", COLUMNS)
    file, _, column = str(cluster).rpartition(":")
    if not file or Path(cluster).exists():
        table = read_table(cluster)
        return table, pick(table, "cluster", COLUMNS)
    table = read_table(file)
    if column not in table.columns:
        raise MethodError(f"{file} has no column {column!r}; its columns are {', '.join(table.columns)}")
    return table, column


def _looked_up(panel: Panel, table: Table, column: str) -> list[object]:
    """The cluster that a table gives to each event as written, by meaning."""
    texts = cells.texts(table, pick(table, "event", ROLES["event"]))
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    label = {text: _cell(table.columns[column][place]) for text, place in first.items()}
    other = [text for text, place in zip(texts, table.columns[column], strict=True) if label[text] != _cell(place)]
    if other:
        raise PanelError(f"{table.source} puts {name_some(sorted(set(other)))} into two clusters; give each event one")
    names = list(label)
    reading = panel.events.find(names)
    side = {
        (event, condition): label[name]
        for name, event, condition in zip(names, reading.event.tolist(), reading.condition.tolist(), strict=True)
        if event >= 0
    }
    pairs = zip(panel.written.event.tolist(), panel.written.condition.tolist(), strict=True)
    return [side.get(pair) for pair in pairs]


def _cell(value: object) -> str | None:
    return None if is_missing(value) else str(value).strip()
