"""`coherently demo`."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files

from coherently.cli.terminal import show


def demo() -> None:
    """Read the paper's panel (Table 2), aggregate it, and say where to go next."""
    from coherently.panel import read_panel
    from coherently.report import forecasts_table, panel_table, summary
    from coherently.result import aggregate

    program = "coherently" if shutil.which("coherently") else sys.argv[0]
    source = files("coherently") / "data" / "table2.csv"
    with as_file(source) as path:
        panel = read_panel(path)
        result = aggregate(panel, "linear")
        show(
            "Three judges forecast two events and their conjunction",
            "(Predd, Kulkarni, Poor and Osherson 2006, Table 2).\n",
            panel_table(panel),
            "\nTheir average, event by event:\n",
            forecasts_table(result),
            "",
            summary(result),
            f"""
Where to go next
  {program} simulate --judges 47 --variables 30 -o panel.csv
  {program} score panel.csv
  {program} aggregate panel.csv -o forecasts.csv
  {program} --help""",
        )
