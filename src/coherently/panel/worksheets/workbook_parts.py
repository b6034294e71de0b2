"""The parts of a workbook, which is a zip archive of XML files, within limits."""

from __future__ import annotations

import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING
from xml.parsers import expat

from coherently.errors import PanelError, Where
from coherently.panel.worksheets.sheet_grid import too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

UNPACKED = 400_000_000
"""Maximum number of bytes that the parts of a workbook may have when they are unpacked."""
BLOCK = 1 << 18
ZIP = b"PK\x03\x04"
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How compound documents begin: workbooks with a password, and those of Excel before 2007."""
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
SAVE = "Open it and save the sheet as .xlsx, .ods or 'CSV UTF-8'."
KINDS = {
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "xl/workbook.bin": "a binary workbook (.xlsb)",
    "Index/Document.iwa": "a document of Apple Numbers",
}
"""Parts that tell what another archive is."""


class WorkbookParts:
    """Reads the XML parts of an archive; what is unpacked in all is limited."""

    def __init__(self, archive: zipfile.ZipFile, source: str) -> None:
        self._archive, self.source = archive, source
        self.names = frozenset(archive.namelist())
        self._left = UNPACKED

    def parse(
        self, name: str, start: Callable[[str, Mapping[str, str]], None], **handlers: Callable[..., None]
    ) -> None:
        """Read a part: `start`, `end` and `text` hear of its elements, whose names are without their prefixes."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, attributes: start(tag.rpartition(":")[2], attributes)
        if "end" in handlers:
            end = handlers["end"]
            parser.EndElementHandler = lambda tag: end(tag.rpartition(":")[2])
        if "text" in handlers:
            parser.CharacterDataHandler = handlers["text"]
        # No spreadsheet program declares entities; whoever does wants them to be expanded without end.
        parser.EntityDeclHandler = lambda *_: self._refuse(f"declares entities in {name}")
        with self._archive.open(name) as file:
            while block := self._read(file):
                parser.Parse(block)
            parser.Parse(b"", True)

    def _read(self, file: IO[bytes]) -> bytes:
        block = file.read(BLOCK)
        self._left -= len(block)
        if self._left < 0:
            raise too_large(self.source, f"has over {UNPACKED:,} bytes when it is unpacked")
        return block

    def _refuse(self, found: str) -> None:
        raise not_a_workbook(self.source, f"{found}, which no spreadsheet program does")


def not_a_workbook(source: str, found: str, code: str = "not-readable") -> PanelError:
    """A file that cannot be read as a workbook, and what to do."""
    return PanelError(f"{source} {found}. {SAVE}", code=code, where=Where(source), remedy=SAVE)


@contextmanager
def opened_parts(file: IO[bytes], source: str) -> Iterator[WorkbookParts]:
    """Open an archive; whatever is broken in it is said in one way."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield WorkbookParts(archive, source)
    except (zipfile.BadZipFile, EOFError, KeyError, NotImplementedError, OSError) as error:
        raise not_a_workbook(source, f"is not a complete workbook ({_first_line(error)})") from error
    except (expat.ExpatError, zlib.error) as error:
        raise not_a_workbook(source, f"is a broken workbook ({_first_line(error)})") from error
    except RuntimeError as error:
        if "encrypted" in str(error):  # what zipfile says of a part with a password
            raise locked(source) from error
        raise


def refuse_compound(source: str, data: bytes) -> PanelError:
    """What a compound document is, and what to do: a workbook with a password, or an old one."""
    if ENCRYPTED in data:
        return locked(source)
    return not_a_workbook(source, "is a workbook of Excel before 2007 (.xls), or another compound document")


def refuse_archive(parts: WorkbookParts) -> PanelError:
    """What an archive is that is no workbook."""
    known = next(
        (kind for part, kind in KINDS.items() if part in parts.names), "a zip archive without a workbook in it"
    )
    return not_a_workbook(parts.source, f"is {known}")


def locked(source: str) -> PanelError:
    """A workbook has a password."""
    remedy = "Open it with its password, and save a copy without one (File, Info, Protect Workbook)."
    message = f"{source} is protected by a password, so it cannot be read. {remedy}"
    return PanelError(message, code="password", where=Where(source), remedy=remedy)


def _first_line(error: Exception) -> str:
    return str(error).strip("'\"").splitlines()[0] if str(error) else type(error).__name__
