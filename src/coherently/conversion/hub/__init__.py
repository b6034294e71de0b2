"""Forecasting hubs in the hubverse format: model output and target data into a draft of a panel."""

from coherently.conversion.hub.hubverse import HubOptions, read_hubverse

__all__ = ["HubOptions", "read_hubverse"]
