"""An independent check of a result: only evaluation, without any solver of the package."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import FLAG, NUMBER, TEXT, Described, ListOf, OrNull, Record, RecordField
from coherently.errors import PanelError, ResultError
from coherently.panel import Panel
from coherently.panel.weights import with_weights
from coherently.problem import settled
from coherently.verifier.claims import (
    check_bound,
    check_improvement,
    check_local_bound,
    check_objective,
    indistinct,
)
from coherently.verifier.distinct_events import called_off, merge
from coherently.verifier.locally import check_local
from coherently.verifier.mixtures import check_mixture, check_pins, check_worlds, probabilities
from coherently.verifier.nearness import Stated, measure
from coherently.verifier.promises import (
    Unchecked,
    check_averages,
    check_means,
    check_probabilities,
    check_words,
    described,
    kind_of,
    match,
    tolerance_of,
)
from coherently.verifier.stop_signal import StoppedError, stop_if_asked, stopped_by
from coherently.verifier.tied import check_digest, check_laws, check_reading, check_rows

if TYPE_CHECKING:
    import os

    from coherently.arrays import Vector
    from coherently.engine.worker import Signal
    from coherently.panel.weights import Weights
    from coherently.result import Result
    from coherently.verifier.distinct_events import Distinct
    from coherently.verifier.mixtures import Support
    from coherently.verifier.proof_check import ProofCheck


VERIFICATION = Record(
    "verification",
    2,
    "Whether a result keeps its promises (`co.verify`, `coherently verify`).",
    (
        RecordField("kept", FLAG, "whether every promise that could be checked is kept", derived=True),
        RecordField("problems", ListOf(TEXT), "one sentence for each promise that is broken"),
        RecordField(
            "bound_rests_on", ListOf(TEXT), "for each component, or for the whole, what the lower bound rests on"
        ),
        RecordField("unchecked", ListOf(TEXT), "what neither evaluation nor enumeration decides, in words"),
        RecordField(
            "tolerance",
            OrNull(NUMBER),
            "the gap, relative to the objective, that the word optimal was checked against; null for other words",
        ),
        RecordField("unchecked_fields", ListOf(TEXT), "the fields of the result's record that `unchecked` is about"),
        RecordField(
            "proved",
            ListOf(TEXT),
            "the claims that a proof shows, about bounds, savings, bets or distances",
            optional=True,
            since=2,
        ),
    ),
)


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Described):
    """Whether a result keeps its promises: true as a bool where every promise that could be checked is kept.

    `problems` are sentences, one for each promise that is broken; without any the verification is true. `unchecked`
    names, in words, what neither evaluation nor enumeration decides: a true verification does not cover it;
    `unchecked_fields` are the fields of the result's record that this is about (see docs/reference/result-json.md).
    `bound_rests_on` says for each component, or for the whole where a method takes none apart, what the lower bound
    rests on: "own enumeration" of the verifier, its "own elimination of variables" where events count many literals, or
    what the result itself gives as proof; with a proof, "proved by elimination" and the like. `tolerance` is the gap,
    relative to the objective, that the word optimal was checked against; None for other words. `proved` are the claims
    of a proof about bounds, savings, bets or distances.
    """

    record: ClassVar[Record] = VERIFICATION

    problems: list[str] = field(default_factory=list)
    bound_rests_on: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    tolerance: float | None = None
    unchecked_fields: list[str] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems

    def _plain(self) -> dict[str, Any]:
        return {"kept": bool(self), **asdict(self)}

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Verification:
        return cls(**{name: value for name, value in values.items() if name != "kept"})

    def __repr__(self) -> str:
        if self.problems:
            return f"<Verification: {len(self.problems)} promises broken: {'; '.join(self.problems)}>"
        if self.proved:
            return f"<Verification: proved: {'; '.join(self.proved)}>"
        optimal = f", optimal to {self.tolerance:g}" if self.tolerance is not None else ""
        return (
            f"<Verification: every promise that could be checked is kept{optimal}; unchecked: "
            f"{'; '.join(self.unchecked)}>"
        )


def verify(
    panel: Panel,
    result: Result | None = None,
    *,
    weights: Weights | None = None,
    proof: bytes | str | os.PathLike[str] | None = None,
    cancel: Signal | None = None,
) -> Verification:
    """Check a result of a panel by evaluation: no method is used, and nothing in the result is taken on trust.

    The forecasts are merged again, the worlds of a globally coherent result are evaluated under every law, declaration
    and pin, the groups of a locally coherent one are checked one by one, and distances and bounds are computed from
    that. If a component has at most 2^16 possible worlds, all of them are enumerated, and the least distance is found
    again, between two numbers that evaluation proves. Numbers must agree to 1e-9, relative to the largest weight.
    `weights` are those that the result was made with. `proof` is what `result.proof()` gave, or its file: then an
    independent checker proves the bound (`coherently.proofcheck`), and `bound_rests_on` says by which rules; a proof
    that is too weak, or refused, is a problem. A proof of bets or distances (`book.proof_file(panel)`) needs no result,
    and `proved` has its claims. `cancel` ends the check when another thread sets it, with a
    `ResultError`: half a check says nothing.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
    >>> checked = verify(panel, co.aggregate(panel, "exact"))
    >>> checked
    <Verification: every promise that could be checked is kept, optimal to 1e-06; unchecked: the method, its ...>
    >>> bool(checked), checked.problems, checked.bound_rests_on
    (True, [], ['own enumeration'])
    >>> checked.unchecked_fields
    ['method', 'tolerance', 'note', 'components.route', 'components.proof']
    >>> other = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "q", 0.4)])
    >>> verify(panel, co.aggregate(other, "exact")).problems
    ['the result was made from another panel: the digest is ...', "the result has no probability for 'p & q'"]
    """
    if not isinstance(panel, Panel):
        raise PanelError(f"verify takes a Panel first, not a {type(panel).__name__}; see Panel.from_frame")
    panel, _ = with_weights(panel, weights)
    if result is None and proof is None:
        raise ResultError("verify needs a result, or a proof of bets or distances, which needs none")
    try:
        with stopped_by(cancel):
            found = Verification() if result is None else _verified(panel, result)
            stop_if_asked()
    except StoppedError:
        raise ResultError(
            "the verification was stopped before it was complete, so it says nothing about the result",
            code="stopped",
            remedy="verify the result again, without setting cancel",
        ) from None
    if proof is None:
        return found
    from coherently.verifier.proof_check import check_proof

    return with_proof(found, check_proof(panel, result, proof))


def with_proof(found: Verification, proof: ProofCheck) -> Verification:
    """The verification with the verdict of the checker of proofs."""
    if not proof.claims:
        found = replace(found, bound_rests_on=proof.rests_on)
    if proof.verdict.word == "proved":
        return replace(found, proved=proof.claims)
    return replace(found, problems=[*found.problems, proof.sentence], proved=proof.claims)


def _verified(panel: Panel, result: Result) -> Verification:
    columns = result.columns()
    rows, unmatched = match(panel, list(columns["event"]))
    problems, unchecked = check_digest(panel, result)
    if unmatched:
        return _verification(PartialCheck(problems + unmatched, [], unchecked))
    stated = {name: np.asarray(columns[name], np.float64)[rows] for name in ("probability", "raw", "weight")}
    problems += [*check_laws(panel, result.panel), *check_reading(panel, result), *check_rows(panel, result, rows)]
    given, panel = panel, settled(panel)
    distinct = merge(panel, result.loss)
    problems += [
        *check_means(panel, stated, distinct.unit),
        *check_probabilities(panel, result, stated["probability"], distinct),
        *check_words(result, distinct),
    ]
    begun = PartialCheck(problems, [], unchecked + described(result))
    if result.coherence == "none":
        wrong, more = check_averages(panel, result, stated)
        return _verification(begun, PartialCheck(wrong, [], more))
    support, coherent = _check_coherence(panel, result, distinct, stated["probability"])
    x = distinct.at_home(stated["probability"])
    near = _check_nearness(panel, result, distinct, x, support=support, called_off=called_off(given, panel))
    return _verification(begun, coherent, near, tolerance=tolerance_of(result) if result.status == "optimal" else None)


@dataclass(frozen=True, slots=True)
class PartialCheck:
    """What one of the checks found."""

    problems: list[str] = field(default_factory=list)
    rests_on: list[str] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)


def _verification(*found: PartialCheck, tolerance: float | None = None) -> Verification:
    unchecked = [one for some in found for one in some.unchecked]
    return Verification(
        problems=[problem for some in found for problem in some.problems],
        bound_rests_on=[proof for some in found for proof in some.rests_on],
        unchecked=list(dict.fromkeys(one.words for one in unchecked)),
        tolerance=tolerance,
        unchecked_fields=list(dict.fromkeys(name for one in unchecked for name in one.fields)),
    )


def _check_coherence(
    panel: Panel, result: Result, distinct: Distinct, stated: Vector
) -> tuple[Support | None, PartialCheck]:
    """Check the probabilities of the events as written by the worlds, or by the groups of events."""
    mixture = result.worlds
    if mixture is None:
        problems, unchecked = check_local(panel, result, stated)
        return None, PartialCheck(problems, [], unchecked)
    names = [[mixture.names[v] for v in part.variables.tolist()] for part in mixture.parts]
    support, problems = check_worlds(panel, mixture.parts, names, distinct)
    if support is None:
        return None, PartialCheck(problems)
    pooled = kind_of(result.method.name, result.coherence).of_others
    problems, unchecked = check_mixture(support, distinct.at_home(stated), pooled=pooled)
    return support, PartialCheck(problems + check_pins(support, result.violation), [], unchecked)


def _check_nearness(
    panel: Panel, result: Result, distinct: Distinct, x: Vector, support: Support | None, *, called_off: float
) -> PartialCheck:
    """Check objective, bound and guaranteed improvement by the forecasts x."""
    if result.objective is None:
        return PartialCheck()
    joint, condition = x.copy(), np.where(distinct.conditional, np.nan, 1.0)
    if support is not None:
        told = probabilities(support)
        joint, condition = (np.where(distinct.conditional, a, b) for a, b in zip(told, (joint, condition), strict=True))
    if np.isnan(condition[distinct.weighty]).any():
        stated = ["there is a guaranteed improvement, but the probabilities of conditions are not known"]
        hidden = "the objective and the lower bound: the probabilities of conditions are not known without worlds"
        fields = ("objective", "lower_bound", "gap", "conditionals", "loss", "clip")
        return PartialCheck([] if result.guaranteed_improvement is None else stated, [], [Unchecked(fields, hidden)])
    near = measure(
        panel,
        Stated(
            distinct=distinct,
            loss=result.loss,
            x=x,
            joint=joint,
            condition=condition,
            form=result.conditionals or "called_off",
        ),
    )
    problems = check_objective(result, distinct, near)
    check = check_bound if result.coherence == "global" else check_local_bound
    bound = check(result, distinct, near)
    wrong, unchecked = check_improvement(result, distinct, near, bound.believed, called_off=called_off)
    left = [*bound.unchecked, *unchecked, *indistinct(result, near)]
    return PartialCheck([*problems, *bound.problems, *wrong], bound.rests_on, left)
