"""What anybody would do without coherence: Polars reads a table, takes the mean of each event, and writes it."""

from __future__ import annotations

import sys

import polars as pl


def main(source: str, target: str) -> None:
    """Average the forecasts of each event."""
    table = pl.read_parquet(source) if source.endswith(".parquet") else pl.read_csv(source)
    means = table.group_by("event").agg(pl.col("probability").mean())
    if target.endswith(".parquet"):
        means.write_parquet(target)
    else:
        means.write_csv(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
