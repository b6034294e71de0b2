"""Tables, outcomes and labels: the only package that knows files and frames."""

from coherently.panel.build import FileOptions, Options, build, read_panel
from coherently.panel.canonical import digest, is_plain
from coherently.panel.cell_table import Columns, ProblemList, Table
from coherently.panel.columnar.batch_writer import write_batches
from coherently.panel.columnar.reduction import UNUSUAL, Reduction, can_reduce, reduce_tables
from coherently.panel.exported_tables import Tabled
from coherently.panel.frames import to_frame
from coherently.panel.laws import NO_LAWS, Laws, Pins, impossible_conditions, read_laws
from coherently.panel.outcomes import shares_variables
from coherently.panel.panel import Panel, WrittenEvents
from coherently.panel.panel_record import CALLED_OFF, UNRESOLVED
from coherently.panel.readers import Progress, read_lines, read_table
from coherently.panel.text_tables import text_table
from coherently.panel.texts import by_appearance
from coherently.panel.writers import check_output, records, write_columns, write_table

__all__ = [
    "CALLED_OFF",
    "NO_LAWS",
    "UNRESOLVED",
    "UNUSUAL",
    "Columns",
    "FileOptions",
    "Laws",
    "Options",
    "Panel",
    "Pins",
    "ProblemList",
    "Progress",
    "Reduction",
    "Table",
    "Tabled",
    "WrittenEvents",
    "build",
    "by_appearance",
    "can_reduce",
    "check_output",
    "digest",
    "impossible_conditions",
    "is_plain",
    "read_laws",
    "read_lines",
    "read_panel",
    "read_table",
    "records",
    "reduce_tables",
    "shares_variables",
    "text_table",
    "to_frame",
    "write_batches",
    "write_columns",
    "write_table",
]
