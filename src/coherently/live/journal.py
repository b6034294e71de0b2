"""Where the revisions of a live panel are kept: a protocol, of which a file is one kind and a store another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.live.assembly import Dress
    from coherently.live.ledger import Ledger
    from coherently.live.revision import Revision
    from coherently.problem import Loss
    from coherently.solve import Method


@dataclass(frozen=True, slots=True)
class Beginning:
    """What stood when the reading of a journal begins, and by which rules it is solved.

    `note` is what people should know of it, such as what was cut off at the end of a file.
    """

    ledger: Ledger
    dress: Dress
    method: Method
    loss: Loss
    note: str | None = None


@runtime_checkable
class Journal(Protocol):
    """Revisions in the one order that all readers see; each is durable before it counts.

    A journal is read on and on: `begin` gives a snapshot, and every `read` the revisions after those that were given
    before. Others may append too, if the journal allows it; what they appended comes with the next `read`.
    """

    @property
    def identity(self) -> str:
        """What tells this journal from others."""
        ...

    def begin(self) -> Beginning:
        """What stands at the point from which `read` goes on."""
        ...

    def read(self) -> Sequence[Revision]:
        """All revisions since the last call of `begin`, `read` or `append`."""
        ...

    def append(self, revision: Revision) -> Sequence[Revision]:
        """Keep a revision; when this returns, it is durable, and if it raises, nothing was kept.

        Returns what is now to be done, in order: what others appended before it, and the revision itself.
        """
        ...

    def close(self) -> None:
        """Let go of what the journal holds; it may be called twice."""
        ...
