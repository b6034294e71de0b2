"""What is scored: our methods by name, a file of forecasts, or anybody's function."""

from __future__ import annotations

import csv
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from coherently.errors import MethodError, PanelError
from coherently.problem import pose, pose_again, settled
from coherently.scoring.literature import PUBLISHED_FITS
from coherently.scoring.literature.published_fits import TaughtProblem
from coherently.solve import Exact, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coherently.arrays import Vector
    from coherently.panel import Panel
    from experiments.leaderboard.board_folder import BoardFolder

DEFAULT = (
    "linear",
    "median",
    "log",
    "exact",
    "recipe",
    *(word + then for word in PUBLISHED_FITS for then in ("", "+exact")),
    "tuned",
)
"""The methods that are scored if none are named."""
TUNED, FILE = "tuned", ".csv"


@dataclass(frozen=True, slots=True)
class Entrant:
    """A method by its name: a function of a panel, with the outcomes that may teach, and of the clusters by event.

    It gives a probability for every event as written. One that `learns` is asked once for every fold.
    """

    name: str
    answer: Callable[[Panel, Mapping[str, str]], Vector]
    learns: bool = True

    def forecasts(self, board: BoardFolder) -> Vector:
        """The probability of each event as written, by what other folds teach."""
        if not self.learns:
            return self._checked(board.untaught(), board)
        found = np.full(len(board.fold), np.nan)
        for fold in board.folds:
            here = board.fold == fold
            found[here] = self._checked(board.taught(fold), board)[here]
        return found

    def _checked(self, panel: Panel, board: BoardFolder) -> Vector:
        value = np.asarray(self.answer(panel, board.clusters), np.float64)
        if value.shape != (len(board.fold),):
            raise MethodError(
                f"{self.name} gave {value.shape}; it must give one probability for each of the {len(board.fold):,} events "
                "of panel.written.text"
            )
        if not ((value >= 0) & (value <= 1))[~np.isnan(value)].all():
            raise MethodError(f"{self.name} gave a number outside 0 to 1")
        return value


def find_entrant(word: str) -> Entrant:
    """The method that a word names: ours, "FILE.csv", or "module:function"."""
    if word.endswith(FILE):
        return Entrant(Path(word).stem, _from_file(Path(word)), learns=False)
    if ":" in word:
        return Entrant(word, _from_module(word))
    base, _, then = word.partition("+")
    if then not in ("", "exact"):
        raise MethodError(f"{word}: only +exact may follow a method")
    if base == TUNED:
        return Entrant(word, _tuned)
    if base in PUBLISHED_FITS:
        return Entrant(word, _published(base, is_coherent=bool(then)))
    if then:
        return Entrant(word, _pooled(co.Pool(base, then=Exact())), learns=False)
    return Entrant(word, _pooled(choose(base)), learns=False)


def _pooled(method: object) -> Callable[[Panel, Mapping[str, str]], Vector]:
    return lambda panel, _: co.aggregate(panel, method).solution.value  # type: ignore[arg-type]


def _tuned(panel: Panel, clusters: Mapping[str, str]) -> Vector:
    """What the outcomes teach; the default recipe where they teach nothing."""
    try:
        recipe = co.tune(panel, cluster=clusters or None).recipe
    except PanelError:
        recipe = co.Recipe()
    return co.aggregate(panel, recipe).solution.value


def _published(word: str, *, is_coherent: bool) -> Callable[[Panel, Mapping[str, str]], Vector]:
    def answer(panel: Panel, _: Mapping[str, str]) -> Vector:
        problem, outcome = pose(settled(panel)), panel.written.outcome
        known = np.where(outcome >= 0, outcome.astype(np.float64), np.nan)
        taught = TaughtProblem(problem, known, lambda: co.individual(panel, "dykstra").probability)
        found = PUBLISHED_FITS[word].answer(taught)
        return Exact().solve(pose_again(problem, found)).value if is_coherent else found

    return answer


def _from_file(file: Path) -> Callable[[Panel, Mapping[str, str]], Vector]:
    """Forecasts of a table with the columns event and probability."""

    def answer(panel: Panel, _: Mapping[str, str]) -> Vector:
        with file.open(encoding="utf-8", newline="") as text:
            rows = csv.DictReader(text)
            if not {"event", "probability"} <= set(rows.fieldnames or ()):
                raise PanelError(f"{file} must have the columns event and probability")
            said = {row["event"]: float(row["probability"]) for row in rows}
        return np.array([said.get(one, np.nan) for one in panel.written.text])

    return answer


def _from_module(word: str) -> Callable[[Panel, Mapping[str, str]], Vector]:
    module, _, name = word.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise MethodError(f"{word} was not found: {error}") from None
    return found  # type: ignore[no-any-return]
