"""Doors for agents and pipelines: tools for models, an MCP server, scorers for inspect-ai, coherent batches of reports.

>>> import coherently as co
>>> sorted(co.agents.__all__)
['Toolbox', 'brier_metric', 'coherent_reports', 'forecast_scorer', 'incoherence_metric', 'make_server', 'tool_schemas']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.agents.inspect_scorers import brier_metric, forecast_scorer, incoherence_metric
    from coherently.agents.mcp_server import make_server
    from coherently.agents.report_batches import coherent_reports
    from coherently.agents.tool_list import tool_schemas
    from coherently.agents.toolbox import Toolbox

_MODULES = {
    "Toolbox": "toolbox",
    "brier_metric": "inspect_scorers",
    "coherent_reports": "report_batches",
    "forecast_scorer": "inspect_scorers",
    "incoherence_metric": "inspect_scorers",
    "make_server": "mcp_server",
    "tool_schemas": "tool_list",
}
__all__ = [
    "Toolbox",
    "brier_metric",
    "coherent_reports",
    "forecast_scorer",
    "incoherence_metric",
    "make_server",
    "tool_schemas",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module 'coherently.agents' has no attribute {name!r}")
        return getattr(importlib.import_module(f"coherently.agents.{_MODULES[name]}"), name)
