"""The real panels, read from a folder beside the repository and never copied into it."""

from __future__ import annotations

import csv
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import coherently as co

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel import Panel

DATA = Path(os.environ.get("COHERENTLY_DATA", Path(__file__).parents[3] / "shared" / "data"))
SAW_OUTCOMES = "Resolver_"
"""Judges so named searched the web and may have seen outcomes."""


def require_data(names: Sequence[str]) -> None:
    """Leave with a message if panels are not there."""
    absent = [name for name in names if not (DATA / f"{name}.csv").is_file()]
    if absent:
        sys.exit(
            f"{DATA} does not hold {', '.join(absent)}: the real panels are not part of the repository. "
            "Set COHERENTLY_DATA to the folder that has them."
        )


def read(name: str, laws: str | None = None) -> Panel:
    """A panel by the name of its file."""
    return co.read_panel(DATA / name, laws=None if laws is None else DATA / laws)


def honest(panel: Panel) -> Panel:
    """Leave out the judges who may have seen outcomes."""
    kept = np.array([not judge.startswith(SAW_OUTCOMES) for judge in panel.judges])
    return panel.select(kept[panel.judge_index])


def experiments(name: str) -> dict[str, Panel]:
    """A panel for each experiment: the names of variables recur between them."""
    rows = defaultdict(list)
    for row in _rows(name):
        rows[row["experiment"]].append((row["judge"], row["event"], float(row["probability"])))
    return {experiment: co.Panel.from_records(own) for experiment, own in sorted(rows.items())}


def true_probabilities(name: str) -> dict[str, float]:
    """The true probability of each event for which the file has one."""
    return {row["event"]: float(row["true_probability"]) for row in _rows(name) if row["true_probability"]}


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
