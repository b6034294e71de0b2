"""Writing the proof of a result: hints for the checker, `coherently.proofcheck`, which trusts none of them.

The file names terms, laws, pins and variables by the checker's numbers. `numbered_panel` has them from what the core
has read; the checker's own reader is asked where the answer itself is the hint (`written_panel`), or there are trees.
Terms, laws and pins that share variables are one record. A component with small tables is eliminated (R5); one whose
bound was proved over clusters has the forces of that proof as messages (R6).
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from coherently.errors import MethodError
from coherently.panel.canonical import canonical_text
from coherently.problem import Log
from coherently.proofcheck.check_errors import BadInputError, ProofRefusedError
from coherently.proofcheck.claimed_mixture import WorldMixture
from coherently.proofcheck.forecast_files import canonical_lines
from coherently.proofcheck.leaves import CostSum, WorkLeft
from coherently.proofcheck.loss_planes import KNOWN_LOSSES
from coherently.proofcheck.posed_panel import PosedPanel
from coherently.proofcheck.proof_records import FORM, Goal, PlaneSum
from coherently.result.elimination_orders import MOST_WORK, EliminationOrders
from coherently.result.numbered_panel import NumberedPanel
from coherently.result.touching_points import AnswerPoints, HintedPoints, LateLoss, hint
from coherently.result.written_clusters import cluster_nodes, grid_digits
from coherently.result.written_forces import WrittenForms, written_forms
from coherently.result.written_panel import written_panel
from coherently.result.written_signs import excess_digits, sign_leaf
from coherently.solve import Global
from coherently.solve.solution import ClusterTree, SignTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.proofcheck.truth_functions import TruthFunction
    from coherently.result.result import Result
    from coherently.result.touching_points import TouchingPoints

T = TypeVar("T")

FIRST_BITS = 36
"""Binary digits of coefficients for one term; each doubling of the terms has one more."""
QUICK_WORK = 2**16
"""The same of a component whose bound was proved over clusters, which are quicker to check."""
QUICK_BESIDE_TREE = 2**21
"""The same of a component that has a tree of signs."""
LONG = 2**20
"""Number of bytes above which a proof is packed quickly, or not at all if it has matrices, which stay as long."""


@dataclass(frozen=True, slots=True)
class ConnectedTerms:
    """Terms, laws and pins that share variables, by their numbers in the checker's panel."""

    terms: list[int] = field(default_factory=list)
    laws: list[int] = field(default_factory=list)
    pins: list[int] = field(default_factory=list)


def write_proof(result: Result) -> bytes:
    """The proof of a result as the bytes of a file."""
    try:
        return _written_proof(result)
    except (BadInputError, ProofRefusedError) as error:  # what the checker would not read need not be written
        raise MethodError(f"the checker of proofs cannot read this panel: {error}") from None


def _written_proof(result: Result) -> bytes:
    solution, digest, loss = result.solution, result.panel_sha256, result.loss
    if not isinstance(solution, Global) or result.worlds is None or getattr(result.method, "tolerance", None) is None:
        raise MethodError(
            f"the method {result.method.name} claims no optimum over possible worlds, so there is nothing to prove: "
            "choose exact, or auto for a panel of at most 20,000 events"
        )
    if loss.name not in KNOWN_LOSSES:
        raise MethodError("a loss of your own cannot be proved: the checker would have to trust its code")
    if digest is None or result.claimed is not None:
        raise MethodError("a proof needs the forecasts themselves: aggregate the panel again, with proof=True")
    hints = solution.hints
    if hints is not None and hints.trees:  # the forms of trees are those of all forecasts, to the last digit
        panel = PosedPanel(canonical_lines(canonical_text(result.panel).decode("utf-8", "surrogatepass")))
    elif hints is None:
        panel = written_panel(result, digest)
    else:
        panel = NumberedPanel(result, digest)
    clip = Fraction(repr(loss.clip)) if isinstance(loss, Log) else Fraction(0)
    terms = panel.terms(LateLoss(loss.name, clip, result.conditionals == "linearised"), WorkLeft())
    if hints is None:
        points: TouchingPoints = AnswerPoints(WorldMixture(panel.space, result.as_dict()["worlds"]))
    else:
        points = HintedPoints(result, hints, panel.pins)
    forms = written_forms(result, panel, hints)
    written = records(panel, Goal(terms, panel.pins), points, forms)
    matrices = hints is not None and any(isinstance(tree, SignTree) for tree in hints.trees)
    return packed(FORM | {"sha256": panel.digest}, written, matrices=matrices)


def records(panel: PosedPanel, goal: Goal, points: TouchingPoints, forms: WrittenForms, **more: int) -> list[bytes]:
    """The records of a goal: one for each component with terms. `more` is written in each."""
    orders = EliminationOrders(panel.space)
    parts = [part for part in connected(panel, goal, points) if part.terms]
    return [_record(panel, goal, part, points, forms=forms, orders=orders, more=more) for part in parts]


def packed(first: dict[str, Any], lines: Sequence[bytes], *, matrices: bool = False) -> bytes:
    """The bytes of a proof with these records, among them perhaps matrices."""
    whole = b"".join([_line(first), *lines, _line({"end": len(lines)})])
    level = 6 if len(whole) <= LONG else 0 if matrices else 3  # 9 takes thrice as long for 1% less
    return gzip.compress(whole, level, mtime=0)


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def _lines_of_numbers(told: Sequence[dict[str, Any]]) -> bytes:
    """Lines of words with whole numbers and lists of them, which Python prints as JSON but for blanks and quotes."""
    return "\n".join([*map(str, told), ""]).replace(" ", "").replace("'", '"').encode()


def connected(panel: PosedPanel, goal: Goal, points: TouchingPoints) -> list[ConnectedTerms]:
    """Terms, laws and priced pins by the variables that they share; settled terms need no proof."""
    parent: dict[int, int] = {}

    def find(v: int) -> int:
        while parent.setdefault(v, v) != v:
            parent[v] = v = parent[parent[v]]
        return v

    several = {
        "terms": [(*one.joint.scope, *one.condition.scope) for one in goal.terms],
        "laws": [one.scope for one in panel.laws],
        "pins": [(*one.joint.scope, *one.condition.scope) * bool(points.price(i)) for i, one in enumerate(goal.pins)],
    }
    for scope in (scope for scopes in several.values() for scope in scopes):
        for v in scope[1:]:
            parent[find(v)] = find(scope[0])
    parts: dict[int, ConnectedTerms] = {}
    for kind, scopes in several.items():
        for i, scope in enumerate(scopes):
            if scope:
                getattr(parts.setdefault(find(scope[0]), ConnectedTerms()), kind).append(i)
    return list(parts.values())


def _record(
    panel: PosedPanel,
    goal: Goal,
    part: ConnectedTerms,
    points: TouchingPoints,
    forms: WrittenForms,
    orders: EliminationOrders,
    more: dict[str, int],
) -> bytes:
    """The lines of one component."""
    terms = goal.terms
    bits = FIRST_BITS + len(part.terms).bit_length()
    functions = [one for i in part.terms for one in (terms[i].joint, terms[i].condition)]
    functions += [one for i in part.pins for one in (goal.pins[i].joint, goal.pins[i].condition)]
    functions += [panel.laws[i] for i in part.laws]
    order, cost = orders.of(functions)
    leaf: dict[str, Any] = {"e": order if cost <= MOST_WORK else []}
    known, tree = _of_component(forms.forces, functions), _of_component(forms.trees, functions)
    rest, lines = b"", list[dict[str, Any]]()
    if cost > QUICK_BESIDE_TREE and tree is not None:
        kind = tree.tree
        if isinstance(kind, ClusterTree):
            bits = grid_digits(kind, tree.unit)
            factor = kind.scale * tree.unit * 2**bits
            lines = cluster_nodes(panel.space, kind, tree.literals, factor) or []
        else:
            bits -= excess_digits(kind, tree.unit, bits)
            total = _planes(panel, goal, part, points, bits=bits)
            factor = kind.scale * tree.unit * 2**bits
            leaf, rest = sign_leaf(total, part.laws, kind, tree.literals, factor=factor) or (leaf, b"")
    ratios = [hint(terms[i], points, bits) for i in part.terms]
    if cost > QUICK_WORK and known is not None and not rest and not lines:
        told = [(terms[i], ratio) for i, ratio in zip(part.terms, ratios, strict=True)]
        leaf = known.leaf(panel, bits, [one for one in told if points.is_other_side(one[0])])
    pins = _pin_prices(goal, part, points, bits)
    lines = lines or [leaf]
    head = {"terms": part.terms, "ratios": ratios, "bits": bits, "laws": part.laws, "pins": pins, "nodes": len(lines)}
    return _lines_of_numbers([more | head, *lines]) + rest


def _of_component(known: Mapping[int, T], functions: Sequence[TruthFunction]) -> T | None:
    """What is known of the component of some functions, by any of its variables."""
    return next((known[v] for one in functions for v in one.scope if v in known), None) if known else None


def _pin_prices(goal: Goal, part: ConnectedTerms, points: TouchingPoints, bits: int) -> list[list[int]]:
    priced = [(i, round(points.price(i) * 2**bits)) for i in part.pins]
    signed = [(i, _signed(price, low=goal.pins[i].low > 0, high=goal.pins[i].high < 1)) for i, price in priced]
    return [[i, price] for i, price in signed if price]


def _planes(panel: PosedPanel, goal: Goal, part: ConnectedTerms, points: TouchingPoints, bits: int) -> CostSum:
    """The sum that the checker will make of a record."""
    total, terms = PlaneSum(bits), goal.terms
    for i in part.terms:
        total.add_term(terms[i], hint(terms[i], points, bits))
    for pin, price in _pin_prices(goal, part, points, bits):
        total.add_pin(goal.pins[pin], price)
    return CostSum(panel.space, total.parts, [panel.laws[i] for i in part.laws])


def _signed(price: int, *, low: bool, high: bool) -> int:
    """A price of the right sign: what rounding turns round is 0."""
    return max(price, 0) if not high else min(price, 0) if not low else price
