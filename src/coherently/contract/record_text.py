"""The text of a record: from a file or as it is, and the JSON in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from coherently.errors import Where

if TYPE_CHECKING:
    from coherently.errors import CoherentlyError

LONGEST_PATH = 4096
"""A longer text is never taken for a path."""


def source_text(source: str | os.PathLike[str], noun: str, error: type[CoherentlyError]) -> str:
    """The text of a file, by its path, or the text itself, which begins with a brace; `noun` says what it is.

    >>> from coherently.errors import ResultError
    >>> source_text(' {"status": "optimal"}', "result", ResultError)
    ' {"status": "optimal"}'
    >>> source_text("certificat.json", "result", ResultError)
    Traceback (most recent call last):
    ...
    coherently.errors.ResultError: there is no file 'certificat.json': check its name and folder, or pass JSON
    """
    if is_text(source):
        return str(source)
    article = "an" if noun[0] in "aeiou" else "a"
    if not isinstance(source, str | os.PathLike):
        raise error(
            f"{article} {noun} is read from JSON or from the path of a file, not from a {type(source).__name__}"
        )
    try:
        return Path(source).read_text("utf-8-sig")
    except (FileNotFoundError, ValueError) as problem:
        if isinstance(problem, UnicodeDecodeError):
            raise error(f"{source} is not a text in UTF-8, as the JSON of {article} {noun} is: {problem}") from None
        remedy = "check its name and folder, or pass JSON"
        message = f"there is no file {str(source)!r}: {remedy}"
        raise error(message, code="no-such-file", where=Where(str(source)), remedy=remedy) from None
    except OSError as problem:
        raise error(f"{source} cannot be read: {problem.strerror or problem}") from None


def is_text(source: object) -> bool:
    """Whether a source is a text itself, and no path of a file."""
    return isinstance(source, str) and (source.lstrip()[:1] in ("", *"{[") or len(source) > LONGEST_PATH)


def file_of(source: str | os.PathLike[str]) -> str | None:
    """The name of the file that a source is; None if it is a text."""
    return None if is_text(source) else str(source)


def parsed(text: str, noun: str, error: type[CoherentlyError], file: str | None = None) -> Any:
    """The value of a JSON text, which may be that of a file; NaN and infinity are refused.

    >>> from coherently.errors import ResultError
    >>> parsed('{"status": }', "result", ResultError, "result.json")
    Traceback (most recent call last):
    ...
    coherently.errors.ResultError: result.json, line 1, column 12: the result is not JSON: expecting value; write it \
again, or correct that place
    """

    def refuse(word: str) -> NoReturn:
        remedy = "write null for what is unknown"
        message = (
            f"{f'{file}: ' if file else ''}the {noun} contains {word}; NaN and infinity are not valid JSON: {remedy}"
        )
        raise error(message, code="bad-json", where=Where(file), remedy=remedy)

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno}"
        what = problem.msg[:1].lower() + problem.msg[1:]
        raise _broken(noun, error, file, what, place=place, line=problem.lineno) from None
    except RecursionError:
        raise _broken(noun, error, file, "lists and objects are too deep in each other") from None


def _broken(
    noun: str,
    error: type[CoherentlyError],
    file: str | None,
    what: str,
    *,
    place: str = "",
    line: int | None = None,
) -> CoherentlyError:
    remedy = "write it again, or correct that place" if place else "write it again"
    begin = ", ".join(filter(None, [file, place]))
    message = f"{begin}{': ' if begin else ''}the {noun} is not JSON: {what}; {remedy}"
    return error(message, code="bad-json", where=Where(file, line), remedy=remedy)


def shown(value: object) -> str:
    """A value in a message, cut if it is long."""
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
