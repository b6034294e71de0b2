"""Texts in two arrays, as Arrow has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from coherently import _core
from coherently.errors import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PackedTexts(Sequence[Any]):
    """Texts that are strings only where somebody looks: text i has the bytes, in UTF-8, from offset i to offset i + 1.

    >>> texts = PackedTexts(np.array([0, 1, 6]), np.frombuffer(b"pp & q", np.uint8))
    >>> len(texts), texts[1], list(texts), texts.take(np.array([1, 0]))
    (2, 'p & q', ['p', 'p & q'], ['p & q', 'p'])
    """

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    @staticmethod
    def of(texts: Iterable[str]) -> PackedTexts:
        """Pack strings.

        >>> PackedTexts.of(["p", "é"]).data.tolist()
        [112, 195, 169]
        """
        encoded = [text.encode() for text in texts]
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
        return PackedTexts(offsets.astype(np.int64), np.frombuffer(b"".join(encoded), np.uint8))

    def __repr__(self) -> str:
        return repr(tuple(self)) if len(self) <= SHOWN else f"<{len(self):,} texts>"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...  # a text; columns of answers have cells of any type
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        place = range(len(self))[index]
        return self.data[self.offsets[place] : self.offsets[place + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.take(np.arange(len(self))))

    def take(self, index: NDArray[np.integer]) -> list[str]:
        """Some texts as strings."""
        return _core.unpack(self.offsets, self.data, np.ascontiguousarray(index, np.int64))

    def pick(self, index: NDArray[np.integer]) -> PackedTexts:
        """Some texts, as they are here."""
        return PackedTexts(*_core.pick(self.offsets, self.data, np.ascontiguousarray(index, np.int64)))

    def __eq__(self, other: object) -> bool:
        """Whether another sequence has the same texts."""
        if isinstance(other, PackedTexts):
            return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)
        if not isinstance(other, tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def is_ascii(self) -> bool:
        """Whether no text has a character beyond ASCII."""
        return not len(self.data) or bool(self.data.max() < 128)

    def empty(self) -> NDArray[np.int64]:
        """The places of the texts without any character."""
        return np.flatnonzero(np.diff(self.offsets) == 0)
