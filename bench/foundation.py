"""Parsing, reading, averaging and writing."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import coherently as co
from bench.measure import best_of, program
from coherently.events import Events
from coherently.problem import pose

FORMS = ("v{} & v{}", "v{} & ~v{}", "v{} | v{}", "v{} | ~v{}")
TABLE_2 = ",Alice,Bob,Chris\np,0.75,0.60,0.95\nq,0.20,0.10,0.00\np & q,0.10,0.10,0.60\n"


def two_literal_texts(count: int, variables: int) -> list[str]:
    """Distinct texts of the paper's four forms."""
    rng = random.Random(1)
    texts: set[str] = set()
    while len(texts) < count:
        a, b = rng.sample(range(variables), 2)
        texts.add(rng.choice(FORMS).format(a, b))
    return sorted(texts)


def run() -> None:
    """Print a line a target."""
    texts = two_literal_texts(1_000_000, 1000)
    seconds = best_of(lambda: Events().add(texts), 3)
    print(f"parse 1,000,000 distinct two-literal texts: {1e-6 * len(texts) / seconds:.2f} million a second")

    with tempfile.TemporaryDirectory() as folder:
        small, huge, out = (str(Path(folder) / name) for name in ("table2.csv", "huge.csv", "out.csv"))
        Path(small).write_text(TABLE_2)
        for words in (["--help"], ["aggregate", small, "--method", "linear"]):
            seconds = min(program(*words)[0] for _ in range(5))
            print(f"coherently {words[0]} (Table 2): {seconds:.2f} s")
        seconds, memory = program("simulate", "--judges", "30000", "--variables", "1000", "--seed", "4", "-o", huge)
        print(f"coherently simulate, 1,020,000 rows: {seconds:.1f} s, {memory:.0f} MB")
        runs = [program("aggregate", huge, "--method", "linear", "-o", out) for _ in range(3)]
        seconds, memory = min(runs)
        print(f"coherently aggregate --method linear, 1,020,000 rows: {seconds:.1f} s, {memory:.0f} MB")
        panel = co.read_panel(huge)
        print(f"panel to problem, {len(panel.written):,} events: {best_of(lambda: pose(panel), 3):.2f} s")
