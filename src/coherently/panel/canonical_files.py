"""Panels in files of the canonical form, which have their laws and options in them."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from coherently.errors import PanelError, Where
from coherently.panel.canonical import FORMAT, VERSION

if TYPE_CHECKING:
    from pathlib import Path

BEGINS = f'{{"format":"{FORMAT}"'.encode()
FORECAST = ("judge", "event", "probability", "weight", "lower", "upper")


class CanonicalFile(NamedTuple):
    """What a file in the canonical form says."""

    laws: list[str]
    plain_events: bool
    forecasts: list[dict[str, Any]]


def read_canonical(path: Path) -> CanonicalFile | None:
    """Read a file in the canonical form; None for any other file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        begins = file.read(len(BEGINS))
    packed = begins[:2] == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            if file.read(len(BEGINS)) != BEGINS:
                return None
            file.seek(0)
            lines = file.read().decode("utf-8", "surrogatepass").splitlines()
    except (OSError, EOFError, zlib.error) as error:
        if packed:
            return None  # whoever reads tables says what is wrong
        raise PanelError(f"{path.name} cannot be read: {error}", where=Where(path.name)) from None
    said = [_record(path, number, line) for number, line in enumerate(lines, 1)]
    if said[0].get("version") != VERSION:
        raise PanelError(f"{path.name} is of version {said[0].get('version')}; this release reads {VERSION}")
    laws = [one["law"] for one in said[1:] if "law" in one]
    rows = [one for one in said[1:] if "law" not in one]
    columns = [name for name in FORECAST if any(name in one for one in rows)]
    forecasts = [{name: one.get(name) for name in columns} for one in rows]
    return CanonicalFile(laws, said[0].get("plain_events") is True, forecasts)


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        place = Where(path.name, row=number)
        raise PanelError(f"{path.name} row {number} is no line of the canonical form of a panel", where=place)
    return found
