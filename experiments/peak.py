"""The picture of docs/how-to/hubs.md, drawn from the files that the page shows: python -m experiments.peak."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import coherently as co
from experiments.markdown import DOCS

if TYPE_CHECKING:
    from coherently import Result

SHOWN = re.compile(r"^\$ cat (\S+)\n(.*?)(?=^\$ |^```)", re.DOTALL | re.MULTILINE)
NAMES = {"peak_inc_flu_hosp:US:2024-01-06": "the season's peak", "wk_inc_flu_hosp:US:2024-01-06:h2": "week 2"}


def repaired() -> Result:
    """Convert the files of the page as its command does, and make the average coherent."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in SHOWN.findall((DOCS / "how-to" / "hubs.md").read_text("utf-8")):
            (folder / file).write_text(text, "utf-8")
        models, out = sorted(folder.glob("2024-*.csv")), folder / "out"
        co.convert("hubverse", models, out, rules=folder / "rules.txt", thresholds=6)
        return co.aggregate(co.read_panel(out / "panel.csv", laws=out / "laws.txt"), "exact")


def draw(result: Result) -> Path:
    """Both distributions before and after."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "coherently", "svg.fonttype": "none", "font.size": 9}
    from matplotlib import pyplot as plt

    frame = result.frame()
    figure, panes = plt.subplots(1, 2, figsize=(7, 3.2), sharey=True, layout="constrained")
    columns = {"raw": "the models' average", "probability": "made coherent"}
    for pane, (column, title) in zip(panes, columns.items(), strict=True):
        # The wide line stays visible where the other one covers it.
        for color, width, (variable, label) in zip(("C1", "C0"), (5, 1.5), NAMES.items(), strict=True):
            own = frame[frame["event"].str.startswith(f"{variable} <=")]
            limits = own["event"].str.split().str[-1].astype(float)
            pane.plot(limits, own[column], "o-", markersize=4, linewidth=width, color=color, label=label)
        pane.set_title(title, fontsize=9)
        pane.set_xlabel("admissions")
    panes[0].set_ylabel("probability of at most as many")
    panes[0].legend(frameon=False, loc="upper left")
    file = DOCS / "images" / "peak-below-weeks.svg"
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return file


if __name__ == "__main__":
    print(draw(repaired()))
