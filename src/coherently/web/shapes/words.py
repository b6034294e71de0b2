"""Words that registries own: what a field may be is asked of the registry whenever it is asked of the field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, slots=True)
class OneOf:
    """A field that is one of some words, which are looked up anew for each value and each schema.

    >>> from pydantic import TypeAdapter, ValidationError
    >>> words = ["brier", "log"]
    >>> field = TypeAdapter(Annotated[str, OneOf(lambda: words)])
    >>> words.append("own")
    >>> field.validate_python("own"), field.json_schema()["enum"]
    ('own', ['brier', 'log', 'own'])
    """

    words: Callable[[], Iterable[str]]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Check the word after it is known to be a text."""
        return core_schema.no_info_after_validator_function(self._known, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
        """The words of this moment."""
        found: dict[str, Any] = handler(schema)
        return found | {"enum": list(self.words())}

    def _known(self, word: str) -> str:
        words = list(self.words())
        if word not in words:
            expected = ", ".join(words)
            raise PydanticCustomError("unknown_word", "should be one of {expected}", {"expected": expected})
        return word


def _methods() -> Iterable[str]:
    from coherently.solve.registry import METHODS

    return METHODS


def _losses() -> Iterable[str]:
    from coherently.problem import LOSSES

    return LOSSES


def _pools() -> Iterable[str]:
    from coherently.solve.methods.recipe import POOLS

    return POOLS


def _designs() -> Iterable[str]:
    from coherently.problem.groups.named import DESIGNS

    return DESIGNS


def _voices() -> Iterable[str]:
    from coherently.explain.findings import VOICES

    return VOICES


MethodWord = Annotated[str, OneOf(_methods)]
LossWord = Annotated[str, OneOf(_losses)]
RecipePool = Annotated[str, OneOf(_pools)]
DesignWord = Annotated[str, OneOf(_designs)]
VoiceWord = Annotated[str, OneOf(_voices)]
