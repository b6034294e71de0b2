"""The method that the options of a command ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    PoolWord,
    Prior,
    RecipeFile,
    Reliability,
    Scale,
    Seed,
    Shift,
    Shrink,
    Steps,
    Sweeps,
    Then,
    Threads,
    TimeLimit,
    Tolerance,
    Trim,
)

if TYPE_CHECKING:
    from pathlib import Path

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
    shrink: Shrink = None
    prior: Prior = None
    reliability: Reliability = None
    covariance: CovarianceFile = None
    over: Over = None
    scale: Scale = None
    pool: PoolWord = None
    shift: Shift = None
    recipe: RecipeFile = None

    def find_method(self, *, trace: bool) -> Method:
        """The method, or a pool and the method that follows it."""
        from coherently.solve import choose

        if self.recipe is not None:
            return self._read_recipe(self.recipe)
        pooling: dict[str, object] = {
            "trim": self.trim,
            "exponent": self.exponent,
            "shrink": self.shrink,
            "prior": self.prior,
        }
        pooling |= {"pool": self.pool, "shift": self.shift}
        then = "exact" if self.method == "recipe" and self.then is None else self.then
        if self.method == "recipe":
            pooling |= {"loss": self.loss}
        chosen = choose(
            then or self.method,
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
            **({} if then else pooling),
        )
        return choose(self.method, then=chosen, **pooling) if then else chosen

    def _read_recipe(self, file: Path) -> Method:
        """The recipe of a file, with the options that are given for the method that follows."""
        from coherently.errors import MethodError
        from coherently.scoring import read_recipe

        if self.method not in ("auto", "recipe") or self.then or self.loss != "brier":
            raise MethodError("--recipe says the method and the loss: leave out --method, --then and --loss")
        recipe = read_recipe(file)
        names = ("tolerance", "time_limit", "threads", "seed")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if recipe.then is None or not given:
            return recipe
        return replace(recipe, then=replace(recipe.then, **given))  # type: ignore[type-var]

    def find_loss(self) -> Loss:
        """The distance to minimise."""
        from coherently.errors import MethodError
        from coherently.problem import find_loss

        if self.clip is not None and self.loss != "log":
            raise MethodError(f"--clip goes with --loss log, not with {self.loss}")
        return find_loss(self.loss, self.clip)
