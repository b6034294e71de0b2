"""Proofs of real panels: processor time to solve, to write and to check, and their size, as a table in Markdown.

The panels are read from a folder beside the repository, where it is there (see `experiments.evaluation.panels`).
"""

from __future__ import annotations

import csv
import random
import tempfile
import time
from pathlib import Path

import coherently as co
from bench.measure import fastest
from coherently.proofcheck import check_files
from experiments.evaluation.panels import DATA

REAL = (
    ("football_2425", "brier"),
    ("flusight_2017", "brier"),
    ("flusight_2017_bins_numbers", "brier"),
    ("llm_panel_scraped", "brier"),
    ("llm_panel_scraped", "log"),
    ("llm_scraped_all", "brier"),
    ("llm_scraped_all", "log"),
)
"""Panel and loss; the laws are those of its name."""
SPARSE = ((70, 158, 0), (80, 180, 0), (60, 140, 6))
"""Random panels that are proved by branching over clusters: variables, events of three literals, laws."""
WRITE_SHARE, WRITE_LEAST, LONGEST = 0.15, 0.05, 60.0
"""Writing takes at most that share of the solve or so many seconds; a proof has so many kilobytes."""
CHECK_TIMES, CHECK_MORE, CHECK_LEAST = 5.0, 2.0, 10.0


def run() -> None:
    """Print the table."""
    if not DATA.is_dir():
        print(f"\nProofs: skipped, there is no folder {DATA}")
        return
    print("\nProofs:\n\n| panel, loss | solve | write (target) | check (target) | kB (60) | verdict | |")
    print("|---|---|---|---|---|---|---|")
    for name, loss in REAL:
        _show(DATA / f"{name}.csv", loss)


def run_sparse(seed: int = 0) -> None:
    """Print the table of the sparse panels; it takes some minutes."""
    with tempfile.TemporaryDirectory() as scratch:
        for variables, events, laws in SPARSE:
            rows, lines = sparse_panel(seed, variables, events, laws)
            file = Path(scratch) / f"sparse_{variables}_{events}_{laws}.csv"
            with file.open("w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerows([("judge", "event", "probability"), *rows])
            if lines:
                file.with_suffix(".laws").write_text("\n".join(lines), "utf-8")
            _show(file, "brier", repeats=False)


def sparse_panel(seed: int, variables: int, events: int, laws: int) -> tuple[list[tuple[str, str, float]], list[str]]:
    """Conjunctions and disjunctions of three literals with random probabilities, and laws of two or three variables."""
    rng = random.Random(seed)
    rows, lines = [], []
    for _ in range(events):
        own = rng.sample(range(variables), 3)
        literals = [("~" if rng.random() < 0.5 else "") + f"v{v}" for v in own]
        rows.append(("A", (" & " if rng.random() < 0.5 else " | ").join(literals), round(rng.random(), 2)))
    for _ in range(laws):
        a, b, c = rng.sample(range(variables), 3)
        lines.append(rng.choice([f"v{a} -> v{b}", f"v{a} | v{b} | v{c}", f"~(v{a} & v{b} & v{c})"]))
    return rows, lines


def _show(file: Path, loss: str, *, repeats: bool = True) -> None:
    laws = file.with_suffix(".laws") if file.with_suffix(".laws").exists() else None
    panel = co.read_panel(file, laws=laws)
    method = co.Exact(time_limit=600)
    begin = time.process_time()
    result = co.aggregate(panel, method, loss, proof=True)
    solve = time.process_time() - begin
    if repeats:
        _, solve, _ = fastest(lambda: co.aggregate(panel, method, loss))
    data, write, _ = fastest(result.proof)
    with tempfile.TemporaryDirectory() as scratch:
        told, proof = Path(scratch) / "result.json", Path(scratch) / "proof.gz"
        told.write_text(result.to_json(), "utf-8")
        proof.write_bytes(data)
        found, check, _ = fastest(lambda: check_files(file, told, proof, laws=laws))
    most = max(WRITE_SHARE * solve, WRITE_LEAST), max(CHECK_TIMES * solve + CHECK_MORE, CHECK_LEAST)
    met = write <= most[0] and check <= most[1] and len(data) / 1000 <= LONGEST and found.word == "proved"
    print(
        f"| {file.stem}, {loss} | {solve:.2f} s | {write:.2f} s ({most[0]:.2f}) | {check:.2f} s ({most[1]:.1f}) | "
        f"{len(data) / 1000:.1f} | {found.word} | {'met' if met else 'missed'} |",
        flush=True,
    )
