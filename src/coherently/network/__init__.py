"""Fusion in networks: nodes with local forecasts exchange probabilities until the whole is coherent."""

from coherently.network.network import Network
from coherently.network.protocol.messages import Message, MessageKind
from coherently.network.protocol.node import Node
from coherently.network.protocol.node_plan import Agreement, NodePlan
from coherently.network.run import NetworkRun
from coherently.network.simulated.circumstances import Channel, Mishaps, Outage
from coherently.network.simulated.recording import NetworkTrace
from coherently.network.topology import Topology

__all__ = [
    "Agreement",
    "Channel",
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
