"""Panels with their files, results and proofs, and the campaign over random panels of the whole language."""

import csv
import gzip
import itertools
import json
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

import coherently as co
from coherently.proofcheck import check_files
from coherently.proofcheck.language import read_event
from coherently.proofcheck.leaves import CostSum
from coherently.proofcheck.truth_functions import StateSpace
from tests.whole.language_checks import random_case

LOSSES = ("brier", "log", "spherical")


@dataclass(frozen=True)
class Files:
    """The files of a claim: a panel, its laws, a result and a proof."""

    panel: Path
    laws: Path
    result: Path
    proof: Path

    def check(self, **options):
        """The checker's verdict."""
        return check_files(self.panel, self.result, self.proof, laws=self.laws, **options)


def write_rows(path, rows):
    """A long table, as CSV."""
    columns = [name for name in ("judge", "event", "probability", "weight", "lower", "upper") if name in rows[0]]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows(rows)


def proved_files(folder, rows, laws=(), loss="brier", method="exact"):
    """Aggregate a panel that is read from a file, and write its result and its proof."""
    folder = Path(folder)
    rows = [
        dict(zip(("judge", "event", "probability", "weight"), row, strict=False)) if isinstance(row, tuple) else row
        for row in rows
    ]
    files = Files(*(folder / name for name in ("panel.csv", "panel.laws", "result.json", "proof.gz")))
    write_rows(files.panel, rows)
    files.laws.write_text("".join(f"{law}\n" for law in laws))
    result = co.aggregate(co.read_panel(files.panel, laws=files.laws), method, loss, proof=True)
    files.result.write_text(result.to_json())
    files.proof.write_bytes(result.proof())
    return result, files


def proof_lines(path):
    """The lines of a proof."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def wide_rows(seed, side=14):
    """Forecasts near to coherence on a grid that is too wide to be eliminated; conditionals on some of its edges."""
    rng = random.Random(seed)
    places, rows = [(i, j) for i in range(side) for j in range(side)], []
    for i, j in places:
        rows.append(("A", f"v{i * side + j}", round(rng.uniform(0.3, 0.7), 6)))
        for down, right in {(i + 1, j), (i, j + 1)}.intersection(places):
            kind, p = rng.choice(("&", "&", "|", "given")), rng.uniform(0.2, 0.35)
            p = {"&": p, "|": 1 - p, "given": 2 * p}[kind]
            rows.append(("B", f"v{i * side + j} {kind} v{down * side + right}", round(p, 6)))
    return rows


def random_sum(rng, texts):
    """A sum of all functions but the last, which is the law."""
    programs = [read_event(text)[0] for text in texts]
    space = StateSpace([], programs)
    functions = [space.function(program) for program in programs]
    *parts, law = functions
    return CostSum(space, {one: rng.randint(-50, 50) for one in parts}, [law])


def least(total):
    """The least value over all worlds that obey the laws, by enumeration."""
    names, found = list(total.states()), []
    for world in itertools.product(*total.states().values()):
        at = dict(zip(names, world, strict=True))

        def holds(one, at=at):
            place = 0
            for v in one.scope:
                place = 2 * place + at[v]
            return one.mask >> place & 1

        if all(holds(law) for law in total.laws):
            found.append(sum(c for one, c in total.parts.items() if holds(one)))
    return min(found)


def check_proofs(seed, count):
    """Prove random panels of the whole language under each loss; both readings must agree on what an answer loses.

    Gives the largest difference U - L, relative to max(1, U).
    """
    rng, worst = random.Random(seed), 0
    for number in range(count):
        case, loss = random_case(rng), rng.choice(LOSSES)
        linearised = loss == "brier" and rng.random() < 0.3
        method = co.Exact(conditionals="linearised" if linearised else "called_off")
        with tempfile.TemporaryDirectory() as folder:
            try:
                result, files = proved_files(folder, case.rows, case.laws, loss, method)
                found = files.check()
                assert found.word == "proved" or result.status != "optimal", found.sentence
                assert abs(float(found.upper) - result.objective) <= 1e-9 * max(1, result.objective)
                worst = max(worst, float(found.upper - found.lower) / max(1, float(found.upper)))
            except Exception as error:
                error.add_note(f"panel {number} of seed {seed}, {loss}, {method}: {case.rows} under {case.laws}")
                raise
    return worst
