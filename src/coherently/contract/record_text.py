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
    if isinstance(source, str) and (source.lstrip()[:1] in ("", *"{[") or len(source) > LONGEST_PATH):
        return source
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


def parsed(text: str, noun: str, error: type[CoherentlyError]) -> Any:
    """The value of a JSON text; NaN and infinity are refused."""

    def refuse(word: str) -> NoReturn:
        raise error(f"the {noun} contains {word}; NaN and infinity are not valid JSON: write null for what is unknown")

    try:
        return json.loads(text, parse_constant=refuse)
    except (json.JSONDecodeError, RecursionError) as problem:
        raise error(f"the {noun} is not JSON: {problem}", code="bad-json") from None


def shown(value: object) -> str:
    """A value in a message, cut if it is long."""
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
