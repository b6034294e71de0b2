"""Where work runs: threads, processes, a cluster. This room knows batches, results and time, and no event."""

from coherently.engine.batches import batches_of
from coherently.engine.dispatch import dispatch
from coherently.engine.keep import Keep, opened_keep
from coherently.engine.opening import Engine, open_engine, opened
from coherently.engine.worker import order_here

__all__ = ["Engine", "Keep", "batches_of", "dispatch", "open_engine", "opened", "opened_keep", "order_here"]
