"""A lower bound on the relaxed problem that any forces between coordinates and groups certify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Vector
    from coherently.problem.groups.simple import Groups


def relaxed_bound(weight: Vector, target: Vector, groups: Groups, forces: Vector) -> float:
    """Bound min sum N (x - q)^2 over x in [0, 1]^m with each group in its hull, from below.

    For any real forces e, one entry per membership, with F_j the sum of those on coordinate j,

        L(e) = sum_j min over t in [0, 1] of N_j (t - q_j)^2 - F_j t  +  sum_g min over rows v of <e_g, v>

    is such a bound, up to rounding: it is the Lagrangian of x_g = y_g, y_g in the hull of g, minimised over x and y
    apart, and <e_g, .> is least at a row. It is tight at the multipliers, where F_j = 2 N_j (x_j - q_j). Targets
    of weight 0 are ignored.

    >>> from coherently.problem.groups.simple import Groups
    >>> rows = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> one = np.zeros(1, np.int32)
    >>> both = np.array([0, 1], np.int32)
    >>> implies = Groups(design="logical", starts=np.array([0, 2]), members=both, pattern=one, patterns=(rows,))
    >>> weight, target = np.ones(2), np.array([0.2, 0.6])
    >>> relaxed_bound(weight, target, implies, np.zeros(2))
    0.0
    >>> round(relaxed_bound(weight, target, implies, np.array([0.4, -0.4])), 12)
    0.08
    """
    pull = np.bincount(groups.members, forces, len(weight)).astype(np.float64)
    center, t = np.where(weight > 0, target, 0.0), touching_points(weight, target, pull)
    return float(np.sum(weight * (t - center) ** 2 - pull * t)) + least_on_rows(groups, forces)


def touching_points(weight: Vector, target: Vector, pull: Vector) -> Vector:
    """The t in [0, 1] at which each N (t - q)^2 - F t is least."""
    known = weight > 0
    with np.errstate(over="ignore"):
        shift = np.divide(pull, 2.0 * weight, out=np.where(pull > 0, 1.0, 0.0), where=known)
    return np.asarray(np.clip(np.where(known, target, 0.0) + shift, 0.0, 1.0))


def least_sum(coefficients: Vector, groups: Groups, forces: Vector) -> float:
    """Bound min <c, x> over x in [0, 1]^m with each group in its hull, from below, up to rounding.

    For any forces e with the sums F, <c, x> = <c - F, x> + sum_g <e_g, x_g>, and the bound is the sum of the least
    values of both parts: the first over [0, 1]^m, the second over rows.
    """
    rest = coefficients - np.bincount(groups.members, forces, len(coefficients))
    return float(np.minimum(rest, 0.0).sum()) + least_on_rows(groups, forces)


def balanced(coefficients: Vector, groups: Groups, forces: Vector) -> Vector:
    """Forces with the sums c: what is missing on a coordinate goes to its groups, in equal parts.

    `least_sum` of these is at least that of `forces`. With the rest d = c - F and d_g its part in group g,

        min over rows v of <e_g + d_g, v>  >=  min over rows v of <e_g, v>  +  the sum of min(d_g, 0),

    and it is higher where a row that has a coordinate with d < 0 is not among the least.
    """
    count = np.bincount(groups.members, minlength=len(coefficients))
    rest = coefficients - np.bincount(groups.members, forces, len(coefficients))
    more: Vector = forces + (rest / np.maximum(count, 1))[groups.members]
    return more


def least_on_rows(groups: Groups, forces: Vector) -> float:
    """The sum over groups of the least <e_g, v> on a row v of the pattern."""
    return float(sum(np.sum(np.min(rows @ forces[slots][:, :, None], axis=1)) for rows, _, slots in by_shape(groups)))


def by_shape(groups: Groups) -> Iterator[tuple[Vector, Indices, Indices]]:
    """Take together the groups whose patterns have the same numbers of rows and columns.

    Gives the patterns, one matrix per group; the groups; and their memberships, as positions in `groups.members`,
    one row per group.
    """
    shapes: dict[tuple[int, ...], list[int]] = {}
    for number, pattern in enumerate(groups.patterns):
        shapes.setdefault(pattern.shape, []).append(number)
    for (_, width), same in shapes.items():
        found = np.flatnonzero(np.isin(groups.pattern, same))
        which = np.searchsorted(same, groups.pattern[found])
        vertices = np.stack([groups.patterns[number] for number in same])[which]
        yield vertices, found, groups.starts[found][:, None] + np.arange(width)
