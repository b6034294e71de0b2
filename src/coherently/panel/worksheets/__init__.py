"""Tables as people have them: workbooks, and text files that spreadsheets saved."""

from coherently.panel.worksheets.file_source import local_file
from coherently.panel.worksheets.plain_look import plain_reading
from coherently.panel.worksheets.reading_question import ReadingAnswer, UnclearTableError
from coherently.panel.worksheets.reading_record import TableReading
from coherently.panel.worksheets.real_table import ReadingChoices, read_real_table
from coherently.panel.worksheets.role_words import summary_of
from coherently.panel.worksheets.table_look import count_columns, look_at_table

__all__ = [
    "ReadingAnswer",
    "ReadingChoices",
    "TableReading",
    "UnclearTableError",
    "count_columns",
    "local_file",
    "look_at_table",
    "plain_reading",
    "read_real_table",
    "summary_of",
]
