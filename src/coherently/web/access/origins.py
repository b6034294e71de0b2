"""From where, and under which name, a request comes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from coherently.web.refusals import RefusedError
from coherently.web.settings import LOOPBACK

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.requests import Request

    from coherently.web.settings import ServiceSettings

PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "via", "remote-user")
"""Headers by which a request shows that it came through a proxy."""


def host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None if there is none or it is not one.

    >>> host_name("LocalHost:8420"), host_name("[::1]:80"), host_name("a@b"), host_name("evil.com/x")
    ('localhost', '::1', None, None)
    """
    if not host or any(character in host for character in "@/\\?#, \t"):
        return None
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname


def check_host(headers: Headers, settings: ServiceSettings) -> None:
    """Refuse a request that was sent to a name that is not this workbench's: a page elsewhere may have led it here."""
    given = headers.getlist("host")
    name = host_name(given[0]) if len(given) == 1 else None
    if name is not None and name in {*LOOPBACK, settings.host.lower(), *map(str.lower, settings.allow_hosts)}:
        return
    shown = name or "(none)"
    raise RefusedError(
        400,
        "unknown-host",
        f"This workbench does not know the host name {shown[:100]!r}.",
        where="header.host",
        allowed="127.0.0.1, localhost, and names given with --allow-host",
        remedy=f"If it is reached under this name, start it with: coherently serve --allow-host {shown[:100]}",
    )


def client_address(peer: str, headers: Headers, settings: ServiceSettings) -> str:
    """The address of who is asking; a proxy says for whom it asks, and only one that is trusted is believed.

    Each trusted proxy adds the address that it saw at the end, so the last one that is not a proxy is the client.
    """
    if peer not in settings.proxies:
        return peer
    seen = [part.strip() for part in ",".join(headers.getlist("x-forwarded-for")).split(",") if part.strip()]
    return next((address for address in reversed(seen) if address not in settings.proxies), peer)[:100]


def is_encrypted(peer: str, scheme: str, headers: Headers, settings: ServiceSettings) -> bool:
    """Whether the browser speaks HTTPS, with the workbench or with its proxy."""
    forwarded = peer in settings.proxies and headers.get("x-forwarded-proto", "").strip().lower() == "https"
    return scheme == "https" or forwarded


def check_origin(headers: Headers) -> None:
    """Refuse a change that a page of another site asks for."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None:
        try:
            own = urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
        except ValueError:
            own = False
    else:
        own = site in (None, "same-origin", "none")
    if not own:
        raise RefusedError(
            403,
            "other-site",
            "A page of another site asked for this change, so it was not made.",
            where="header.origin",
            allowed="requests from the workbench's own pages",
            remedy="Programs use an API token in the header Authorization: Bearer TOKEN, and no cookie.",
        )


def link_origin(request: Request, settings: ServiceSettings) -> str:
    """What links to the workbench begin with: the address it was told, or the one that was just used."""
    return settings.address or str(request.base_url).rstrip("/")


def is_only_here(origin: str) -> bool:
    """Whether links that begin so open on this computer only.

    >>> is_only_here("http://127.0.0.1:8420"), is_only_here("https://panel.example.org")
    (True, False)
    """
    name = urlsplit(origin).hostname or ""
    return name in LOOPBACK or name.startswith("127.")
