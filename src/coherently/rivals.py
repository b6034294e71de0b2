"""What coherent forecasts are compared with: the pools and weights that the field uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.judge_weights import CoherenceWeights, HistoryWeights
from coherently.problem.pool_kinds import OPTIONS
from coherently.scoring.literature import PUBLISHED_FITS, FittedRival
from coherently.solve import Exact, Pool

if TYPE_CHECKING:
    import os

    from coherently.panel import Panel
    from coherently.scoring.candidates import Asked


def baselines(
    *, history: Panel | str | os.PathLike[str] | None = None, time_limit: float | None = None
) -> tuple[Asked, ...]:
    r"""The methods that the field uses, each with and without coherence after it, for `co.compare`.

    These are all kinds of `co.Pool`, by themselves and followed by `co.Exact`, and the linear pool and `co.Exact` with
    judges weighted by their coherence (`co.CoherenceWeights`), and by their past scores if there is a `history`
    (`co.HistoryWeights`). `time_limit` is for each `co.Exact`, and for the check of the judges' coherence, in seconds.
    The linear pool with equal weights, alone and followed by exact, is left out: these are the rows Linear average and
    Aggregate (exact) of every comparison.

    >>> import coherently as co
    >>> panel = co.simulate(judges=8, variables=6, basic=3, compound=6, seed=1)
    >>> comparison = co.compare(panel, co.baselines())
    >>> print(*comparison.methods[5:9], *comparison.methods[-2:], sep="\n")
    Pool (log)
    Aggregate (log, then exact)
    Pool (median)
    Aggregate (median, then exact)
    Pool (linear, coherence weights)
    Aggregate (exact, coherence weights)
    """
    exact = Exact() if time_limit is None else Exact(time_limit=time_limit)
    pools = [method for kind in OPTIONS if kind != "linear" for method in (Pool(kind), Pool(kind, then=exact))]
    past = [] if history is None else [HistoryWeights(history)]
    weightings = [CoherenceWeights(time_limit=exact.time_limit), *past]
    weighted = [(method, weights) for weights in weightings for method in (Pool("linear"), exact)]
    return (*pools, *weighted)


def literature(*, time_limit: float | None = None) -> tuple[FittedRival, ...]:
    r"""Published rules that learn from outcomes, each alone and followed by `co.Exact`, for `co.compare`.

    They are coherence weights (Karvetski and others 2013), contribution weights (Budescu and Chen 2015), fitted
    extremes (Satopaa and others 2014), Brier weights with Platt's line, and the rule of Neyman and Roughgarden (2022).
    Each event is answered with what other events teach: folds are of clusters where `co.compare` has them, in order of
    time where forecasts have times, else of components. `time_limit` is for each `co.Exact`, in seconds.

    >>> import coherently as co
    >>> panel = co.simulate(judges=8, variables=12, basic=6, compound=0, seed=1)
    >>> print(*co.compare(panel, co.literature()).methods[5:9], sep="\n")
    Coherence weights (Karvetski)
    Coherence weights (Karvetski), then exact
    Contribution weights (Budescu)
    Contribution weights (Budescu), then exact
    """
    exact = Exact() if time_limit is None else Exact(time_limit=time_limit)
    return tuple(FittedRival(word, then) for word in PUBLISHED_FITS for then in (None, exact))
