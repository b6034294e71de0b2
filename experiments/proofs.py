"""Prove every component of every panel in a folder: `python -m experiments.proofs FOLDER [LOSS ...]`.

Prints one line per panel and loss (the verdict, the size of the proof, seconds of processor time to solve, to write and
to check it), and the share of components by the kind of rule that bounds them.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import coherently as co
from coherently.errors import CoherentlyError
from coherently.proofcheck import check_files
from coherently.proofcheck.check_errors import BadInputError

BESIDE = ("labels", "questions", "outcomes", "ensembles")
"""Endings of files that belong to a panel and are none themselves."""


def prove_folder(folder: Path, losses: list[str]) -> Counter[str]:
    """Prove the panels of a folder, each with the laws of its name; the number of components by kind."""
    kinds: Counter[str] = Counter()
    for file in sorted(folder.glob("*.csv")):
        if file.stem.endswith(BESIDE):
            continue
        laws = file.with_suffix(".laws") if file.with_suffix(".laws").exists() else None
        for loss in losses:
            try:
                sentence, found = _proved(file, laws, loss)
            except (CoherentlyError, BadInputError) as error:
                sentence, found = f"not proved: {str(error).splitlines()[0]}", {}
            kinds.update(found)
            print(f"{file.stem} ({loss}): {sentence}", flush=True)
    return kinds


def _proved(file: Path, laws: Path | None, loss: str) -> tuple[str, dict[str, int]]:
    panel, times = co.read_panel(file, laws=laws), [time.process_time()]
    result = co.aggregate(panel, "exact", loss, proof=True)
    times.append(time.process_time())
    data = result.proof()
    times.append(time.process_time())
    with tempfile.TemporaryDirectory() as scratch:
        told, proof = Path(scratch) / "result.json", Path(scratch) / "proof.gz"
        told.write_text(result.to_json(), "utf-8")
        proof.write_bytes(data)
        begun = time.process_time()
        found = check_files(file, told, proof, laws=laws)
        checked = time.process_time() - begun
    solved, written = times[1] - times[0], times[2] - times[1]
    cost = f"{len(data) / 1000:.1f} kB; solve {solved:.2f} s, write {written:.2f} s, check {checked:.2f} s"
    return f"{found.sentence}; {cost}", found.leaves if found.word == "proved" else {"not proved": 1}


def main(folder: Path, losses: list[str]) -> None:
    """Prove, and print the shares."""
    if not folder.is_dir():
        print(f"skipped: there is no folder {folder}")
        return
    kinds = prove_folder(folder, losses)
    for kind, count in kinds.most_common():
        print(f"{kind}: {count} of {kinds.total()} ({count / kinds.total():.1%})")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), sys.argv[2:] or ["brier"])
