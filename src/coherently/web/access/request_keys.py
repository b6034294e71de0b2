"""Requests that carry a key are done once, however often they are sent."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

from coherently.web.shapes.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.web.access.callers import AccountCaller, JudgeCaller
    from coherently.web.access.workbench import Workbench

ShapeT = TypeVar("ShapeT", bound=Shape)


def only_once(
    bench: Workbench,
    caller: AccountCaller | JudgeCaller,
    what: str,
    key: str | None,
    draft: Shape,
    action: Callable[[], ShapeT],
    *,
    kept: Callable[[ShapeT], ShapeT] | None = None,
) -> ShapeT:
    """Do an action in one transaction; with a key that came before, give the answer of the first time again.

    The action runs in the transaction, so it only reads and writes the store. `kept` gives what of the answer is
    noted for later: a secret is not, since the store has hashes of secrets only.
    """
    if key is None:
        return bench.store.write(action)
    digest = hashlib.sha256(draft.model_dump_json().encode()).hexdigest()
    first: list[ShapeT] = []

    def noted() -> tuple[int, object]:
        value = action()
        first[:] = [value]
        noted_value = value if kept is None else kept(value)
        return 200, {"kind": type(value).__name__, "value": noted_value.model_dump(mode="json", by_alias=True)}

    answer = bench.store.once(f"{caller.scope} {what}", key, digest, noted)
    if not answer.repeated:
        return first[0]
    shape = _shapes()[answer.body["kind"]]
    return shape.model_validate(answer.body["value"])  # type: ignore[return-value]


def _shapes() -> dict[str, type[Shape]]:
    found: dict[str, type[Shape]] = {}
    waiting: list[type[Shape]] = [Shape]
    while waiting:
        kind = waiting.pop()
        found[kind.__name__] = kind
        waiting += kind.__subclasses__()
    return found
