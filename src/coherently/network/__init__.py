"""Fusion in networks: nodes with local forecasts exchange probabilities until the whole is coherent.

>>> import coherently as co
>>> rows = [("Ann", "p", 0.8), ("Bob", "q", 0.7), ("Eve", "p & q", 0.1), ("Eve", "p", 0.6)]
>>> network = co.network.Network.from_panel(co.Panel.from_records(rows))
>>> round(network.run(correction="dykstra", sweeps=20).probability("p & q"), 6)
0.22
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherently.network.local_report import LocalReport
    from coherently.network.network import Network
    from coherently.network.protocol.messages import Message, MessageKind
    from coherently.network.protocol.node import Node
    from coherently.network.protocol.node_plan import Agreement, NodePlan
    from coherently.network.regression.kernel_fusion import CentralKernel, KernelFusion, LocalKernel
    from coherently.network.run import NetworkRun
    from coherently.network.simulated.circumstances import Channel, Mishaps, Outage
    from coherently.network.simulated.network_trace import NetworkTrace
    from coherently.network.topology import Topology

# Names are imported when they are first used: a node over sockets needs no kernel regression, and the other way round.
_MODULES = {
    "coherently.network.local_report": ["LocalReport"],
    "coherently.network.network": ["Network"],
    "coherently.network.protocol.messages": ["Message", "MessageKind"],
    "coherently.network.protocol.node": ["Node"],
    "coherently.network.protocol.node_plan": ["Agreement", "NodePlan"],
    "coherently.network.regression.kernel_fusion": ["CentralKernel", "KernelFusion", "LocalKernel"],
    "coherently.network.run": ["NetworkRun"],
    "coherently.network.simulated.circumstances": ["Channel", "Mishaps", "Outage"],
    "coherently.network.simulated.network_trace": ["NetworkTrace"],
    "coherently.network.topology": ["Topology"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Agreement",
    "CentralKernel",
    "Channel",
    "KernelFusion",
    "LocalKernel",
    "LocalReport",
    "Message",
    "MessageKind",
    "Mishaps",
    "Network",
    "NetworkRun",
    "NetworkTrace",
    "Node",
    "NodePlan",
    "Outage",
    "Topology",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'coherently.network' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
