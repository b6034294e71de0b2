"""What a node reads when it starts: its part of the plan, and where its peers are."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError, NetworkError
from coherently.network.protocol.node_plan import Agreement, NodePlan

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMAT, VERSION = "coherently-node", 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFile:
    """What one node of a run must know: the run, the names of all nodes, what all agree on, and its own part.

    It has the node's own forecasts and nobody else's. `peers` are the numbers of all nodes that it talks to, also of
    those that only call for its forecasts; `texts` names the events that it keeps.
    """

    run: str
    names: tuple[str, ...]
    agreement: Agreement
    plan: NodePlan
    peers: tuple[int, ...]
    texts: dict[int, str]

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.names[self.plan.node]

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        told = {
            "format": FORMAT,
            "version": VERSION,
            "run": self.run,
            "names": self.names,
            "agreement": self.agreement.as_dict(),
            "plan": self.plan.as_dict(),
            "peers": self.peers,
            "texts": [[event, text] for event, text in self.texts.items()],
        }
        path.write_text(json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")

    @staticmethod
    def read(path: Path) -> NodeFile:
        """Read what `write` wrote."""
        try:
            told = json.loads(path.read_text("utf-8"))
        except OSError as error:
            raise NetworkError(f"the events {path} cannot be read: {error.strerror}") from None
        except ValueError:
            told = None
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise NetworkError(f"{path} does not have the events of a node: `coherently network plan` writes them")
        if told.get("version") != VERSION:
            raise NetworkError(f"{path} has version {told.get('version')}; this version of Coherently reads {VERSION}")
        try:
            return _node_file(told)
        except (CoherentlyError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise NetworkError(f"{path} is damaged ({error}): let `coherently network plan` write it again") from None


def _node_file(told: Mapping[str, Any]) -> NodeFile:
    plan = NodePlan.from_dict(told["plan"])
    names, peers = tuple(map(str, told["names"])), tuple(map(int, told["peers"]))
    if len(bytes.fromhex(told["run"])) != 16 or not all(0 <= number < len(names) for number in (plan.node, *peers)):
        raise ValueError("the run or the names do not fit")
    if plan.node in peers or not plan.partners() <= set(peers):
        raise ValueError("the peers do not fit the plan")
    texts = {int(event): str(text) for event, text in told["texts"]}
    return NodeFile(
        run=told["run"], names=names, agreement=Agreement(**told["agreement"]), plan=plan, peers=peers, texts=texts
    )


def read_peers(path: Path, node: NodeFile) -> dict[int, tuple[str, int]]:
    """The addresses of all nodes that a node talks to: a TOML file with lines like `Ann = "10.0.0.2:7001"`."""
    try:
        told = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise NetworkError(f"the peers {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NetworkError(f'{path} is not TOML with lines like Ann = "10.0.0.2:7001": {error}') from None
    missing = [node.names[number] for number in node.peers if node.names[number] not in told]
    if missing:
        raise NetworkError(f"{path} has no address for {', '.join(missing)}, whom {node.name} must talk to; add a line")
    return {number: read_address(str(told[node.names[number]])) for number in node.peers}


def read_address(text: str) -> tuple[str, int]:
    """A host and a port; brackets around a host of version 6.

    >>> read_address("127.0.0.1:7001"), read_address("[::1]:7001")
    (('127.0.0.1', 7001), ('::1', 7001))
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and 0 <= int(port) < 65536):
        raise NetworkError(f"{text!r} is not an address; write host:port, such as 127.0.0.1:7001")
    return host, int(port)
