"""Nodes as processes: sessions over TCP, durable state, and a network of them on one machine."""
