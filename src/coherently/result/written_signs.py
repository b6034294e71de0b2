"""Trees of signs as the checker reads them: the solver's tree, its diagonals on the grid, and factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.proofcheck.check_errors import ProofRefusedError
from coherently.proofcheck.sign_trees import SignForm, sign_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.proofcheck.leaves import CostSum
    from coherently.proofcheck.truth_functions import Literal
    from coherently.solve.solution import SignTree

LARGEST_SUM = 2**47
"""Sums of the numbers of a form are kept below this, where 64 bits are enough to check it (`sign_forms.cpp`)."""


def excess_digits(tree: SignTree, unit: float, bits: int) -> int:
    """By how many binary digits the numbers of a form, or of its diagonals, would be too large."""
    # Of a table f of two variables with the entries 0 and c, 8 f has a constant of at most 8 |c|, a field of at most
    # 8 |c| and a matrix of at most 4 |c|; of one variable there are at most 4 |c| and 4 |c|.
    energy = 20 * (tree.size + sum(abs(fine[3]) for fine in tree.fines))
    diagonal = 8 * float(np.abs(_rows(tree)).sum(1).max(initial=0.0))
    largest = int(max(energy, diagonal) * tree.scale * unit * 2**bits)
    return (largest // LARGEST_SUM).bit_length()


def _rows(tree: SignTree) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The diagonals, one row per form, with 0 where signs are fixed."""
    found = np.zeros(tree.fixed.shape)
    found[tree.fixed == 0] = tree.y
    return found


def sign_leaf(
    total: CostSum, laws: Sequence[int], tree: SignTree, literals: Sequence[Literal], *, factor: float
) -> tuple[dict[str, Any], bytes] | None:
    """The line of a leaf and the bytes that follow it; None if the tree is not about the checker's variables.

    An energy of 1 is `factor` on the grid of the record, whose laws have these numbers.
    """
    variables = [v for v, _ in literals]
    is_plain = all(states == {1} and total.space.variables[v].size == 2 for v, states in literals)
    prices = _prices(total, tree, variables, factor) if is_plain else None
    if prices is None:
        return None
    try:
        form = sign_form(total, variables, prices)
    except ProofRefusedError:  # the record has variables that are not in the tree
        return None
    written = _written(form, tree, factor)
    if written is None:
        return None
    told = [[laws[law], price] for law, price in prices.items()]
    return {"s": variables, "p": told, "bytes": len(written)}, written


def _written(form: SignForm, tree: SignTree, factor: float) -> bytes | None:
    """The tree with its forms on the grid: 8 E has 8 times the diagonal of E."""
    if max((abs(x) for row in form.a for x in row), default=0) > LARGEST_SUM:
        return None
    y = np.rint(8 * factor * tree.y)
    if np.abs(y).max(initial=0.0) > LARGEST_SUM:
        return None
    a = np.array(form.a, np.int64).reshape(len(form.h), len(form.h))
    return _core.write_signs(tree.tree, tree.places, tree.fixed, a, y.astype(np.int64))


def _prices(total: CostSum, tree: SignTree, variables: Sequence[int], factor: float) -> dict[int, int] | None:
    """What broken laws of the record cost; None if a fine is not about one of them.

    A fine of a negative amount is for where its function fails, up to a constant.
    """
    known = {(law.scope, law.mask): i for i, law in enumerate(total.laws)}
    prices: dict[int, int] = {}
    for first, second, table, amount in tree.fines:
        places = [first] if second < 0 else [first, second]
        cells = 1 << len(places)
        broken = table if amount > 0 else table ^ ((1 << cells) - 1)
        scope = sorted(variables[one] for one in places)
        turns = [scope.index(variables[one]) for one in places]
        mask = 0
        for cell in range(cells):
            place = sum((cell >> i & 1) << (len(scope) - 1 - turn) for i, turn in enumerate(turns))
            mask |= (broken >> cell & 1 ^ 1) << place
        law = known.get((tuple(scope), mask))
        if law is None:
            return None
        prices[law] = prices.get(law, 0) + round(abs(amount) * factor)
    return prices
