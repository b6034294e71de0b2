"""The file of an archive: a zip with a list of what is in it and the checksum of each part."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from coherently.web.store.store_errors import ArchiveError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT, VERSION = "coherently panel", 1
MANIFEST = "manifest.json"
PARTS = re.compile(r"panel\.json|forecasts\.csv|laws\.txt|(inputs|results)/[0-9]{1,9}\.json")
"""Names that an archive may have in it."""
MOST_PARTS = 10_000
"""Maximum number of files in an archive."""
MOST_BYTES = 256 * 2**20
"""Maximum size of an archive when it is unpacked."""
STAMP = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive: equal panels have equal archives."""
MEND = "export the panel again, or take another copy of the file"


def pack(parts: Mapping[str, bytes]) -> bytes:
    """Put files into an archive; equal files make an equal archive."""
    checksums = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
    manifest = {"format": FORMAT, "version": VERSION, "files": checksums}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {MANIFEST: json_bytes(manifest), **parts}.items():
            archive.writestr(zipfile.ZipInfo(name, STAMP), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive, each with the checksum that the archive says."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(archive)
            parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise ArchiveError(f"the file is not an archive of a panel, or it is damaged ({error}): {MEND}") from None
    manifest = read_json(parts.pop(MANIFEST, b""), MANIFEST)
    _check_manifest(manifest)
    if manifest["files"] != {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()}:
        raise ArchiveError(f"the archive is not whole, or was changed: {MEND}")
    return parts


def _check_sizes(archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_PARTS or size > MOST_BYTES:
        raise ArchiveError(
            f"the archive would unpack to {len(entries):,} files of {size / 2**20:,.0f} MB; "
            f"{MOST_PARTS:,} files of {MOST_BYTES // 2**20} MB are allowed"
        )
    names = [entry.filename for entry in entries]
    for name in names:
        if name != MANIFEST and not PARTS.fullmatch(name):
            raise ArchiveError(f"the archive has a file {name[:80]!r}, which does not belong to a panel")
    if len(set(names)) < len(names):
        raise ArchiveError("the archive has a file twice")


def _check_manifest(manifest: Any) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or "files" not in manifest:
        raise ArchiveError(f"the file is not an archive of a panel: {MEND}")
    if manifest.get("version") != VERSION:
        raise ArchiveError(
            f"the archive has version {manifest.get('version')!r}; this version of Coherently reads version {VERSION}: "
            "use the version that wrote it, or a newer one"
        )


def json_bytes(value: Any) -> bytes:
    """Plain values as JSON, one line per field."""
    return json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False).encode("ascii")


def read_json(data: bytes, name: str) -> Any:
    """Plain values of a part."""
    try:
        return json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ArchiveError(f"{name} of the archive cannot be read: {MEND}") from None


def _refuse(word: str) -> None:
    raise ValueError(word)
