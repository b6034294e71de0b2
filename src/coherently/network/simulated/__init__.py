"""A network on one machine, deterministic by seed: time passes by events, and messages meet with accidents."""
