"""How the workbench is run: addresses, trust and limits."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from coherently.errors import CoherentlyError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Addresses that only this machine reaches."""
PORT = 8420
"""The port that is used unless another is given."""


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What one caller, or all of them together, may use."""

    body: int = 1_000_000
    """Bytes of the body of a request."""
    upload: int = 20_000_000
    """Bytes of an imported file, and of a request that carries a whole panel."""
    body_seconds: float = 20.0
    """Seconds in which the body of a request must arrive."""
    head_seconds: float = 10.0
    """Seconds in which the headers of a request must arrive."""
    rate: float = 50.0
    """Requests per second of one caller, in the long run."""
    burst: int = 300
    """Requests that one caller may send at once."""
    failures: int = 30
    """Failed logins, links and tokens per minute and address."""
    connections: int = 2_000
    """Connections that are open at the same time."""
    streams: int = 20
    """Live streams that one caller may have open."""
    panels: int = 1_000
    """Panels of one account."""
    questions: int = 500
    """Questions of one panel."""
    events: int = 1_000
    """Events of one panel: pages take as long as there are events, and with so many at most half a second."""
    laws: int = 2_000
    """Laws of one panel."""
    judges: int = 1_000
    """Judges of one panel."""
    tokens: int = 50
    """API tokens of one account."""
    queue: int = 20
    """Aggregations that wait or run, of all panels together."""
    queue_of_panel: int = 3
    """Aggregations that wait or run, of one panel."""
    job_seconds: float = 600.0
    """Seconds that one aggregation may take."""
    job_memory: int = 4_000_000_000
    """Bytes of memory that one aggregation may take."""
    call_seconds: float = 10.0
    """Seconds that a request of the stateless calls may take."""
    feedback_seconds: float = 0.25
    """Seconds of the processor that a look at one judge's answers may take; more when it is asked for again."""
    page_seconds: float = 0.5
    """Seconds that a page waits for what is being worked out; then it says that this is not finished."""
    calls: int = 4
    """Stateless calls that wait or run at the same time."""


SECURE, STARTTLS, OPEN = "smtps", "smtp", "none"
"""How a mail server is spoken to: encrypted from the first byte, encrypted after a greeting, or not at all."""
PORTS = {SECURE: 465, STARTTLS: 587, OPEN: 25}


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The server that mail is handed to, and from whom it comes. Only one on this machine is spoken to openly."""

    host: str
    port: int
    sender: str
    security: str = STARTTLS
    user: str = ""
    password: str = field(default="", repr=False)


def read_mail(url: str, sender: str, password: str = "") -> MailSettings:
    """Mail settings from an address such as smtps://panel@mail.example.org.

    >>> read_mail("smtp://ann@mail.example.org", "Panel <ann@example.org>", "secret")
    MailSettings(host='mail.example.org', port=587, sender='Panel <ann@example.org>', security='smtp', user='ann')
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in (SECURE, STARTTLS) or not parts.hostname or parts.password or parts.path.strip("/"):
        raise SettingsError(
            "the mail server cannot be read: write smtps://USER@HOST (encrypted), or smtp://USER@HOST:PORT, and the "
            "password in COHERENTLY_MAIL_PASSWORD"
        )
    if "@" not in sender or any(ord(character) < 32 for character in sender):
        raise SettingsError("mail needs a sender: add --mail-from 'Panel <panel@example.org>'")
    is_here = parts.scheme == STARTTLS and parts.hostname in LOOPBACK
    security = OPEN if is_here else parts.scheme
    return MailSettings(
        parts.hostname,
        port or PORTS[security],
        sender,
        security=security,
        user=unquote(parts.username or ""),
        password=password,
    )


def read_address(text: str) -> str:
    """The address under which others reach the workbench, for links.

    >>> read_address("https://panel.example.org/")
    'https://panel.example.org'
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise SettingsError("--address takes the address of the workbench, such as https://panel.example.org")
    return text.rstrip("/")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How `coherently serve` was told to run.

    `allow_hosts` are names, besides those of this machine, under which browsers may ask for pages. `proxies` are
    addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, and, with
    `trust_remote_user`, whose Remote-User header says who is asking. `address` is what links in mails begin with; by
    default it is the one under which the facilitator reaches the workbench. Without `mail`, none is sent. The
    `desk_processes` work out what answers mean; with none of them that is done where it is asked for.
    """

    store_url: str
    host: str = "127.0.0.1"
    port: int = PORT
    workers: int = 1
    desk_processes: int = field(default_factory=lambda: min(4, max(2, os.cpu_count() or 1)))
    allow_hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    trust_remote_user: bool = False
    demo: bool = False
    log_requests: bool = True
    address: str = ""
    mail: MailSettings | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the workbench, under its own names and without a proxy."""
        return self.host in LOOPBACK and not self.allow_hosts and not self.proxies and not self.trust_remote_user

    def check(self, accounts: int) -> None:
        """Refuse to serve other machines while nobody could be told from anybody."""
        if self.trust_remote_user and not self.proxies:
            raise SettingsError("--trust-remote-user needs the address of the proxy: add --proxy 127.0.0.1")
        if self.is_local or self.trust_remote_user or accounts:
            return
        way = " through a proxy" if self.host in LOOPBACK else ""
        raise SettingsError(
            f"others can reach the address {self.host}{way}, and there is no account yet: add one with "
            f"--add-account NAME, or let a proxy say who is asking with --trust-remote-user"
        )


class SettingsError(CoherentlyError):
    """The workbench cannot be run as it was asked to."""

    code = "bad-settings"
