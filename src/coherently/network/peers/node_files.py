"""The files with which the nodes of a network start."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from coherently.errors import NetworkError
from coherently.network.peers.files import NodeFile

if TYPE_CHECKING:
    from pathlib import Path

    from coherently.network.network import Network
    from coherently.network.protocol.node_plan import Agreement

MOST_EVENTS = 50_000
"""Maximum number of events that a node keeps or forecasts, so that every message fits into a frame."""


def node_files(network: Network, agreement: Agreement) -> list[NodeFile]:
    """What each node must know. The run is named by a hash of everything, so equal runs go on from kept states."""
    plans = network.plans(agreement.schedule)
    names = tuple(network.panel.judges)
    for plan in plans:
        if max(len(plan.events), len(plan.forecasts)) > MOST_EVENTS:
            raise NetworkError(
                f"{names[plan.node]} would keep {len(plan.events):,} events and forecast {len(plan.forecasts):,}; "
                f"a node over TCP may have {MOST_EVENTS:,} of each: divide its forecasts among several nodes"
            )
    told = json.dumps([agreement.as_dict(), names, [plan.as_dict() for plan in plans]])
    run = hashlib.sha256(told.encode()).hexdigest()[:32]
    texts = _texts(network)
    peers: list[set[int]] = [set() for _ in plans]
    for plan in plans:
        for other in plan.partners():
            peers[plan.node].add(other)
            peers[other].add(plan.node)
    return [
        NodeFile(
            run=run,
            names=names,
            agreement=agreement,
            plan=plan,
            peers=tuple(sorted(peers[plan.node])),
            texts={e.event: texts[e.event] for e in plan.events},
        )
        for plan in plans
    ]


def write_files(files: list[NodeFile], folder: Path) -> list[Path]:
    """Write one file per node, numbered, since names may hold anything."""
    paths = [folder / f"node-{file.plan.node}.json" for file in files]
    for file, path in zip(files, paths, strict=True):
        file.write(path)
    return paths


def _texts(network: Network) -> dict[int, str]:
    """A text for the coordinate of each event: as first written, or the negation of that."""
    problem, found = network.problem, dict[int, str]()
    units = zip(problem.coordinate.tolist(), problem.complemented.tolist(), problem.written.tolist(), strict=True)
    for event, complemented, place in units:
        text = problem.texts[place]
        found.setdefault(event, f"~({text})" if complemented else text)
    return found
