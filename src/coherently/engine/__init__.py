"""Where work runs: threads, processes, a cluster. This room knows batches, results and time, and no event."""

from coherently.engine.engine_words import Engine, open_engine, opened, opened_keep

__all__ = ["Engine", "open_engine", "opened", "opened_keep"]
