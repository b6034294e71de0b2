"""Drafts of the workbench from the fields of forms, with refusals in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import ValidationError

from coherently.web.catalogue import plain
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from coherently.web.shapes.shape import Shape

Made = TypeVar("Made", bound="Shape")


def fill(shape: type[Made], /, **values: Any) -> Made:
    """A draft with these fields, or a refusal that names the first field that does not fit."""
    try:
        return shape(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        raise refused_field(place, first["type"], first.get("ctx") or {}, _title(shape, place[0])) from None


def _title(shape: type[Shape], name: str) -> str | None:
    """The name for people that a shape gives a field, which may be optional there."""
    info = shape.model_fields.get(name)
    if info is None:
        return None
    parts = [mark for part in get_args(info.annotation) for mark in getattr(part, "__metadata__", ())]
    return next((mark.title for mark in (info, *parts) if getattr(mark, "title", None)), None)


def refused_field(place: list[str], kind: str, limits: dict[str, Any], title: str | None = None) -> RefusedError:
    """What to say about a field that does not fit; `title` is its name for people, if the shape gives one."""
    name = next((part for part in reversed(place) if not part.isdigit()), "")
    field = title or (plain(f"field.{name}") if name in NAMED else plain("field.other"))
    if kind == "string_too_short":
        words = plain("field.empty", field=field)
    elif kind in ("string_too_long", "too_long"):
        words = plain("field.long", field=field, most=f"{limits['max_length']:,}")
    else:
        words = plain("field.wrong", field=field)
    return RefusedError(422, "not-usable", words, where=".".join(place))


NAMED = frozenset({"title", "definition", "group", "event", "events", "statement", "name", "text", "note", "closes_at"})
"""Fields that have a name for people."""
