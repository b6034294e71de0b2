"""The method that the options of a command ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.cli.options import (
    Clip,
    Columns,
    CovarianceFile,
    Exponent,
    GroupDesign,
    LossWord,
    MethodWord,
    Over,
    Prior,
    Reliability,
    Scale,
    Seed,
    Steps,
    Sweeps,
    Then,
    Threads,
    TimeLimit,
    Tolerance,
    Trim,
)

if TYPE_CHECKING:
    from coherently.problem import Loss
    from coherently.solve import Method


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """A method with its options, and the loss."""

    method: MethodWord = "auto"
    groups: GroupDesign = None
    loss: LossWord = "brier"
    clip: Clip = None
    sweeps: Sweeps = None
    tolerance: Tolerance = None
    time_limit: TimeLimit = None
    threads: Threads = None
    columns: Columns = None
    steps: Steps = None
    seed: Seed = None
    then: Then = None
    trim: Trim = None
    exponent: Exponent = None
    prior: Prior = None
    reliability: Reliability = None
    covariance: CovarianceFile = None
    over: Over = None
    scale: Scale = None

    def find_method(self, *, trace: bool) -> Method:
        """The method, or a pool and the method that follows it."""
        from coherently.solve import choose

        pooling = {"trim": self.trim, "exponent": self.exponent, "prior": self.prior}
        chosen = choose(
            self.then or self.method,
            groups=self.groups,
            sweeps=self.sweeps,
            tolerance=self.tolerance,
            time_limit=self.time_limit,
            threads=self.threads,
            columns=self.columns,
            steps=self.steps,
            seed=self.seed,
            trace=True if trace else None,
            reliability=self.reliability,
            covariance=self.covariance,
            over=self.over,
            scale=self.scale,
            **({} if self.then else pooling),
        )
        return choose(self.method, then=chosen, **pooling) if self.then else chosen

    def find_loss(self) -> Loss:
        """The distance to minimise."""
        from coherently.errors import MethodError
        from coherently.problem import find_loss

        if self.clip is not None and self.loss != "log":
            raise MethodError(f"--clip goes with --loss log, not with {self.loss}")
        return find_loss(self.loss, self.clip)
