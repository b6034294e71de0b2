"""Types of columns that hold the same on every database."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, Text, TypeDecorator

from coherently.web.store.store_errors import TextError

NO_ID = "-"
"""What a text that cannot be an id is looked up as: no row has it."""
ID_SHAPE = re.compile(r"[A-Za-z0-9_]{1,64}")
UNKEPT = re.compile("[\0\ud800-\udfff]")
"""Characters that databases refuse, or do not give back: NUL and half of a surrogate pair."""

COUNTER = BigInteger().with_variant(Integer, "sqlite")
"""Numbers that the database gives out; SQLite counts only columns of type INTEGER."""


class Words(TypeDecorator[str]):
    """Text that people wrote."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Refuse characters that cannot be kept."""
        if value is not None and (bad := UNKEPT.search(value)):
            raise TextError(
                f"the text has the character U+{ord(bad.group()):04X} at place {bad.start() + 1}, which cannot be "
                "kept: remove it"
            )
        return value


class Identifier(TypeDecorator[str]):
    """An id; a text that cannot be one is never found."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Replace what cannot be an id."""
        return value if value is None or ID_SHAPE.fullmatch(value) else NO_ID


class Json(TypeDecorator[Any]):
    """Plain values, as JSON; numbers must be finite."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        """Write as ASCII, so that any text in it is kept."""
        return json.dumps(value, allow_nan=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Read back."""
        return None if value is None else json.loads(value)


class PackedJson(TypeDecorator[Any]):
    """Large plain values, compressed; None is no value."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Write as compressed JSON."""
        return None if value is None else zlib.compress(json.dumps(value, allow_nan=False).encode("ascii"), 6)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Read back."""
        return None if value is None else json.loads(zlib.decompress(value))
