"""Other people's exports into the files of a panel: the only package that knows foreign formats."""

from coherently.conversion.conversion import FORMATS, Conversion, convert
from coherently.conversion.draft import Draft
from coherently.conversion.tuple_files import read_tuples
from coherently.conversion.tuples import CHECKS, Tuple, check_answers, tuples_draft

__all__ = [
    "CHECKS",
    "FORMATS",
    "Conversion",
    "Draft",
    "Tuple",
    "check_answers",
    "convert",
    "read_tuples",
    "tuples_draft",
]
