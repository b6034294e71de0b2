"""A ledger in plain values, for logs and snapshots, and the file of a snapshot."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherently.errors import MethodError, PanelError
from coherently.live.assembly import Dress
from coherently.live.kept.whole_file import write_whole
from coherently.live.ledger import (
    NOTHING,
    Contents,
    Ledger,
    StandingForecast,
    StandingLaw,
    StandingOutcome,
    law_variables,
)
from coherently.live.vocabulary import Meaning
from coherently.problem import LOSSES, Log, find_loss
from coherently.solve import METHODS, choose

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from coherently.live.ledger import Standing
    from coherently.problem import Loss
    from coherently.solve import Method

FORMAT, VERSION = "coherently-live-panel", 1
_ANY = ((), b"", False)
_UNREAD = Meaning((_ANY, _ANY), (_ANY, _ANY), NOTHING, None, conditional=False)
"""The meaning of a forecast that does not stand any more: nobody asks for it."""


def store_rules(method: Method, loss: Loss) -> dict[str, Any]:
    """A method and a loss in plain values."""
    if loss.name not in LOSSES:
        raise MethodError(f"the loss {loss.name} is your own: it cannot be kept in a file; leave out the log")
    return {
        "method": {"name": method.name, **asdict(method)},  # type: ignore[call-overload]
        "loss": loss.name,
        "clip": loss.clip if isinstance(loss, Log) else None,
    }


def load_rules(values: dict[str, Any]) -> tuple[Method, Loss]:
    """The method and the loss."""
    options = dict(values["method"])
    name = options.pop("name")
    if name not in METHODS:
        raise PanelError(f"the file asks for the unknown method {name!r}")
    loss = find_loss(values["loss"]) if values["clip"] is None else Log(values["clip"])
    return choose(name, **options), loss


def store_ledger(
    items: Iterable[Standing], past: Iterable[tuple[Standing, float]], places: int, dress: Dress
) -> dict[str, Any]:
    """Everything that a ledger holds."""
    return {
        **_store(Contents.of(items)),
        "past": [[*_kind(item), _finite(until)] for item, until in past],
        "places": places,
        "labels": dict(dress.labels),
        "library": dress.library,
    }


def load_ledger(values: dict[str, Any]) -> tuple[Ledger, Dress]:
    """The ledger, whose texts are read again."""
    ledger = Ledger()
    for place, time, text in values["laws"]:
        ledger.put(StandingLaw(place, _time(time), text, law_variables(text, ledger.words)))
    for row in values["forecasts"]:
        ledger.put(_forecast(row, ledger.words.read(row[3])))
    for place, time, event, outcome, variables in values["outcomes"]:
        ledger.put(StandingOutcome(place, _time(time), event, outcome, variables=tuple(variables)))
    past = ((_past(kind, item), _time(until)) for kind, item, until in values["past"])
    ledger.remember(past, values["places"])
    return ledger, Dress(values["labels"], values["library"])


def _store(contents: Contents) -> dict[str, Any]:
    rows: dict[str, list[Any]] = {"forecasts": [], "laws": [], "outcomes": []}
    for item in contents:
        kind, row = _kind(item)
        rows[kind].append(row)
    return rows


def _kind(item: Standing) -> tuple[str, list[Any]]:
    head = [item.place, _finite(item.time)]
    if isinstance(item, StandingForecast):
        numbers = (item.probability, item.weight, item.lower, item.upper)
        return "forecasts", [*head, item.judge, item.event, *numbers]
    if isinstance(item, StandingLaw):
        return "laws", [*head, item.text]
    return "outcomes", [*head, item.event, item.outcome, list(item.variables)]


def _past(kind: str, row: list[Any]) -> Standing:
    if kind == "forecasts":
        return _forecast(row, _UNREAD)
    place, time, text, *rest = row
    if kind == "laws":
        return StandingLaw(place, _time(time), text, NOTHING)
    outcome, variables = rest
    return StandingOutcome(place, _time(time), text, outcome, variables=tuple(variables))


def _forecast(row: list[Any], meaning: Meaning) -> StandingForecast:
    place, time, judge, event, probability, weight, lower, upper = row
    return StandingForecast(
        place,
        _time(time),
        judge,
        event,
        probability=probability,
        weight=weight,
        lower=lower,
        upper=upper,
        meaning=meaning,
    )


def _finite(time: float) -> float | None:
    return time if math.isfinite(time) else None


def _time(value: float | None) -> float:
    return -math.inf if value is None else value


def write_snapshot(path: str | os.PathLike[str], values: dict[str, Any]) -> None:
    """Write a snapshot: a line with its version and checksum, then its compressed values."""
    body = zlib.compress(json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())
    head = {"format": FORMAT, "version": VERSION, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    write_whole(Path(path), json.dumps(head, separators=(",", ":")).encode() + b"\n" + body, "the snapshot")


def read_snapshot(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a snapshot; one that is damaged, or of a newer version, is refused."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PanelError(f"the snapshot {path} cannot be read: {error.strerror}") from None
    line, _, body = data.partition(b"\n")
    try:
        head = json.loads(line)
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise PanelError(f"{path} is not a snapshot of a live panel, or its first line is damaged")
    if head.get("version") != VERSION:
        raise PanelError(
            f"{path} is a snapshot of version {head.get('version')}; this version of Coherently reads version "
            f"{VERSION}: use the version that wrote it, or a newer one"
        )
    whole = {"format": FORMAT, "version": VERSION, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    if head != whole:
        raise PanelError(
            f"the snapshot {path} is damaged: it has {len(body):,} bytes that do not fit its checksum. "
            f"Restore another one, or open the log"
        )
    values: dict[str, Any] = json.loads(zlib.decompress(body))
    return values
