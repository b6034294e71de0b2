"""Panel in, result out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coherently.engine import opened, opened_keep
from coherently.errors import PanelError
from coherently.note_log import notes_logged
from coherently.panel import Panel
from coherently.panel.weights import with_weights
from coherently.problem import find_loss, pose, settled, unit_of
from coherently.result.idle import with_idle
from coherently.result.notes import clipped, pins_in_conflict, with_notes, with_settled
from coherently.result.result import Result
from coherently.solve import InfeasiblePinsError, choose
from coherently.solve.budget import asked_budget

if TYPE_CHECKING:
    import os

    from coherently.engine import Engine
    from coherently.engine.keep import Keep
    from coherently.panel import Progress
    from coherently.panel.weights import Weights
    from coherently.problem import Loss
    from coherently.solve import Budget, Method, Signal


@notes_logged(lambda result: [result.note])
def aggregate(
    panel: Panel,
    method: str | Method = "auto",
    loss: str | Loss = "brier",
    *,
    weights: Weights | None = None,
    time_limit: float | None = None,
    tolerance: float | None = None,
    seed: int | None = None,
    over: str | None = None,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
    keep: Keep | str | os.PathLike[str] | None = None,
    proof: bool = False,
) -> Result:
    """Combine a panel's forecasts into one coherent set.

    `method` is a method object, or the name of a method with its default options: "auto" (exact where possible, see
    `result.note`), "exact" (the nearest coherent forecasts, proved), "recipe" (pool, recalibrate, then exact; see
    `co.Recipe`), "dykstra" (the nearest locally coherent ones), "projections" (the paper's algorithm), "annealing"
    (globally coherent ones by random search), "linear" (plain averages), another pool ("log", "median", "trimmed",
    "extremised", "shrunk", "neyman-roughgarden", "normalised", "power", "shin"), "lindley" (errors with a covariance)
    or "dempster-shafer" (evidence). `loss` is the distance to minimise: "brier", "log" (or `co.Log(clip=...)`) or
    "spherical". `weights` says how much each judge counts: a mapping or a file (judge, weight), or a weighting such as
    `co.CoherenceWeights()`; the result is then that of the weighted panel, `result.panel`.
    `time_limit` (seconds), `tolerance` (relative gap), `seed` and `over` (of the method "lindley") are those of the
    method, whose defaults they replace; a method that has no such option refuses it. `progress` is called with
    the fraction of the work that is done. Ctrl-C ends the work and gives the answer so far, and so does `cancel`, a
    `threading.Event` that another thread sets. `engine` is where the exact methods
    solve independent components: any executor (see `concurrent.futures`), or a word, such as "processes:4" or
    "dask://host:8786" (see `co.open_engine`); the answer is the same. `keep` names a file for finished components: the
    same call goes on from there if it was cut short, and solves only what has changed if the panel has. With
    `proof=True` the result keeps what a proof needs: `result.proof()` writes it for an independent checker. What `keep`
    has is then solved again, since files keep answers without that.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.4), ("Bob", "p & q", 0.1)])
    >>> aggregate(panel).frame().round(3)
       event  probability  raw  weight  adjustment
    0      p          0.3  0.3     2.0        ...
    1  p & q          0.1  0.1     1.0        ...
    """
    if not isinstance(panel, Panel):
        raise PanelError(
            f"aggregate needs a Panel, found {type(panel).__name__}; make one with co.read_panel (from a file), "
            f"co.Panel.from_frame or co.Panel.from_records"
        )
    chosen = choose(method, time_limit=time_limit, tolerance=tolerance, seed=seed, over=over)
    measure = find_loss(loss)
    panel, said = with_weights(panel, weights)
    with opened(engine) as executor, opened_keep(keep) as finished:
        budget = asked_budget(progress, cancel, executor, finished, hints=proof)
        return _aggregated(panel, said, chosen, measure, budget=budget)


def _aggregated(panel: Panel, notes: tuple[str, ...], chosen: Method, measure: Loss, budget: Budget) -> Result:
    """The result for a panel, with notes on its weights."""
    unit = unit_of(panel.weight)
    plain = settled(panel)
    problem = pose(plain, measure, unit)
    try:
        with budget.heeding_interrupts():
            solution = chosen.solve(problem, budget).in_weights(unit)
        answered, solution = with_idle(panel, problem.in_weights(), solution)
    except InfeasiblePinsError as error:
        raise pins_in_conflict(panel, error.pins) from None
    solution = with_notes(panel, problem, with_settled(panel, plain, solution))
    said = [*notes, *filter(None, [clipped(panel, measure), solution.note])]
    return Result(panel, chosen, answered, replace(solution, note=" ".join(said) or None))
