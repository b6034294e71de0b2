"""`make leaderboard`: `python -m experiments.leaderboard FOLDER... [--method METHOD]...`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import coherently as co
from coherently.errors import CoherentlyError
from experiments.evaluation.panels import DATA, honest, require_data
from experiments.evaluation.sources import PLANNED
from experiments.leaderboard.board_folder import REPOSITORY, read_board, write_board
from experiments.leaderboard.entrants import DEFAULT, find_entrant
from experiments.leaderboard.standings import REFERENCE, overall, scored, standings

SIMULATED = REPOSITORY / "build" / "leaderboard" / "simulated"
"""Where a folder is made if none is named."""


def main(arguments: list[str] | None = None) -> None:
    """Score methods on folders, or make folders."""
    parser = argparse.ArgumentParser(prog="python -m experiments.leaderboard", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders as docs/leaderboard.md describes them")
    parser.add_argument(
        "--method", action="append", default=[], help="a method's word, with +exact or not; FILE.csv; module:function"
    )
    parser.add_argument("--only", action="store_true", help="score only the linear average and the named methods")
    parser.add_argument("--simulate", type=Path, metavar="FOLDER", help="make a small simulated folder")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="make a folder in it for each real panel")
    given = parser.parse_args(arguments)
    try:
        _run(given)
    except (CoherentlyError, OSError) as error:
        sys.exit(f"error: {error}")


def _run(given: argparse.Namespace) -> None:
    if given.write is not None:
        write_real(given.write)
    if given.simulate is not None:
        print(f"{simulate_board(given.simulate)} written")
    if given.write is not None or (given.simulate is not None and not given.folders):
        return
    folders = given.folders or [simulate_board(SIMULATED)]
    words = dict.fromkeys([REFERENCE, *(() if given.only else DEFAULT), *given.method])
    entrants, found = [find_entrant(word) for word in words], {}
    for folder in folders:
        board = read_board(folder)
        found[board.name] = scored(board, entrants)
        print(f"\n## {board.name}\n\n{standings(found[board.name])}\n", flush=True)
        for note in found[board.name].notes:
            print(f"Note: {note}.")
    if len(found) > 1:
        print(f"\n## Change of the Brier score against {REFERENCE}\n\n{overall(found)}")


def simulate_board(folder: Path) -> Path:
    """A panel of 24 families of three events, of which one implies another; judges err by different amounts."""
    import numpy as np

    rng = np.random.default_rng(7)
    rows, laws = [], []
    outcomes: dict[str, int] = {}
    for g in range(24):
        chance = rng.beta(2, 2)
        low, high = chance * rng.uniform(0.3, 0.9), chance
        other = rng.beta(2, 2)
        happens = rng.random()
        outcomes |= {
            f"g{g}_a": int(happens < low),
            f"g{g}_b": int(happens < high),
            f"g{g}_c": int(rng.random() < other),
        }
        laws.append(f"g{g}_a -> g{g}_b")
        for j in range(8):
            for event, p in ((f"g{g}_a", low), (f"g{g}_b", high), (f"g{g}_c", other)):
                odds = np.log(p / (1 - p)) + rng.normal(0, 0.3 + 0.2 * j)
                rows.append((f"J{j}", event, round(float(1 / (1 + np.exp(-odds))), 3)))
    panel = co.Panel.from_records(rows, laws=laws, outcomes=outcomes)
    about = "Simulated: judges err by 0.3 to 1.7 in log-odds."
    return write_board(folder, panel, laws="\n".join(laws) + "\n", cluster=lambda text: text.split("_")[0], about=about)


def write_real(folder: Path) -> None:
    """A folder for each real panel, with the clusters of docs/evaluation-plan.md."""
    require_data([source.name for source in PLANNED])
    for source in PLANNED:
        laws = DATA / (source.laws or f"{source.name}.laws")
        text = laws.read_text("utf-8") if laws.is_file() else ""
        over = "time" if source.over == "time" else "components"
        own = folder / source.name
        write_board(own, honest(source.read()), laws=text, cluster=source.cluster, over=over, about=source.about)
        print(f"{own} written", flush=True)


if __name__ == "__main__":
    main()
