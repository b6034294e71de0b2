"""The result: a mixture of worlds that obeys laws and pins, and what it loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from .check_errors import BadInputError, ProofRefusedError
from .forecast_files import read_json
from .language import LITERALS, read_event
from .loss_planes import KNOWN_LOSSES, LossRule
from .numbers import decimal, rounded_up
from .posed_panel import PosedPanel, PosedTerm
from .truth_functions import Comparison, StateSpace, TruthFunction

KEPT = Fraction(1, 10**9)
"""How far a pin may be missed, and how far a printed probability may be from the mixture."""
ABSENT = Fraction(1, 10**6)
"""A conditional whose condition is less likely than this is printed as it was forecast."""
MOST_WORLDS = 1_000_000
PART = ("variables", "weights", "worlds")


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
    wrong = BadInputError("the result lacks a field, or has a wrong one")
    try:
        clip, tolerance = decimal(told["clip"]) if name == "log" else Fraction(0), decimal(told["tolerance"])
        printed = [(one["event"], decimal(one["probability"])) for one in told["forecasts"] if one["probability"]]
        texts = [text for part in told["worlds"] for field in PART for text in part[field]]
    except (KeyError, TypeError, AttributeError):
        raise wrong from None
    if not all(isinstance(text, str) for text in (*texts, *(text for text, _ in printed))):
        raise wrong
    if name == "log" and not 0 < clip < Fraction(1, 2):
        raise BadInputError("the clip of the log loss lies between 0 and 0.5")
    loss = LossRule(name, clip, conditionals == "linearised")
    return ResultClaim(loss, tolerance, told.get("panel_sha256"), printed, parts=told["worlds"])


class WorldMixture:
    """Independent parts, each with worlds (a state for each of its variables) and whole weights."""

    def __init__(self, space: StateSpace, parts: Sequence[dict[str, Any]]) -> None:
        self.space, self.part_of = space, dict[int, int]()
        self.weights, self.states = list[list[int]](), dict[int, list[int]]()
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
            for variable, states in self._read(texts, worlds):
                if self.part_of.setdefault(variable, number) != number:
                    raise ProofRefusedError(f"{space.variables[variable].name} is in two independent parts")
                self.states[variable] = states

    def _read(self, texts: Sequence[str], worlds: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """Variables with their state in each world; a declared one has any state that its comparisons leave."""
        said: dict[int, list[tuple[int, Comparison]]] = {}
        for place, text in enumerate(texts):
            step, *more = read_event(text)[0]
            if not more and step[0] in LITERALS and step[1] in self.space.number:  # else no formula mentions it
                said.setdefault(self.space.number[step[1]], []).append((place, step[2:]))
        for number, comparisons in said.items():
            variable, states = self.space.variables[number], dict[tuple[str, ...], int]()
            truths = list(zip(*([world[place] for world in worlds] for place, _ in comparisons), strict=True))
            for truth in set(truths):
                told = [(comparison, one == "1") for (_, comparison), one in zip(comparisons, truth, strict=True)]
                state = variable.state_with(told)
                if state is None:
                    raise ProofRefusedError(f"a world gives {variable.name} no possible value")
                states[truth] = state
            yield number, [states[truth] for truth in truths]

    def probability(self, function: TruthFunction) -> Fraction:
        """The probability of a function; worlds of independent parts are joined, and their weights multiplied."""
        if function.constant is not None:
            return Fraction(function.constant)
        weights, states = [1], dict[int, list[int]]()
        for v in function.scope:
            if v not in self.part_of:
                raise ProofRefusedError(f"the worlds say nothing about {self.space.variables[v].name}")
        for part in sorted({self.part_of[v] for v in function.scope}):
            own, before = self.weights[part], len(weights)
            if before > 1 and before * len(own) > MOST_WORLDS:
                raise ProofRefusedError("an event joins too many worlds of independent parts")
            weights = [weight * one for weight in weights for one in own]
            states = {v: [state for state in known for _ in own] for v, known in states.items()}
            states |= {v: self.states[v] * before for v in function.scope if self.part_of[v] == part}
        held = sum(weight for weight, holds in zip(weights, self._truth(function, states), strict=True) if holds)
        return Fraction(held, sum(weights))

    def _truth(self, function: TruthFunction, states: Mapping[int, Sequence[int]]) -> list[bool]:
        """The truth of a function in each world, by the states of the variables in its scope."""
        found = [0] * len(states[function.scope[0]])
        if function.mask is not None:
            truth, strides = self.space.truth(function), self.space.strides(function.scope)
            for v, stride in strides.items():
                found = [place + stride * state for place, state in zip(found, states[v], strict=True)]
            return [truth[place] for place in found]
        assert function.count is not None
        for v, wanted in function.count.literals:
            found = [held + (state in wanted) for held, state in zip(found, states[v], strict=True)]
        return [held in function.count.counts for held in found]


def lawful_mixture(panel: PosedPanel, parts: Sequence[dict[str, Any]], whose: str) -> WorldMixture:
    """A mixture of worlds that obey the laws."""
    mixture = WorldMixture(panel.space, parts)
    for text, law in zip(panel.law_texts, panel.laws, strict=True):
        if mixture.probability(law) != 1:
            raise ProofRefusedError(f"a world of {whose} breaks the law {text!r}")
    return mixture


def checked_mixture(panel: PosedPanel, claim: ResultClaim) -> WorldMixture:
    """The mixture of a result, if it keeps laws and pins, and has the probabilities that are printed."""
    mixture = lawful_mixture(panel, claim.parts, "the result")
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
    return mixture


def loss_above(mixture: WorldMixture, terms: Sequence[PosedTerm]) -> Fraction:
    """U: a number above what the mixture loses."""
    total = Fraction(0)
    for term in terms:
        u, h = mixture.probability(term.joint), mixture.probability(term.condition)
        total += rounded_up(term.cost.above(u, h))
    return total
