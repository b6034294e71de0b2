"""The table of a folder, and the mean over folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.scoring.candidates import Candidate
from coherently.scoring.comparison import compare_forecasts
from experiments.markdown import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.scoring import Comparison
    from experiments.leaderboard.board_folder import BoardFolder
    from experiments.leaderboard.entrants import Entrant

REFERENCE = "linear"


def scored(board: BoardFolder, entrants: Sequence[Entrant]) -> Comparison:
    """Every method on a folder: each event by what other folds teach, with intervals by clusters."""
    values = [entrant.forecasts(board) for entrant in entrants]
    forecasts = np.stack([value[board.panel.event_index] for value in values])
    rows = tuple(Candidate(entrant.name, "") for entrant in entrants)
    return compare_forecasts(board.panel, rows, forecasts, label=board.label())


def standings(found: Comparison) -> str:
    """The methods, the best Brier score first, each with its interval and its difference from the linear average."""
    columns, order = found.columns(), np.argsort(found.value[:, 0], kind="stable")
    rows = []
    for i in order.tolist():
        name = found.methods[i]
        cells = [_cell(columns["brier"][i], columns["brier_low"][i], columns["brier_high"][i])]
        cells += [f"{columns['log'][i]:.4f}", f"{columns['slope'][i]:.3f}"]
        rows.append([name, *cells, _difference(found, name)])
    return table(("method", "Brier, 95%", "log score", "slope", f"Brier less that of {REFERENCE}, 95%"), rows)


def _cell(value: float, low: float, high: float) -> str:
    return f"{value:.4f}" if np.isnan(low) else f"{value:.4f} [{low:.4f}, {high:.4f}]"


def _difference(found: Comparison, name: str) -> str:
    if REFERENCE not in found.methods or name == REFERENCE:
        return ""
    one = found.difference(name, REFERENCE)
    if one.interval is None:
        return f"{one.difference:+.4f}"
    return f"{one.difference:+.4f} [{one.low:+.4f}, {one.high:+.4f}]" + "*" * bool(one.excludes_zero)


def overall(found: Mapping[str, Comparison]) -> str:
    """The mean change of the Brier score against the linear average over folders, the best first."""
    methods = next(iter(found.values())).methods
    changes = {
        name: [
            one.value[one.methods.index(name), 0] / one.value[one.methods.index(REFERENCE), 0] - 1
            for one in found.values()
        ]
        for name in methods
    }
    order = sorted(changes, key=lambda name: float(np.mean(changes[name])))
    rows = [[name, f"{np.mean(changes[name]):+.1%}", *(f"{change:+.1%}" for change in changes[name])] for name in order]
    return table(("method", "mean", *found), rows)
