"""Panels drawn at random, with a truth behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.panel import Panel, Table, build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

FORMS = ("a & b", "a & ~b", "a | b", "a | ~b")
"""The compound events of Predd, Kulkarni, Poor and Osherson (2006)."""

_MIXTURE = 4
_MIXTURE_CONCENTRATION = 2.0
_VARIABLE_SD, _COMPONENT_SD = 1.0, 1.2


@dataclass(frozen=True, slots=True)
class _Design:
    """The options of `simulate`; options from which no panel can be drawn are refused."""

    judges: int
    variables: int
    basic: int
    compound: int
    forms: tuple[str, ...]
    nested: bool
    noise: tuple[float, float]
    bias: float
    conservatism: float
    rounding: float
    rounders: float
    abstention: float
    seed: int

    def __post_init__(self) -> None:
        unknown = [form for form in self.forms if form not in FORMS]
        pairs = self.parts * (self.parts - 1)
        possible = sum(pairs if "~" in form else pairs // 2 for form in set(self.forms))
        low, high = self.noise
        problems = {
            f"seed is {self.seed}; it must be 0 or more": self.seed < 0,
            f"judges is {self.judges}; it must be 1 or more": self.judges < 1,
            f"variables is {self.variables}; it must be 1 or more": self.variables < 1,
            "basic and compound must be 0 or more": min(self.basic, self.compound) < 0,
            "each judge must forecast at least one event": self.basic + self.compound < 1,
            f"basic is {self.basic}, more than the {self.variables} variables": self.basic > self.variables,
            f"forms has {unknown}; the forms are {list(FORMS)}": bool(unknown),
            f"compound is {self.compound}; {self.parts} variables make {possible} such events": (
                self.compound > possible
            ),
            f"noise is {self.noise}; it must be two numbers, 0 <= low <= high": not 0 <= low <= high < np.inf,
            f"bias is {self.bias}; it must be a finite number": not np.isfinite(self.bias),
            f"conservatism is {self.conservatism}; it must lie between 0 and 1": not 0 <= self.conservatism <= 1,
            f"rounding is {self.rounding}; it must lie between 0 and 1": not 0 <= self.rounding <= 1,
            f"rounders is {self.rounders}; it must lie between 0 and 1": not 0 <= self.rounders <= 1,
            f"abstention is {self.abstention}; it must be in [0, 1)": not 0 <= self.abstention < 1,
        }
        found = [message for message, broken in problems.items() if broken]
        if found:
            raise MethodError("\n".join(found))

    @property
    def parts(self) -> int:
        """The number of variables from which a judge's compound events are made."""
        return self.basic if self.nested else self.variables


@dataclass(frozen=True, slots=True)
class _Truth:
    """A mixture of product distributions: `weight[c]` of component c, `chance[c, v]` of variable v in it."""

    weight: NDArray[np.float64]
    chance: NDArray[np.float64]

    def probability(self, form: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give P(FORMS[form]) for variables a and b, and P(a) where form is -1."""
        total = np.zeros(len(a))
        for weight, chance in zip(self.weight, self.chance, strict=True):
            first, second = chance[a], chance[b]
            second = np.where(form % 2 == 1, 1 - second, second)
            both = first * second
            total += weight * np.where(form < 0, first, np.where(form < 2, both, first + second - both))
        return total


def simulate(
    judges: int = 47,
    variables: int = 30,
    *,
    basic: int = 10,
    compound: int = 24,
    forms: Sequence[str] = FORMS,
    nested: bool = False,
    noise: tuple[float, float] = (0.15, 0.25),
    bias: float = 0.0,
    conservatism: float = 0.0,
    rounding: float = 0.05,
    rounders: float = 0.5,
    abstention: float = 0.0,
    seed: int = 0,
) -> Panel:
    """Draw a panel, S(variables, judges), together with the truth that its outcomes come from.

    There are `judges` judges and `variables` variables. The truth is a mixture of 4 product distributions with
    Dirichlet(2) weights; the log-odds of a variable in a component are N(0, 1) for the variable plus N(0, 1.2) for the
    component. Each judge forecasts `basic` variables and `compound` other events, all different. A compound event is
    drawn uniformly: one of the `forms`, then two variables (of the judge's own `basic` ones if `nested`). A forecast is
    the true probability, moved towards 1/2 by the share `conservatism`, plus `bias`, plus normal noise. Each judge has
    a standard deviation of noise, uniform between the two numbers of `noise`. The forecast is clipped to [0, 1], and a
    share `rounders` of the judges round theirs to multiples of `rounding`. A forecast is left out with probability
    `abstention`.

    >>> panel = simulate(judges=31, variables=10, seed=1)
    >>> panel
    <Panel: 1,054 forecasts by 31 judges on 254 events over 10 variables>
    """
    design = _Design(
        judges,
        variables,
        basic,
        compound,
        forms=tuple(forms),
        nested=nested,
        noise=noise,
        bias=bias,
        conservatism=conservatism,
        rounding=rounding,
        rounders=rounders,
        abstention=abstention,
        seed=seed,
    )
    rng = np.random.default_rng(seed)
    truth = _draw_truth(rng, variables)
    events = _draw_events(rng, design)
    shape = events[0].shape
    form, a, b = (part.ravel() for part in events)
    exact = truth.probability(form, a, b).reshape(shape)
    spread = rng.uniform(*noise, (judges, 1))
    drawn = exact + conservatism * (0.5 - exact)
    probability = np.clip(drawn + bias + spread * rng.standard_normal(shape), 0.0, 1.0)
    if rounding:
        coarse = rng.permutation(judges) < round(rounders * judges)
        steps = np.round(probability[coarse] / rounding)
        probability[coarse] = np.clip(np.round(steps * rounding, 12), 0.0, 1.0)
    given = rng.random(shape).ravel() >= abstention
    world = rng.random(variables) < truth.chance[rng.choice(_MIXTURE, p=truth.weight)]

    names = np.array([f"v{i + 1}" for i in range(variables)], object)
    judge = np.repeat([f"j{i + 1}" for i in range(judges)], shape[1])[given].tolist()
    columns = {
        "judge": judge,
        "event": _texts(form[given], a[given], b[given], names),
        "probability": probability.ravel()[given],
    }
    if not judge:
        raise MethodError(f"abstention {abstention} left no forecast; lower it or take another seed")
    table = Table("simulate", columns, range(1, len(judge) + 1))
    return build(table, outcomes=dict(zip(names.tolist(), world.tolist(), strict=True)))


def _draw_truth(rng: np.random.Generator, variables: int) -> _Truth:
    weight = rng.dirichlet(np.full(_MIXTURE, _MIXTURE_CONCENTRATION))
    log_odds = rng.normal(0, _VARIABLE_SD, variables) + rng.normal(0, _COMPONENT_SD, (_MIXTURE, variables))
    return _Truth(weight, 1 / (1 + np.exp(-log_odds)))


def _draw_events(
    rng: np.random.Generator, design: _Design
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw form (-1 for a single variable), first and second variable; one row per judge."""
    judges, variables = design.judges, design.parts
    alone = _draw_distinct(lambda count: rng.integers(design.variables, size=count), judges, design.basic)
    kinds = np.array([FORMS.index(form) for form in dict.fromkeys(design.forms)])

    def draw_compound(count: int) -> NDArray[np.int64]:
        form = kinds[rng.integers(len(kinds), size=count)]
        a = rng.integers(variables, size=count)
        b = (a + rng.integers(1, variables, size=count)) % variables
        swap = (form % 2 == 0) & (a > b)  # a & b is b & a
        a, b = np.where(swap, b, a), np.where(swap, a, b)
        code: NDArray[np.int64] = (form * variables + a) * variables + b
        return code

    pairs = np.empty((judges, 0), np.int64)
    if design.compound:
        pairs = _draw_distinct(draw_compound, judges, design.compound)
    form = np.concatenate([np.full_like(alone, -1), pairs // variables**2], axis=1)
    first, second = pairs // variables % variables, pairs % variables
    if design.nested:
        first, second = (np.take_along_axis(alone, part, axis=1) for part in (first, second))
    return form, np.concatenate([alone, first], axis=1), np.concatenate([alone, second], axis=1)


def _draw_distinct(draw: Callable[[int], NDArray[np.int64]], rows: int, count: int) -> NDArray[np.int64]:
    """Fill each row with distinct draws: a draw that repeats an earlier one of its row is drawn again."""
    drawn = draw(rows * count).reshape(rows, count)
    pending = np.arange(rows)
    while len(pending):
        block = drawn[pending]
        order = np.argsort(block, axis=1, kind="stable")
        ordered = np.take_along_axis(block, order, axis=1)
        again = np.zeros(block.shape, bool)
        np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
        block[again] = draw(int(again.sum()))
        drawn[pending] = block
        pending = pending[again.any(axis=1)]
    return drawn


def _texts(
    form: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64], names: NDArray[np.object_]
) -> list[str]:
    patterns = {
        -1: "{0}",
        **{i: text.replace("a", "{0}").replace("b", "{1}") for i, text in enumerate(FORMS)},
    }
    code = ((form + 1) * len(names) + a) * len(names) + b
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    texts = [
        patterns[kind].format(x, y)
        for kind, x, y in zip(form[first].tolist(), names[a[first]], names[b[first]], strict=True)
    ]
    return list(map(texts.__getitem__, number.tolist()))
