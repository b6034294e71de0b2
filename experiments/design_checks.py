"""Whether what recipes are made of was chosen by single panels.

`python -m experiments.design_checks [default] [tuned] [simulated]` prints tables in Markdown.

For each design choice, all options are scored on every panel of docs/evaluation-plan.md; then each panel is left out in
turn, with its other forms, the option is chosen that is best in the mean on the others, and scored on the one left out.
A choice that rests on one panel shows: without it, another option is chosen, and scores worse there. `simulated` scores
the options of the default on panels that are drawn, where it is known what judges share.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

import coherently as co
from coherently.scoring.tuning import learned_recipe, trials
from coherently.scoring.tuning.learned_recipe import FoldOptions, Kitchen
from coherently.scoring.tuning.trials import LESSON_PLANS
from coherently.solve import Budget, Pool
from coherently.solve.methods import judge_factors, judge_noise, recipe
from experiments.evaluation.panels import honest, require_data
from experiments.evaluation.sources import PLANNED
from experiments.markdown import table
from experiments.simulated_judges import KINDS, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from coherently.arrays import Vector
    from experiments.evaluation.sources import Source

LEFT_OUT = ("llm_scraped_all", "flusight_2017_bins_numbers", "llm_polymarket_samples")
"""Forms of other panels that take long, or have too few groups to learn from."""
ROUGH, TIME_LIMIT, DRAWS = 1e-3, 10.0, 12
"""Tolerance and seconds of a coherent step, and number of panels of each simulated kind."""
BEFORE = co.Recipe("log", consensus=0.5)
"""The default before this one: the log pool, with judges who agree with others counting more."""
DEFAULT = {
    "factor of the bold pool": ((recipe, "BOLD"), (1.0, 1.1, 1.2, 1.35, 1.5)),
    "forecasts of shrinkage of judges": ((judge_factors, "SHRINK"), (3.0, 10.0, 30.0, 100.0)),
    "components of shrinkage of judges": ((judge_factors, "FEW"), (0.0, 3.0, 10.0)),
}
"""The constants of the default recipe, with the values that are tried."""
SHARES, POWERS = (0.0, 0.5, 1.0, 1.5, 2.0), (0.0, 0.5, 1.0)
"""How often the share of the bold pool counts, and the powers of weights by signal, that are tried."""
TUNED = {
    "standard errors for half of the shares": ((trials, "SHOWN"), (0.0, 0.5, 1.0, 2.0)),
    "steepness of shares": ((trials, "STEEP"), (1.0, 3.0, 9.0)),
    "groups of shrinkage of shares": ((trials, "FEW"), (0.0, 3.0, 10.0)),
}
"""The constants of the blend, with the values that are tried."""
PLANS = {
    "all four": LESSON_PLANS,
    **{f"only {i + 1}": (plan,) for i, plan in enumerate(LESSON_PLANS)},
    **{f"without {i + 1}": LESSON_PLANS[:i] + LESSON_PLANS[i + 1 :] for i in range(len(LESSON_PLANS))},
}


@dataclass(frozen=True, slots=True)
class Option:
    """A way to make a recipe.

    It has constants that are other than in the package, the power of weights by signal, and the number of `times` that
    the share of the bold pool counts.
    """

    choice: str
    name: str
    constants: tuple[tuple[ModuleType, str, object], ...] = ()
    power: float = 1.0
    times: float = 1.0
    is_present: bool = False

    def put_in(self) -> ExitStack:
        """The package with these constants, until the stack is closed."""
        stack = ExitStack()
        for module, name, value in self.constants:
            stack.enter_context(patch.object(module, name, value))
        return stack


def default_options() -> Iterator[Option]:
    """The options of the default recipe, choice by choice."""
    yield from _of_constants(DEFAULT)
    for name, constants in (("as reliable", ()), ("always", ((recipe, "reliability", _always),))):
        yield Option("when the bold pool is bold", name, constants, is_present=not constants)
    for times in SHARES:
        yield Option("share of the bold pool, times", f"{times:g}", times=times, is_present=times == 1.0)
    for power in POWERS:
        yield Option("power of weights by signal", f"{power:g}", power=power, is_present=power == 1.0)


def _always(*_: object) -> float:
    return 1.0


def tuned_options() -> Iterator[Option]:
    """The options of what is learned, choice by choice."""
    yield from _of_constants(TUNED)
    for name, plans in PLANS.items():
        constants = ((learned_recipe, "LESSON_PLANS", plans),)
        yield Option("plans", name, constants, is_present=plans is LESSON_PLANS)


def _of_constants(choices: dict[str, tuple[tuple[ModuleType, str], tuple[float, ...]]]) -> Iterator[Option]:
    for choice, ((module, name), values) in choices.items():
        now = getattr(module, name)
        for value in values:
            yield Option(choice, f"{value:g}", ((module, name, value),), is_present=value == now)


def default_change(kitchen: Kitchen, option: Option, share: float) -> float:
    """The change of the Brier score against the linear average; `share` is that of the bold pool."""
    with option.put_in():
        own = min(1.0, option.times * share)
        made = co.Recipe(signal=option.power, log_share=own, then=co.Exact(time_limit=TIME_LIMIT, tolerance=ROUGH))
        value = made.solve(kitchen.problem).value
    return _change(kitchen, value)


def tuned_change(kitchen: Kitchen, option: Option, _: float) -> float:
    """The change of the Brier score against the linear average by what is learned, out of fold."""
    with option.put_in():
        value = learned_recipe.out_of_fold(kitchen)[0]
    return _change(kitchen, value)


def _change(kitchen: Kitchen, value: Vector) -> float:
    linear = kitchen.blocks.loss(kitchen.value(Pool("linear"))).sum()
    return float(kitchen.blocks.loss(value).sum() / linear - 1.0)


def kitchen_of(source: Source) -> tuple[Kitchen, float]:
    """A panel with its folds, and the share of its bold pool."""
    kitchen = Kitchen.of(honest(source.read()), FoldOptions(source.over, source.cluster), TIME_LIMIT, Budget())
    return kitchen, judge_noise.noise_share(kitchen.problem, co.Exact(time_limit=TIME_LIMIT))


def left_out_in_turn(changes: Vector, families: Sequence[str]) -> list[int]:
    """For each panel the option that is best in the mean on panels of other families: `changes` has options in rows."""
    family = np.array(families)
    return [int(np.argmin(changes[:, family != own].mean(axis=1))) for own in families]


def report(options: Sequence[Option], changes: Vector, sources: Sequence[Source]) -> str:
    """For each choice the mean of each option, and what is chosen and lost if panels are left out in turn."""
    families, rows = [source.kin or source.name for source in sources], []
    for choice in dict.fromkeys(option.choice for option in options):
        own = [i for i, option in enumerate(options) if option.choice == choice]
        now = next(i for i in own if options[i].is_present)
        chosen = [own[i] for i in left_out_in_turn(changes[own], families)]
        held_out = np.mean([changes[i, k] for k, i in enumerate(chosen)])
        means = ", ".join(f"{'**' * (i == now)}{options[i].name}{'**' * (i == now)}: {_mean(changes[i])}" for i in own)
        often = {options[i].name: chosen.count(i) for i in dict.fromkeys(chosen)}
        picked = ", ".join(f"{name} ({count})" for name, count in often.items())
        rows.append([choice, means, picked, f"{100 * held_out:+.2f}", f"{100 * changes[now].mean():+.2f}"])
    head = ("choice", "option (now in bold): mean, worst", "chosen without each panel (how often)", "left out", "now")
    return table(head, rows)


def _mean(changes: Vector) -> str:
    return f"{100 * changes.mean():+.2f}, {100 * changes.max():+.1f}"


def on_panels(options: Sequence[Option], change: Callable[[Kitchen, Option, float], float]) -> str:
    """The report of some options over the panels."""
    sources = [source for source in PLANNED if source.name not in LEFT_OUT]
    require_data([source.name for source in sources])
    columns = []
    for source in sources:
        kitchen, share = kitchen_of(source)
        columns.append([change(kitchen, option, share) for option in options])
        print(source.name, f"{100 * columns[-1][0]:+.1f}", file=sys.stderr, flush=True)
    return report(options, np.array(columns).T, sources)


def on_simulated() -> str:
    """The change by each option of the default, in per cent, over panels of each kind."""
    options = list(default_options())
    rows = []
    for kind in KINDS:
        changes = []
        for draw in range(DRAWS):
            kitchen = Kitchen.of(drawn(kind, draw), FoldOptions("components"), TIME_LIMIT, Budget())
            share = judge_noise.noise_share(kitchen.problem, co.Exact())
            before = _change(kitchen, BEFORE.solve(kitchen.problem).value)
            changes.append([before, *(default_change(kitchen, option, share) for option in options)])
        rows.append([kind.name, *(f"{100 * mean:+.1f}" for mean in np.mean(changes, axis=0))])
        print(rows[-1], file=sys.stderr, flush=True)
    return table(("kind", "the default before", *(f"{option.choice}: {option.name}" for option in options)), rows)


def main(asked: Sequence[str]) -> None:
    """Print the reports that are asked for, or all of them."""
    reports: dict[str, Callable[[], str]] = {
        "default": partial(on_panels, list(default_options()), default_change),
        "tuned": partial(on_panels, list(tuned_options()), tuned_change),
        "simulated": on_simulated,
    }
    for name, made in reports.items():
        if not asked or name in asked:
            print(f"## {name}\n\n{made()}\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
