"""A sequence whose items are made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from coherently.values import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class LazyTuple(Sequence[T]):
    """A tuple whose items are made when they are asked for; it equals the tuple of them, and is pickled as that.

    >>> squares = LazyTuple(3, lambda i: i * i)
    >>> squares[2], list(squares), squares == (0, 1, 4), squares + (9,)
    (4, [0, 1, 4], True, (0, 1, 4, 9))
    """

    __slots__ = ("_count", "_items", "_make")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count, self._make = count, make
        self._items: tuple[T, ...] | None = None

    def _all(self) -> tuple[T, ...]:
        if self._items is None:
            self._items = tuple(map(self._make, range(self._count)))
        return self._items

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if self._items is not None or isinstance(place, slice):
            return self._all()[place]
        return self._make(range(self._count)[place])

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    def __add__(self, other: Sequence[T]) -> tuple[T, ...]:
        return (*self, *other)

    def __radd__(self, other: Sequence[T]) -> tuple[T, ...]:
        return (*other, *self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | LazyTuple):
            return NotImplemented
        return alike(tuple(self), tuple(other))

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)
