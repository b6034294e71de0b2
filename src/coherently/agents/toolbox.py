"""The tools with what they share: laws that hold in every call, a limit of time, and the records of recent answers."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coherently.agents.tool_calls import CallGrounds
from coherently.agents.tool_fields import SECONDS
from coherently.agents.tool_list import TOOLS
from coherently.errors import CoherentlyError, unknown_word
from coherently.note_log import notes_unlogged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from threading import Event

    from coherently.agents.tool_calls import ToolAnswer
    from coherently.contract import Described

RECORDS = "coherently://records/"
"""Where the addresses of records begin."""
KEPT = 64
"""Maximum number of answers whose records are kept; the oldest go first."""


class Toolbox:
    """Tools for an agent: `call` takes the name of a tool and plain arguments, and gives a plain answer.

    The same arguments give the same answer, at the same address, unless the time limit ends the work. `laws` hold in
    every call, and `most_seconds` limits the time of each. Nothing is read from a file or written to one.

    >>> tools = Toolbox()
    >>> forecasts = [{"event": "rain", "probability": 0.6}, {"event": "~rain", "probability": 0.6}]
    >>> answer = tools.call("repair", {"forecasts": forecasts})
    >>> answer["sentences"][0], [row["repaired"] for row in answer["forecasts"]]
    ('2 of 2 events moved; the numbers are coherent.', [0.5, 0.5])
    >>> tools.call("verify", {"forecasts": forecasts, "result": answer["record"]})["verified"]
    True
    """

    def __init__(self, laws: Sequence[str] = (), most_seconds: float = SECONDS) -> None:
        self._grounds = CallGrounds(tuple(laws), min(float(most_seconds), SECONDS))
        self._records: OrderedDict[str, Described] = OrderedDict()
        self._lock = threading.Lock()

    def call(self, name: str, arguments: Mapping[str, Any], stop: Event | None = None) -> dict[str, Any]:
        """The answer of a tool; `stop` ends the work, when another thread sets it, with the answer so far."""
        if name not in TOOLS:
            raise unknown_word("tool", name, TOOLS)
        tool = TOOLS[name]
        tool.check(arguments)
        with self._lock:
            earlier = dict(self._records)
        with _in_arguments(), notes_unlogged():
            answer = tool.call(arguments, replace(self._grounds, stop=stop, earlier=earlier))
        return {**answer.values, "record": self._keep(name, arguments, answer)}

    def _keep(self, name: str, arguments: Mapping[str, Any], answer: ToolAnswer) -> str:
        asked = json.dumps([name, self._grounds.laws, arguments], sort_keys=True, ensure_ascii=False)
        address = f"{RECORDS}{hashlib.sha256(asked.encode()).hexdigest()[:24]}"
        with self._lock:
            self._records[address] = answer.value
            self._records.move_to_end(address)
            while len(self._records) > KEPT:
                self._records.popitem(last=False)
        return address

    def addresses(self) -> dict[str, str]:
        """The addresses of the records that are kept, with the kind of each, the latest first."""
        with self._lock:
            return {address: value.record.name for address, value in reversed(self._records.items())}

    def record(self, address: str) -> str:
        """The record at an address, as JSON."""
        with self._lock:
            found = self._records.get(address)
        if found is None:
            raise CoherentlyError(
                f"no record is kept at {address!r}: call the tool again, and read the address that it gives",
                code="unknown-record",
                remedy="call the tool again, and read the address that it gives",
            )
        with notes_unlogged():
            return found.to_json()


@contextmanager
def _in_arguments() -> Iterator[None]:
    """Name the fields of the arguments in errors about what they hold."""
    try:
        yield
    except CoherentlyError as error:
        raise error.moved(lambda where: replace(where, field=where.field_in())) from None
