"""The result: a mixture of worlds that obeys laws and pins, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from .check_errors import BadInputError, ProofRefusedError
from .forecast_files import read_json
from .language import read_event
from .loss_planes import KNOWN_LOSSES, LossRule
from .numbers import decimal, rounded_up
from .posed_panel import PosedPanel, PosedTerm
from .truth_functions import StateSpace, TruthFunction

KEPT = Fraction(1, 10**9)
"""How far a pin may be missed, and how far a printed probability may be from the mixture."""
ABSENT = Fraction(1, 10**6)
"""A conditional whose condition is less likely than this is printed as it was forecast."""
MOST_WORLDS = 1_000_000


@dataclass(frozen=True)
class ResultClaim:
    """What a result says: loss, tolerance, printed probabilities, and independent parts with worlds and weights."""

    loss: LossRule
    tolerance: Fraction
    digest: str | None
    printed: Sequence[tuple[str, Fraction]]
    parts: Sequence[dict[str, Any]]


def read_claim(text: str) -> ResultClaim:
    """The claim of a result, as JSON."""
    told = read_json(text, "the result")
    if not isinstance(told, dict) or told.get("format") != "coherently-result":
        raise BadInputError("the result is not one of coherently")
    if told.get("worlds") is None or told.get("tolerance") is None:
        raise ProofRefusedError("the result claims no optimum over possible worlds, so there is nothing to prove")
    name, conditionals = told.get("loss"), told.get("conditionals")
    if name not in KNOWN_LOSSES or conditionals not in (None, "called_off", "linearised"):
        raise ProofRefusedError(f"nothing can be proved of the loss {name!r} with conditionals {conditionals!r}")
    clip = decimal(told["clip"]) if name == "log" else Fraction(0)
    if name == "log" and not 0 < clip < Fraction(1, 2):
        raise BadInputError("the clip of the log loss lies between 0 and 0.5")
    try:
        printed = [(one["event"], decimal(one["probability"])) for one in told["forecasts"] if one["probability"]]
        for part in told["worlds"]:
            _ = [map(str, part["variables"]), map(decimal, part["weights"]), map(str, part["worlds"])]
    except (KeyError, TypeError, AttributeError):
        raise BadInputError("the result lacks a field") from None
    loss = LossRule(name, clip, conditionals == "linearised")
    return ResultClaim(loss, decimal(told["tolerance"]), told.get("panel_sha256"), printed, parts=told["worlds"])


class WorldMixture:
    """Independent parts, each with worlds (a state for each of its variables) and whole weights."""

    def __init__(self, space: StateSpace, parts: Sequence[dict[str, Any]]) -> None:
        self.space, self.part_of = space, dict[int, int]()
        self.weights, self.states = list[list[int]](), list[dict[int, list[int]]]()
        for number, part in enumerate(parts):
            weights = [decimal(str(weight)) for weight in part["weights"]]
            scale = lcm(*(weight.denominator for weight in weights))
            whole = [int(weight * scale) for weight in weights]
            worlds, texts = part["worlds"], part["variables"]
            if any(weight < 0 for weight in whole) or sum(whole) <= 0 or len(worlds) != len(whole):
                raise ProofRefusedError("the weights of worlds are not those of a mixture")
            if any(len(world) != len(texts) or set(world) - {"0", "1"} for world in worlds):
                raise ProofRefusedError("a world does not say of each variable whether it is true")
            self.weights.append(whole)
            self.states.append(self._read(texts, worlds))
            for variable in self.states[-1]:
                if self.part_of.setdefault(variable, number) != number:
                    raise ProofRefusedError(f"{space.variables[variable].name} is in two independent parts")

    def _read(self, texts: Sequence[str], worlds: Sequence[str]) -> dict[int, list[int]]:
        """The state of each variable in each world; a declared one has any state that its comparisons leave."""
        found: dict[int, list[int]] = {}
        compared: dict[int, list[tuple[int, str, tuple[str, ...]]]] = {}
        for place, text in enumerate(texts):
            program, _ = read_event(text)
            step = program[0]
            variable = self.space.number.get(str(step[1])) if len(program) == 1 and len(step) > 1 else None
            if variable is None:
                continue  # no formula mentions it
            if step[0] == "variable":
                found[variable] = [int(world[place]) for world in worlds]
            else:
                compared.setdefault(variable, []).append((place, str(step[2]), step[3]))  # type: ignore[arg-type]
        for variable, places in compared.items():
            found[variable] = self._declared(variable, places, worlds)
        return found

    def _declared(
        self, variable: int, places: list[tuple[int, str, tuple[str, ...]]], worlds: Sequence[str]
    ) -> list[int]:
        known: dict[tuple[bool, ...], int] = {}
        states = []
        for world in worlds:
            truth = tuple(world[place] == "1" for place, _, _ in places)
            if truth not in known:
                said = [(relation, values, true) for (_, relation, values), true in zip(places, truth, strict=True)]
                state = self.space.variables[variable].state_with(said)
                if state is None:
                    raise ProofRefusedError(f"a world gives {self.space.variables[variable].name} no possible value")
                known[truth] = state
            states.append(known[truth])
        return states

    def probability(self, function: TruthFunction) -> Fraction:
        """The probability of a function."""
        if function.constant is not None:
            return Fraction(function.constant)
        missing = [v for v in function.scope if v not in self.part_of]
        if missing:
            raise ProofRefusedError(f"the worlds say nothing about {self.space.variables[missing[0]].name}")
        parts = sorted({self.part_of[v] for v in function.scope})
        if len(parts) == 1:
            whole = self.weights[parts[0]]
            truth = self._truth(function, [self.states[parts[0]][v] for v in function.scope])
            return Fraction(sum(w for w, holds in zip(whole, truth, strict=True) if holds), sum(whole))
        count = 1
        for part in parts:
            count *= len(self.weights[part])
        if count > MOST_WORLDS:
            raise ProofRefusedError("an event joins too many worlds of independent parts")
        held = total = 0
        for chosen in product(*(range(len(self.weights[part])) for part in parts)):
            weight, at = 1, dict(zip(parts, chosen, strict=True))
            for part, world in at.items():
                weight *= self.weights[part][world]
            states = [[self.states[self.part_of[v]][v][at[self.part_of[v]]]] for v in function.scope]
            total += weight
            held += weight * self._truth(function, states)[0]
        return Fraction(held, total)

    def _truth(self, function: TruthFunction, states: list[list[int]]) -> list[bool]:
        """The truth of a function in each world, by the states of the variables in its scope."""
        if function.mask is not None:
            places = [0] * len(states[0])
            for v, own in zip(function.scope, states, strict=True):
                size = self.space.variables[v].size
                places = [place * size + state for place, state in zip(places, own, strict=True)]
            bits = bin(function.mask)[:1:-1]
            return [place < len(bits) and bits[place] == "1" for place in places]
        assert function.count is not None
        held = [0] * len(states[0])
        for (_, wanted), own in zip(function.count.literals, states, strict=True):
            held = [n + (state in wanted) for n, state in zip(held, own, strict=True)]
        return [n in function.count.counts for n in held]


def broken_law(panel: PosedPanel, mixture: WorldMixture) -> str | None:
    """A law that some world breaks."""
    laws = zip(panel.law_texts, panel.laws, strict=True)
    return next((text for text, law in laws if mixture.probability(law) != 1), None)


def check_mixture(panel: PosedPanel, mixture: WorldMixture, claim: ResultClaim) -> None:
    """Refuse worlds that break laws or pins, and printed probabilities that are not those of the mixture."""
    if (law := broken_law(panel, mixture)) is not None:
        raise ProofRefusedError(f"a world of the result breaks the law {law!r}")
    for pin in panel.pins:
        u, h = mixture.probability(pin.joint), mixture.probability(pin.condition)
        if u < pin.low * h - KEPT or u > pin.high * h + KEPT:
            raise ProofRefusedError(f"the result does not keep the pin {pin.text!r}")
    for text, value in claim.printed:
        if text not in panel.events:
            raise ProofRefusedError(f"the result is about {text!r}, which the panel does not have")
        joint, given = panel.events[text]
        u, h = mixture.probability(joint), mixture.probability(given)
        if h >= ABSENT and abs(u - value * h) > KEPT:
            raise ProofRefusedError(f"the probability of {text!r} is not that of the worlds")


def loss_above(mixture: WorldMixture, terms: Sequence[PosedTerm]) -> Fraction:
    """U: a number above what the mixture loses."""
    total = Fraction(0)
    for term in terms:
        if term.settled is not None:
            u, h = Fraction(term.settled), Fraction(1)
        else:
            u, h = mixture.probability(term.joint), mixture.probability(term.condition)
        total += rounded_up(term.cost.above(u, h))
    return total
