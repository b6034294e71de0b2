"""Trees of signs, checked by the compiled twin of the checker's rule: 64-bit integers that provably do not overflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.proofcheck.sign_trees import least_of_signs

if TYPE_CHECKING:
    from coherently.proofcheck.leaves import WorkLeft
    from coherently.proofcheck.sign_trees import SignForm

LARGEST = 2**62
"""Numbers of this size are not handed to the twin; it asks for much smaller ones."""


@dataclass
class CompiledSigns:
    """The rule for trees of signs: its twin where that says yes, which `trees` counts, else the checker's own."""

    trees: int = 0

    def __call__(self, form: SignForm, signs: list[int], tree: bytes, work: WorkLeft) -> int:
        """A number below E in every world of these signs, the same as by the checker's rule."""
        found = twin_of_signs(form, signs, tree)
        if found is None:
            return least_of_signs(form, signs, tree, work)
        least, spent = found
        work.spend(spent)
        self.trees += 1
        return least

    @property
    def sentence(self) -> str:
        """What a reader should know."""
        if not self.trees:
            return ""
        return "; trees were checked by the compiled twin of the rule (python -m coherently.proofcheck does without it)"


def twin_of_signs(form: SignForm, signs: list[int], tree: bytes) -> tuple[int, int] | None:
    """What the twin proves, and the work it was; None if that is nothing, or if numbers are too large for it."""
    if max(map(abs, (form.constant, *form.h, *(x for row in form.a for x in row)))) >= LARGEST:
        return None
    size = len(form.h)
    a = np.array(form.a, np.int64).reshape(size, size)
    return _core.check_signs(form.constant, np.array(form.h, np.int64), a, np.array(signs, np.int8), tree)
