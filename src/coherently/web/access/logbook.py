"""What is written down about requests: one line of JSON each, and counters for Prometheus."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from coherently.web.shapes.shape import now_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Scope

LOG = logging.getLogger("coherently.web")
SECRET_PATHS = re.compile(r"^(/j/)[^/]+")
"""Paths with a secret in them, which no log may show."""
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Limits of the histogram of answer times, in seconds."""


class AnswerSent(Protocol):
    """What a log needs of an answer."""

    status: int | None


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; what was given as `extra={"values": ...}` is part of the object."""
        values: dict[str, Any] = {"time": now_text(), "level": record.levelname.lower(), "event": record.getMessage()}
        values |= getattr(record, "values", {})
        if record.exc_info:
            values["fault"] = self.formatException(record.exc_info)
        return json.dumps(values, ensure_ascii=False, default=str)


def write_logs() -> None:
    """Write the log to the standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("coherently.web", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "coherently.web" else logging.WARNING)


class Logbook:
    """Counts and describes requests."""

    def __init__(self, *, log_requests: bool = True) -> None:
        self.log_requests = log_requests
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("coherently_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "coherently_request_seconds", "Time to answer.", ("route",), buckets=BUCKETS, registry=self.registry
        )
        self.faults = Counter("coherently_faults", "Faults of the workbench itself.", registry=self.registry)
        self.streams = Gauge("coherently_streams", "Live streams that are open.", registry=self.registry)
        self.jobs = Gauge("coherently_jobs", "Aggregations by status.", ("status",), registry=self.registry)

    @contextmanager
    def entry(self, scope: Scope, answer: AnswerSent) -> Iterator[None]:
        """Note a request when its answer is complete."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - begun
            route = _route(scope)
            self.requests.labels(_method(scope), route, str(answer.status or 499)).inc()
            self.seconds.labels(route).observe(seconds)
            if self.log_requests:
                LOG.info("request", extra={"values": self._values(scope, answer, seconds)})

    def fault(self, scope: Scope) -> None:
        """Note an exception that nobody expected."""
        self.faults.inc()
        LOG.exception("fault", extra={"values": {"request": scope["state"]["request_id"], "path": shown_path(scope)}})

    @staticmethod
    def _values(scope: Scope, answer: AnswerSent, seconds: float) -> dict[str, Any]:
        state = scope["state"]
        return {
            "request": state["request_id"],
            "address": state["address"],
            "method": scope["method"],
            "path": shown_path(scope),
            "status": answer.status or 499,
            "ms": round(1000 * seconds, 1),
            "caller": state.get("caller"),
        }


def shown_path(scope: Scope) -> str:
    """The path of a request without secrets."""
    return SECRET_PATHS.sub(r"\1...", scope["path"])[:300]


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else "other"


def _route(scope: Scope) -> str:
    """The route that answered, in a form that does not grow with what people ask for."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return "none"
    return f"/api/v1{path}" if scope.get("root_path", "").endswith("/api/v1") else str(path)
