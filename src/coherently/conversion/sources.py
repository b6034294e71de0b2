"""Files, folders and archives into decoded texts, and the format that a text seems to have."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherently.errors import PanelError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

LOOKS = {
    "metaculus": "the CSV of a Metaculus data download",
    "forecastbench": "a JSON file of ForecastBench",
    "consistency": "JSON lines of consistency checks",
    "hubverse": "model output or target data of a hub (hubverse)",
    "panel": "a panel for Coherently, which needs no conversion",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text; `name` is for messages, `file` is the name of the file and `folder` that of its folder."""

    name: str
    file: str
    folder: str
    text: str

    def check(self, wanted: str) -> None:
        """Refuse a text that is not a JSON object, or has another format."""
        if not self.text.lstrip().startswith("{") or looks_like(self.text) not in {wanted, None}:
            raise self.refuse(wanted)

    def refuse(self, wanted: str) -> PanelError:
        """Give the error for a file that does not have the format asked for."""
        seen = looks_like(self.text)
        if seen == "panel":
            return PanelError(f"{self.name} looks like {LOOKS[seen]}: coherently check {self.file}")
        if seen is not None and seen != wanted:
            return PanelError(f"{self.name} looks like {LOOKS[seen]}, not {LOOKS[wanted]}: use --from {seen}")
        return PanelError(f"{self.name} is not {LOOKS[wanted]}; docs/reference/import-formats.md describes the format")


def open_sources(paths: Sequence[str | os.PathLike[str]], wanted: Callable[[str], bool], asked: str) -> list[Source]:
    """Read files, and from folders and .zip archives the files whose names are `wanted`; `asked` describes these."""
    if not paths:
        raise PanelError("no source was given: name a file or a folder")
    sources: list[Source] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found = [_open(item) for item in sorted(path.iterdir()) if item.is_file() and wanted(item.name)]
        elif path.suffix.lower() == ".zip":
            found = list(_unpack(path, wanted))
        else:
            sources.append(_open(path))
            continue
        if not found:
            raise PanelError(f"{path} contains none of the expected files: {asked}")
        sources += found
    for source in sources:
        if not source.text.strip():
            raise PanelError(f"{source.name} is empty")
    return sources


def _open(path: Path) -> Source:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise PanelError(f"{path} does not exist: check the name and the folder") from error
    except OSError as error:
        raise PanelError(f"{path} cannot be read: {error.strerror or error}") from error
    return Source(str(path), path.name, path.resolve().parent.name, _decode(data, str(path)))


def _unpack(path: Path, wanted: Callable[[str], bool]) -> Iterator[Source]:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                inner = name.rsplit("/", 1)[-1]
                if wanted(inner):
                    yield Source(f"{path}/{name}", inner, path.stem, _decode(archive.read(name), f"{path}/{name}"))
    except FileNotFoundError as error:
        raise PanelError(f"{path} does not exist: check the name and the folder") from error
    except (zipfile.BadZipFile, OSError) as error:
        raise PanelError(f"{path} is not a complete .zip archive ({error}): download it again") from error


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PanelError(
            f"{name} line {line} is not UTF-8 text (byte 0x{data[error.start]:02x}): save it as UTF-8"
        ) from error


def parse_json(text: str, name: str, line: int = 1) -> Any:
    """Read JSON that starts in a line of a file; an error says where it is malformed."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{name} line {line + error.lineno - 1} column {error.colno}"
        raise PanelError(f"{where}: malformed JSON: {error.msg}") from error
    except RecursionError as error:
        raise PanelError(f"{name} line {line}: the JSON is nested too deeply to be read") from error


def looks_like(text: str) -> str | None:
    r"""Recognise the format of a text by its header or its first object; None if it is unknown.

    >>> looks_like("Question ID,Question Title\n"), looks_like('{"forecasts": []}'), looks_like('{"P": 1}\n{"P": 2}')
    ('metaculus', 'forecastbench', 'consistency')
    >>> looks_like("judge,event,probability"), looks_like("a,b")
    ('panel', None)
    """
    head = text.lstrip()
    if head.startswith("{"):
        return _looks_like_json(head)
    header = {name.strip().strip('"').lower() for name in head.partition("\n")[0].split(",")}
    if header & {"question id", "forecaster id", "forecaster username"}:
        return "metaculus"
    if header & {"output_type_id", "oracle_value"}:
        return "hubverse"
    return "panel" if {"event", "probability"} <= header else None


def _looks_like_json(head: str) -> str | None:
    try:
        first, _ = json.JSONDecoder().raw_decode(head)
    except (json.JSONDecodeError, RecursionError):
        return None
    keys = set(first)
    if "rounds" in keys:
        return "hubverse"
    if keys & {"questions", "forecasts", "resolutions"}:
        return "forecastbench"
    if keys & {"line", "P"} or {"question", "forecast"} <= keys:
        return "consistency"
    return "panel" if {"event", "probability"} <= keys else None
