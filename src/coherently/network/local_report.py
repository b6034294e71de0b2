"""What came of a network of processes on this machine, beside the central answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import FLAG, NUMBER, WHOLE, Described, ListOf, OneWord, Record, RecordField
from coherently.errors import counted
from coherently.network.central import central_answer
from coherently.network.run import answer
from coherently.panel import records
from coherently.result.record import FORECAST

if TYPE_CHECKING:
    from coherently.network.network import Network
    from coherently.network.peers.local_run import LocalOutcome
    from coherently.network.protocol.node_plan import Agreement
    from coherently.result import Result

CENTRAL = {"loop": "the central loop", "nearest": "the nearest locally coherent forecasts"}
"""The central answers by the words for them, as a sentence names them."""
LOCAL_REPORT = Record(
    "network-run",
    1,
    "A run of one process per judge on this machine (`coherently network run --json`).",
    (
        RecordField("finished", FLAG, "whether every node finished within the time limit"),
        RecordField("nodes", WHOLE, "the number of nodes"),
        RecordField("messages", WHOLE, "the number of messages that were sent"),
        RecordField("restarts", WHOLE, "how often a node was started again"),
        RecordField("seconds", NUMBER, "how long it took"),
        RecordField("central", OneWord(lambda: CENTRAL), "the central answer that it is compared with"),
        RecordField("farthest_from_central", NUMBER, "the greatest difference of a probability from it"),
        RecordField("forecasts", ListOf(FORECAST), "one object per event as written"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalReport(Described):
    """What came of a run, and how far its answer is from the central one, which `central` names.

    >>> report = LocalReport(finished=True, nodes=3, messages=40, restarts=0, seconds=1.25, central="loop",
    ...     farthest_from_central=0.0, forecasts=({"event": "p", "probability": 0.5, "raw": 0.5, "weight": 2.0},))
    >>> LocalReport.from_json(report.to_json()) == report
    True
    >>> print(report.sentence())
    3 nodes finished after 40 messages in 1.2 seconds. No probability is farther than 0.0e+00 from the central loop.
    """

    record: ClassVar[Record] = LOCAL_REPORT

    finished: bool
    nodes: int
    messages: int
    restarts: int
    seconds: float
    central: str
    farthest_from_central: float
    forecasts: tuple[dict[str, Any], ...]

    def sentence(self) -> str:
        """The report in words."""
        end = "finished" if self.finished else "did not finish within the time limit"
        again = f", {self.restarts} of them started again" if self.restarts else ""
        nodes, messages = counted(self.nodes, "node"), counted(self.messages, "message")
        return (
            f"{nodes}{again} {end} after {messages} in {self.seconds:.1f} seconds. "
            f"No probability is farther than {self.farthest_from_central:.1e} from {CENTRAL[self.central]}."
        )

    def _plain(self) -> dict[str, Any]:
        return asdict(self) | {"forecasts": list(self.forecasts)}

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> LocalReport:
        return cls(**values | {"forecasts": tuple(values["forecasts"])})


def report_run(network: Network, agreement: Agreement, outcome: LocalOutcome) -> tuple[Result, LocalReport]:
    """The answer of a run as a result of the panel, and the report on it."""
    result = answer(network, outcome.value, agreement)
    columns = {name: column for name, column in result.columns().items() if name != "adjustment"}
    central = central_answer(network, agreement)
    return result, LocalReport(
        finished=outcome.finished,
        nodes=len(network.panel.judges),
        messages=outcome.messages,
        restarts=outcome.restarts,
        seconds=round(outcome.seconds, 3),
        central="nearest" if agreement.correction == "dykstra" else "loop",
        farthest_from_central=float(np.abs(outcome.value - central).max(initial=0.0)),
        forecasts=tuple(records(columns)),
    )
