"""By how many standard errors the answers of a consistency check miss the rule that they should obey.

The frequentist metric of Paleka, Pallavi Sudhir, Alvarez, Bhat, Shen, Wang and Tramèr (2025), Consistency Checks for
Language Model Forecasters, ICLR (arXiv:2412.18544), as their program computes it (`frequentist_violation` in
src/static_checks/Checker.py of https://github.com/dpaleka/consistency-forecasting). Each answer a counts as a sample
with a variance in proportion to a(1 - a); the variance of a product or mixture follows from the delta method. (That
program has P Q R in place of P R in one term of CondCond; here this term follows from the delta method too.) A small
`beta` in the denominator keeps the metric finite for certain answers. Ladders and partitions,
which are not in that paper, follow its rules for consequences and for negations, which are partitions of two.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final

from coherently.conversion.tuples import LADDER, PARTITION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BETA: Final = 1e-3
"""Added to the variance, as in the published program."""


def frequentist(check: str, answers: Mapping[str, float], beta: float = BETA) -> float:
    r"""The largest violation of the check's rules, in standard errors.

    $$v = \frac{|a + b - 1|}{\sqrt{a(1-a) + b(1-b) + \beta}}$$

    for Neg, and likewise for the others, with 0 for an inequality that holds.

    >>> round(frequentist("Cond", {"P": 0.4, "Q_given_P": 0.4, "P_and_Q": 0.4}), 6)
    0.42573
    >>> round(frequentist("Neg", {"P": 0.6, "not_P": 0.6}), 6)
    0.288375
    """
    excess, variance = max(_RULES[check](*answers.values()), key=lambda rule: rule[0] / math.sqrt(rule[1] + beta))
    return max(0.0, excess) / math.sqrt(variance + beta)


_Rules = list[tuple[float, float]]
"""By how much each rule is violated, and the variance of that."""


def _var(*answers: float) -> float:
    return sum(a * (1.0 - a) for a in answers)


def _neg(p: float, not_p: float) -> _Rules:
    return [(abs(p + not_p - 1.0), _var(p, not_p))]


def _paraphrase(p: float, same: float) -> _Rules:
    return [(abs(p - same), _var(p, same))]


def _consequence(p: float, implied: float) -> _Rules:
    return [(p - implied, _var(p, implied))]


def _and(p: float, q: float, both: float) -> _Rules:
    least = min(p, q)
    return [(p + q - 1.0 - both, _var(p, q, both)), (both - least, _var(both, least))]


def _or(p: float, q: float, either: float) -> _Rules:
    most = max(p, q)
    return [(most - either, _var(most, either)), (either - p - q, _var(p, q, either))]


def _and_or(p: float, q: float, both: float, either: float) -> _Rules:
    return [(abs(p + q - both - either), _var(p, q, both, either))]


def _but(p: float, q_only: float, either: float) -> _Rules:
    return [(abs(p + q_only - either), _var(p, q_only, either))]


def _cond(p: float, given: float, both: float) -> _Rules:
    return [(abs(p * given - both), given**2 * _var(p) + p**2 * _var(given) + _var(both))]


def _cond_cond(p: float, q: float, r: float, all_: float) -> _Rules:
    product = (q * r) ** 2 * _var(p) + (p * r) ** 2 * _var(q) + (p * q) ** 2 * _var(r)
    return [(abs(p * q * r - all_), product + _var(all_))]


def _expected_evidence(p: float, q: float, if_q: float, if_not: float) -> _Rules:
    mixture = q**2 * _var(if_q) + (1.0 - q) ** 2 * _var(if_not) + (if_q - if_not) ** 2 * _var(q)
    return [(abs(p - if_q * q - if_not * (1.0 - q)), _var(p) + mixture)]


def _ladder(*rungs: float) -> _Rules:
    """Every rung and every later one are a consequence."""
    return [_consequence(one, other)[0] for one, other in combinations(rungs, 2)]


def _partition(*values: float) -> _Rules:
    return [(abs(sum(values) - 1.0), _var(*values))]


_RULES: Final[dict[str, Callable[..., _Rules]]] = {
    "Neg": _neg,
    "Paraphrase": _paraphrase,
    "Consequence": _consequence,
    "And": _and,
    "Or": _or,
    "AndOr": _and_or,
    "But": _but,
    "Cond": _cond,
    "CondCond": _cond_cond,
    "ExpectedEvidence": _expected_evidence,
    LADDER: _ladder,
    PARTITION: _partition,
}
"""The rules of each check; the answers come in the order of its roles."""
