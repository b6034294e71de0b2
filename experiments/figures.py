"""Figures of pages, among them Figures 4 and 5 of the paper, drawn to the same bytes for the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.markdown import DOCS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.trials import Curve

LAST = 12


def draw_curves(curves: Sequence[Curve], published: Mapping[str, float], title: str, name: str) -> Path:
    """The mean Brier score against the sweeps, with the published value of the end on the right."""
    figure, ax = new_figure()
    for i, curve in enumerate(curves):
        shown = curve.mean[: LAST + 1]
        ax.plot(range(len(shown)), shown, "o-", markersize=3, color=f"C{i}", label=curve.name)
        ax.plot(LAST + 0.6, published[curve.name], "<", markersize=6, color=f"C{i}", markerfacecolor="white")
    ax.set_title(title, fontsize=9)
    ax.set_xlabel("sweeps T (the triangles: Table 6 of the paper)")
    ax.set_ylabel("mean over judges of the Brier score")
    ax.legend(frameon=False, ncols=len(curves), fontsize=8, loc="upper center")
    ax.margins(y=0.12)
    return save_figure(figure, name)


def new_figure(rows: int = 1) -> tuple[Any, Any]:
    """A figure with a pair of axes, or several below each other, in the size and letters of all pages."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "coherently", "svg.fonttype": "none", "font.size": 9}
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(rows, figsize=(5.5, 2.2 + 1.2 * rows), sharex=True, layout="constrained")
    return figure, ax


def save_figure(figure: Any, name: str) -> Path:
    """Write a figure to the images of the pages."""
    from matplotlib import pyplot as plt

    file = DOCS / "images" / name
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return file
