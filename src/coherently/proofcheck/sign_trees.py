"""R7: trees of semidefinite leaves, which bound a sum of functions of one or two Boolean variables.

A tree is a string of bytes, in preorder; numbers are of the lowest byte first:

    0 or 1, variable (2 bytes)    split: two branches follow, first that of the sign -1 (0) or 1 (1)
    2                             leaf, bounded at the last point, which must be one of the form above it
    3, point                      a point, before a node: 2 bytes for each variable that is free here, in units of 2^-12
    4, y, k, c                    a form in the variables that are free, before a node, for it and all below: Y with 8
                                  bytes each, k with one, the rows of the lower triangle of C with 4 bytes each
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeAlias

from .check_errors import ProofRefusedError
from .leaves import CostSum, WorkLeft

POINT = 12
"""Binary digits after the point of points."""
SCALE = 2 * POINT + 3
"""Bounds are of 8 E times 2^24."""
MOST_SHIFT, LARGEST_FORM = 30, 2_000
LOWER_FIRST, UPPER_FIRST, LEAF, POINTED, FORMED = range(5)


@dataclass(frozen=True)
class SignForm:
    """8 E = constant + h.s + s'As over signs s of Boolean variables, A symmetric with a diagonal of 0."""

    constant: int
    h: Sequence[int]
    a: Sequence[Sequence[int]]

    def where(self, signs: Sequence[int]) -> tuple[list[int], SignForm]:
        """The variables whose sign is 0, which are free, and the form in these; the others have their signs."""
        free = [i for i, sign in enumerate(signs) if not sign]
        pull = [sum(map(mul, row, signs)) for row in self.a]
        constant = self.constant + sum(map(mul, self.h, signs)) + sum(map(mul, pull, signs))
        a = [[self.a[i][j] for j in free] for i in free]
        return free, SignForm(constant, [self.h[i] + 2 * pull[i] for i in free], a)


TreeRule: TypeAlias = Callable[[SignForm, list[int], bytes, WorkLeft], int]
"""What bounds 8 E / 8 by a tree, given a form, the signs of variables that are fixed (0: free), and the tree."""


def sign_form(total: CostSum, variables: Sequence[int], prices: Mapping[int, int]) -> SignForm:
    """Write E with functions of one or two Boolean variables as a form in signs.

    With s = +-1 the table f of two variables is 1/4 of a sum in 1, s, s' and s s'. A law that is broken costs any
    price, as it is never broken.
    """
    place = {v: i for i, v in enumerate(variables)}
    n = len(variables)
    if n > LARGEST_FORM or any(total.space.variables[v].size != 2 for v in variables):
        raise ProofRefusedError(f"a semidefinite form has at most {LARGEST_FORM} variables, all of them Boolean")
    parts = [(function, c, 0) for function, c in total.parts.items()]
    parts += [(total.laws[law], 0, price) for law, price in prices.items()]
    constant, h, a = 0, [0] * n, [[0] * n for _ in range(n)]
    for function, c, price in parts:
        if function.constant is not None:
            constant += 8 * (c if function.constant else price)
            continue
        if function.mask is None or len(function.scope) > 2 or any(v not in place for v in function.scope):
            raise ProofRefusedError("a semidefinite form needs functions of one or two of its variables")
        # One variable is taken as two of which the second does not matter.
        each = 4 >> len(function.scope)
        f = [c if function.mask >> cell & 1 else price for cell in range(4 // each) for _ in range(each)]
        i, j = place[function.scope[0]], place[function.scope[-1]]
        constant += 2 * sum(f)
        h[i] += 2 * (f[2] + f[3] - f[0] - f[1])
        h[j] += 2 * (f[1] + f[3] - f[0] - f[2])
        a[i][j] += f[0] + f[3] - f[1] - f[2]
        a[j][i] += f[0] + f[3] - f[1] - f[2]
    return SignForm(constant, h, a)


@dataclass(frozen=True)
class ConvexForm(SignForm):
    """A form in the variables `free` alone, whose A is positive semidefinite."""

    free: Sequence[int]


class Tangent:
    """s'As >= 2 z'As - z'Az for any point z, and what is linear in s is least at a corner of the signs left.

    The point is in units of 2^-12, so that everything is multiplied by 2^24.
    """

    def __init__(self, form: ConvexForm, point: Sequence[int]) -> None:
        slopes = [sum(map(mul, row, point)) for row in form.a]
        self.form = form
        self.constant = (form.constant << (2 * POINT)) - sum(map(mul, slopes, point))
        self.linear = [(h << (2 * POINT)) + (slope << (POINT + 1)) for h, slope in zip(form.h, slopes, strict=True)]

    def least(self, signs: Sequence[int]) -> int:
        """A number below E wherever the variables have these signs; those with 0 may have any."""
        least: int = self.constant
        for v, linear in zip(self.form.free, self.linear, strict=True):
            least += linear * signs[v] if signs[v] else -abs(linear)
        return int(least >> SCALE)


class SignTreeReader:
    """Reads a tree from its bytes."""

    def __init__(self, form: SignForm, tree: bytes, work: WorkLeft) -> None:
        self.form, self.tree, self.work, self.at = form, tree, work, 0

    def numbers(self, kind: str, count: int = 1) -> tuple[int, ...]:
        """The next numbers, of 1 (B), 2 (H, h), 4 (i) or 8 bytes (q)."""
        form = f"<{count}{kind}"
        found: tuple[int, ...] = struct.unpack_from(form, self.tree, self.at)
        self.at += struct.calcsize(form)
        return found

    def convex(self, signs: Sequence[int]) -> ConvexForm:
        """The next form, for the signs that are free: subtract a diagonal, check that what is left is semidefinite.

        As s_i^2 = 1, 8 E = K + sum of Y + h.s + s'(A - diag Y)s for any Y. If 4^k (A - diag Y) - C C' is diagonally
        dominant with a diagonal that is not negative, it is semidefinite (Gershgorin), and so is A - diag Y.
        """
        n = signs.count(0)
        self.work.spend(n * n * n + len(signs) * len(signs))
        y, (k,) = self.numbers("q", n), self.numbers("B")
        if k > MOST_SHIFT:
            raise ProofRefusedError(f"a semidefinite form has k above {MOST_SHIFT}")
        c = [self.numbers("i", i + 1) for i in range(n)]
        free, own = self.form.where(signs)
        p, away = [list(row) for row in own.a], [0] * n
        for i, row in enumerate(p):
            row[i] -= y[i]
            for j in range(i):
                rest = abs((row[j] << (2 * k)) - sum(map(mul, c[i], c[j])))
                away[i] += rest
                away[j] += rest
        if any((p[i][i] << (2 * k)) - sum(map(mul, c[i], c[i])) < away[i] for i in range(n)):
            raise ProofRefusedError("the form of a semidefinite leaf is not shown to be semidefinite")
        return ConvexForm(own.constant + sum(y), own.h, p, free)

    def tangent(self, form: ConvexForm, signs: Sequence[int]) -> Tangent:
        """The next point; variables that are not free are at their signs."""
        self.work.spend(len(form.free) * len(form.free))
        told = iter(self.numbers("h", sum(not signs[v] for v in form.free)))
        return Tangent(form, [signs[v] << POINT if signs[v] else next(told) for v in form.free])

    def split(self, signs: list[int], *, upper_first: bool) -> list[list[int]]:
        """R4: the two branches of the next variable, the one that comes first last."""
        (v,) = self.numbers("H")
        if v >= len(signs) or signs[v]:
            raise ProofRefusedError("a split of signs is not of a variable that is free")
        return [[*signs[:v], sign, *signs[v + 1 :]] for sign in ((-1, 1) if upper_first else (1, -1))]

    def least(self, signs: list[int]) -> int:
        """R4 and R7: the least bound of all leaves; each split has both signs, so that nothing is left out."""
        waiting: list[tuple[list[int], ConvexForm | None]] = [(signs, None)]
        found, tangent = list[int](), None
        while waiting:
            own, form = waiting.pop()
            while (code := self.numbers("B")[0]) in (POINTED, FORMED):
                form = self.convex(own) if code == FORMED else form
                if form is None:
                    raise ProofRefusedError("a point has no semidefinite form above it")
                tangent = self.tangent(form, own) if code == POINTED else tangent
            if code in (LOWER_FIRST, UPPER_FIRST):
                waiting += [(one, form) for one in self.split(own, upper_first=code == UPPER_FIRST)]
                continue
            if code != LEAF or form is None or tangent is None or tangent.form is not form:
                raise ProofRefusedError("a semidefinite leaf has a form above it and a point, and a code from 0 to 4")
            self.work.spend(len(form.free))
            found.append(tangent.least(own))
        if self.at != len(self.tree):
            raise ProofRefusedError("a tree of signs is longer than its nodes")
        return min(found)


def least_of_signs(form: SignForm, signs: list[int], tree: bytes, work: WorkLeft) -> int:
    """R7: a number below E in every world of these signs."""
    try:
        return SignTreeReader(form, tree, work).least(signs)
    except struct.error:
        raise ProofRefusedError("a tree of signs ends within a node") from None
