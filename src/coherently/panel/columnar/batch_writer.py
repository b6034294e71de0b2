"""Columns that arrive in batches, into one file."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherently.errors import PanelError
from coherently.panel.columnar.arrow import arrow_array
from coherently.panel.writers import GZIP_LEVEL, check_output, csv_bytes, json_bytes, replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import BinaryIO

    from coherently.panel.cell_table import Columns


def write_batches(batches: Iterable[Columns], path: str | os.PathLike[str]) -> int:
    """Write batches of the same columns in the format of the path's ending; gives the number of rows.

    An existing file is replaced whole or left alone.
    """
    check_output(path)
    name = Path(path).name.lower()
    if name.endswith(".xlsx"):
        raise PanelError(
            f"{path}: forecasts that are read in pieces are not written as a workbook: use .csv or .parquet"
        )
    with replacing(path) as file:
        if name.endswith(".parquet"):
            return _write_parquet(batches, file)
        if name.endswith(".gz"):
            with gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0) as packed:
                return _write_text(batches, packed, name.removesuffix(".gz"))
        return _write_text(batches, file, name)


def _write_parquet(batches: Iterable[Columns], file: BinaryIO) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: Any = None
    rows = 0
    try:
        for columns in batches:
            table = pa.table({name: arrow_array(column) for name, column in columns.items()})
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema)
            writer.write_table(table)
            rows += len(table)
    finally:
        if writer is not None:
            writer.close()
    return rows


def _write_text(batches: Iterable[Columns], file: BinaryIO | gzip.GzipFile, name: str) -> int:
    rows = 0
    for columns in batches:
        if name.endswith(("jsonl", "ndjson")):
            file.write(json_bytes(columns))
        else:
            file.write(csv_bytes(columns, "\t" if name.endswith(".tsv") else ",", header=rows == 0))
        rows += len(next(iter(columns.values())))
    return rows
