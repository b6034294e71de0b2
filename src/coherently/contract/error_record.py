"""Errors as records: errors lie below the contract, so their description is here and not in their class."""

from __future__ import annotations

from typing import Any

from coherently import errors
from coherently.contract.description import (
    TEXT,
    WHOLE,
    ListOf,
    ObjectOf,
    OneOf,
    OrNull,
    PlainKind,
    Record,
    RecordField,
)
from coherently.errors import CoherentlyError, ListedProblem, Where
from coherently.values import json_text


def error_kinds() -> dict[str, type[CoherentlyError]]:
    """The public kinds of errors by their names."""
    found = (value for value in vars(errors).values() if isinstance(value, type))
    return {kind.__name__: kind for kind in found if issubclass(kind, CoherentlyError)}


ROW = PlainKind(
    "a row, as a number or a text",
    (("type", ["integer", "string"]),),
    lambda value: isinstance(value, int | str) and not isinstance(value, bool),
)
PLACE = ObjectOf(
    "a place",
    (
        RecordField("file", OrNull(TEXT), "the name of the source"),
        RecordField("row", OrNull(ROW), "the row or line, as a person counts it"),
        RecordField("column", OrNull(TEXT), "the name of the column"),
        RecordField("event", OrNull(TEXT), "the text of the event or statement"),
        RecordField(
            "span", OrNull(ListOf(WHOLE)), "its first character, counted from 0, and the one after the last, of it"
        ),
        RecordField("field", OrNull(TEXT), "the path of a value in a record, such as forecasts[3].event"),
    ),
)
PROBLEM_FIELDS = (
    RecordField("code", TEXT, "a word for the kind of problem, which stays as it is"),
    RecordField("message", TEXT, "what was found, where, what is allowed and what to do"),
    RecordField("where", OrNull(PLACE), "the place of the problem; null if it has none"),
    RecordField("remedy", OrNull(TEXT), "what to do; null where only the message says it"),
)
ERROR = Record(
    "error",
    1,
    "What was wrong (`co.CoherentlyError`).",
    (
        RecordField("kind", OneOf(error_kinds), "the class of the error"),
        *PROBLEM_FIELDS,
        RecordField("problems", ListOf(ObjectOf("a problem", PROBLEM_FIELDS)), "all of them, at most the first 1,000"),
    ),
)


def error_json(error: CoherentlyError) -> str:
    """The record of an error.

    >>> again = read_error(error_json(errors.PanelError("no judge", where=Where("panel.csv", 7))))
    >>> again, again.where
    (PanelError('no judge'), Where(file='panel.csv', row=7))
    """
    kinds = (kind.__name__ for kind in type(error).__mro__ if kind.__name__ in error_kinds())
    return json_text(ERROR.headed({"kind": next(kinds), **error.as_dict()}))


def read_error(source: Any) -> CoherentlyError:
    """The error of a record: a text, or a file by its path."""
    values = ERROR.read(source)
    kind = error_kinds()[values["kind"]]
    first = _problem(values)
    problems = [_problem(each) for each in values["problems"]]
    listed = problems if problems != [first] else []
    return kind(first.message, code=first.code, where=first.where, remedy=first.remedy, problems=listed)


def _problem(values: dict[str, Any]) -> ListedProblem:
    place = values["where"]
    if place is not None:
        place = Where(**place | {"span": None if place["span"] is None else tuple(place["span"])})
    return ListedProblem(values["message"], values["code"], place, values["remedy"])
