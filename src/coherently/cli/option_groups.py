"""Options that belong together, as one argument of a command."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def gathered(command: Callable[..., None]) -> Callable[..., None]:
    """Give the program one option for each field of the dataclasses among a command's arguments.

    >>> @dataclasses.dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> @gathered
    ... def show(size: Size, *, loud: bool = False) -> None:
    ...     print(size, loud)
    >>> inspect.signature(show)
    <Signature (*, width: int = 1, height: int = 2, loud: bool = False)>
    >>> show(height=3)
    Size(width=1, height=3) False
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}

    def run(**given: Any) -> None:
        for name, kind in groups.items():
            own = {field.name: given.pop(field.name) for field in dataclasses.fields(kind) if field.name in given}
            given[name] = kind(**own)
        command(**given)

    options: list[inspect.Parameter] = []
    for name, each in inspect.signature(command).parameters.items():
        options += _fields(groups[name]) if name in groups else [_option(name, each.default, hints[name])]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in options}
    return run


def _fields(kind: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        yield _option(field.name, default, hints[field.name])


def _option(name: str, default: object, kind: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
