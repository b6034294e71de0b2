"""`coherently demo`."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files

from coherently.cli.terminal import show

SMALL = 0.005
"""Changes up to this size are not visible in two decimals."""


def demo() -> None:
    """Read the paper's panel (Table 2), aggregate it, and say where to go next."""
    from coherently.panel import read_panel
    from coherently.report import forecasts_table, panel_table, summary
    from coherently.result import aggregate, individual

    program = "coherently" if shutil.which("coherently") else sys.argv[0]
    source = files("coherently") / "data" / "table2.csv"
    with as_file(source) as path:
        panel = read_panel(path)
    average, nearest = aggregate(panel, "linear"), aggregate(panel)
    alone = individual(panel)
    changed = [
        f"  {panel.judges[judge]} on {panel.written.text[event]}: {before:.2f} becomes {after:.2f}"
        for judge, event, before, after in zip(
            panel.judge_index, panel.event_index, panel.probability, alone.probability, strict=True
        )
        if abs(before - after) > SMALL
    ]
    show(
        "Three judges forecast two events and their conjunction",
        "(Predd, Kulkarni, Poor and Osherson 2006, Table 2).\n",
        panel_table(panel),
        "\nA judge who contradicts itself, and the smallest change that fixes it:",
        *changed,
        "\nThe average of each event, which need not be coherent:\n",
        forecasts_table(average),
        "\nThe nearest forecasts that are coherent:\n",
        forecasts_table(nearest),
        "",
        summary(nearest),
        f"""
Where to go next
  {program} simulate --judges 47 --variables 30 -o panel.csv
  {program} score panel.csv
  {program} aggregate panel.csv -o forecasts.csv
  {program} --help""",
    )
