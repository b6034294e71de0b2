"""The files that pages load, each with an explicit type and a tag by which browsers keep it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from coherently.web.catalogue import script_module

if TYPE_CHECKING:
    from starlette.requests import Request

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The types of files that are served; no other file is."""
TEXTS = "texts.js"
"""The file that is made of the catalogue, for scripts."""


@cache
def contents() -> dict[str, tuple[bytes, str]]:
    """Every file by its name, with its tag."""
    folder = files("coherently.web.pages") / "static"
    found = {each.name: each.read_bytes() for each in folder.iterdir() if PurePosixPath(each.name).suffix in TYPES}
    found[TEXTS] = script_module().encode()
    return {name: (body, hashlib.sha256(body).hexdigest()[:16]) for name, body in found.items()}


def address(name: str) -> str:
    """Where a page finds a file; the address changes with the file, so that no browser shows an old one."""
    return f"/static/{name}?v={contents()[name][1]}"


async def serve_asset(request: Request) -> Response:
    """Answer with a file, or with 304 if the browser has it."""
    known = contents().get(request.path_params["name"])
    if known is None:
        return PlainTextResponse("There is no such file.", 404, headers={"X-Content-Type-Options": "nosniff"})
    body, tag = known
    headers = {
        "ETag": f'"{tag}"',
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if f'"{tag}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    kind = TYPES[PurePosixPath(request.path_params["name"]).suffix]
    return Response(body, media_type=kind, headers=headers)
