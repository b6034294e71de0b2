r"""What checks prove of the joint distance, one at a time.

Let x be the nearest coherent answers of a judge, l_i >= 0 what they lose per answer to question i, and k_i the number
(or weight) of answers to it, so that the joint distance is the sum of k_i l_i. Since x is coherent within each check t,
the l_i of its questions sum to its arbitrage d_t or more. So for weights w_t >= 0 that use no question more often than
it was answered, $\sum_{t \ni i} w_t \le k_i$,

$$\sum_t w_t d_t \le \sum_t w_t \sum_{i \in t} l_i = \sum_i l_i \sum_{t \ni i} w_t \le \sum_i k_i l_i.$$

(If a question was answered several times, the check is about the mean answer, and the divergence from a mean is at most
the mean of the divergences.) The best weights are those of a linear program. What the joint distance has beyond it is
what no set of checks, looked at one by one, can show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Vector


def proved_by_checks(questions: Sequence[tuple[int, ...]], arbitrage: Vector, capacity: Vector) -> float:
    """The most that checks prove, given the questions of each check and how often each question was answered.

    Two checks that share a question cannot both count in full; the third stands alone.

    >>> proved_by_checks([(0, 1), (1, 2), (3, 4)], np.array([0.3, 0.2, 0.1]), np.ones(5))
    0.4
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    kept = np.flatnonzero(arbitrage > 0)
    if not len(kept):
        return 0.0
    rows = np.concatenate([np.unique(questions[t]) for t in kept.tolist()])
    columns = np.repeat(np.arange(len(kept)), [len(set(questions[t])) for t in kept.tolist()])
    used, place = np.unique(rows, return_inverse=True)
    table = csr_array((np.ones(len(rows)), (place.ravel(), columns)), (len(used), len(kept)))
    found = linprog(-arbitrage[kept], A_ub=table, b_ub=capacity[used], bounds=(0, None), method="highs")
    if found.x is None:
        return 0.0
    weight = np.maximum(found.x, 0.0)  # made feasible in arithmetic, whatever the solver's tolerance is
    over = np.max(table @ weight / capacity[used], initial=1.0)
    return float(arbitrage[kept] @ weight / over)
