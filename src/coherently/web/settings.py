"""How the workbench is run: addresses, trust and limits."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    events: int = 2_000
    """Events of one panel."""
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
    calls: int = 4
    """Stateless calls that wait or run at the same time."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How `coherently serve` was told to run.

    `allow_hosts` are names, besides those of this machine, under which browsers may ask for pages. `proxies` are
    addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, and, with
    `trust_remote_user`, whose Remote-User header says who is asking.
    """

    store_url: str
    host: str = "127.0.0.1"
    port: int = PORT
    workers: int = 1
    allow_hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    trust_remote_user: bool = False
    demo: bool = False
    log_requests: bool = True
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
