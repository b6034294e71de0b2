"""The strict base of all models, and the kinds of fields that they share."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from coherently.web import sizes
from coherently.web.wall_clock import present

LINE = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"
"""One line with something in it."""
LINES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
"""Any text without control characters other than tabs and ends of lines."""
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})$"


class Shape(BaseModel):
    """A frozen value whose fields are what they say: no other fields, no numbers as texts, no NaN, no infinity."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def of(cls, record: object, /, **rest: Any) -> Self:
        """A shape whose fields are those of a record by the same name, and the rest that is given.

        >>> from types import SimpleNamespace
        >>> class PointView(Shape):
        ...     x: int
        ...     y: int
        >>> PointView.of(SimpleNamespace(x=1, secret=7), y=2)
        PointView(x=1, y=2)
        """
        same = {name: getattr(record, name) for name in cls.model_fields if name not in rest and hasattr(record, name)}
        return cls(**same, **rest)


def _in_utc(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a time such as 2026-03-31T12:00:00Z") from None
    return as_text(moment)


def as_text(moment: datetime) -> str:
    """A time in UTC with milliseconds, as the API writes it.

    >>> as_text(datetime(2026, 3, 31, 12, tzinfo=UTC))
    '2026-03-31T12:00:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_text() -> str:
    """The present time, as the API writes it."""
    return as_text(present())


def as_moment(text: str) -> datetime:
    """The time that a field of kind `Moment` holds."""
    return datetime.fromisoformat(text)


def _known_zone(text: str) -> str:
    if text not in zone_names():
        raise ValueError("must be the name of a time zone, such as Europe/Berlin or UTC")
    return text


@cache
def zone_names() -> frozenset[str]:
    """The names of all time zones that this machine knows, by place; UTC among them."""
    return frozenset(name for name in available_timezones() if "/" in name and not name.startswith("Etc/")) | {"UTC"}


Short = Annotated[str, Field(max_length=sizes.SHORT, pattern=r"^[^\x00-\x1f\x7f]*$")]
Title = Annotated[str, Field(min_length=1, max_length=sizes.TITLE, pattern=LINE)]
Note = Annotated[str, Field(max_length=sizes.NOTE, pattern=LINES)]
EventText = Annotated[str, Field(min_length=1, max_length=sizes.EVENT, pattern=LINE)]
Statement = Annotated[str, Field(min_length=1, max_length=sizes.STATEMENT, pattern=LINE)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Zone = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9_+/-]+$"), AfterValidator(_known_zone)]
Address = Annotated[
    str,
    Field(max_length=254, pattern=r"^([!#-'*+./-9=?A-Z^-~-]+@[0-9A-Za-z](\.?[0-9A-Za-z-])*)?$"),
]
"""Where mail goes, in ASCII, or nothing."""
Moment = Annotated[str, Field(min_length=17, max_length=40, pattern=MOMENT), AfterValidator(_in_utc)]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Id = Annotated[str, Field(min_length=3, max_length=40, pattern=r"^[a-z]+_[0-9A-Za-z]+$")]
Anything = dict[str, Any]


def example(**values: Any) -> ConfigDict:
    """The settings of a model with an example of it."""
    return ConfigDict(json_schema_extra={"examples": [values]})
