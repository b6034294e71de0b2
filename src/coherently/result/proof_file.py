"""Writing the proof of a result: hints for the checker, `coherently.proofcheck`, which trusts none of them.

The panel is read by the checker's own reader (`written_panel`), because the file names terms, laws, pins and variables
by its numbers. Terms, laws and pins that share variables are one record. A component with small tables is
eliminated (R5); one whose bound was proved over clusters has the forces of that proof as messages (R6).
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coherently.errors import MethodError
from coherently.panel.canonical import canonical_text
from coherently.problem import Log
from coherently.proofcheck.check_errors import BadInputError, ProofRefusedError
from coherently.proofcheck.claimed_mixture import WorldMixture
from coherently.proofcheck.forecast_files import canonical_lines
from coherently.proofcheck.language import normal, read_event
from coherently.proofcheck.leaves import CostSum, WorkLeft
from coherently.proofcheck.loss_planes import (
    KNOWN_LOSSES,
    IntervalCost,
    LinearCost,
    LinearisedCost,
    LossRule,
    MergedCost,
)
from coherently.proofcheck.posed_panel import PosedPanel
from coherently.proofcheck.proof_records import FORM, RATIO, Goal, PlaneSum
from coherently.result.written_clusters import cluster_nodes, grid_digits
from coherently.result.written_panel import written_panel
from coherently.result.written_signs import excess_digits, sign_leaf
from coherently.solve import Global
from coherently.solve.solution import ClusterTree, SignTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.proofcheck.posed_panel import PosedPin, PosedTerm
    from coherently.proofcheck.truth_functions import Literal, TruthFunction
    from coherently.result.result import Result
    from coherently.solve.solution import BoundHints, ClusterForces

FIRST_BITS = 36
"""Binary digits of coefficients for one term; each doubling of the terms has one more."""
LARGEST_STEP, MOST_WORK = 2**20, 2**23
"""Maximum number of cells of one table, and of all tables, of a component that is eliminated."""
QUICK_WORK = 2**16
"""The same of a component whose bound was proved over clusters, which are quicker to check."""
QUICK_BESIDE_TREE = 2**21
"""The same of a component that has a tree of signs."""
LARGEST_CLUSTER = 2**14
"""Maximum number of states of a cluster that is written."""
LONG = 2**20
"""Number of bytes above which a proof is packed quickly, or not at all if it has matrices, which stay as long."""


@dataclass(frozen=True, slots=True)
class ConnectedTerms:
    """Terms, laws and pins that share variables, by their numbers in the checker's panel."""

    terms: list[int] = field(default_factory=list)
    laws: list[int] = field(default_factory=list)
    pins: list[int] = field(default_factory=list)


class TouchingPoints(Protocol):
    """Where planes touch the losses."""

    def at(self, term: PosedTerm) -> tuple[float | Fraction, float | Fraction, float | Fraction]:
        """P(E & H), P(H), and the ratio of the two, for the side of the term."""

    def price(self, pin: int) -> float:
        """The price of a pin, by its number."""

    def is_other_side(self, term: PosedTerm) -> bool:
        """Whether the solver has ~E & H where the checker has E & H."""


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
    else:
        panel = written_panel(result, digest)
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
    parts = [part for part in connected(panel, goal, points) if part.terms]
    return [_record(panel, goal, part, points, forms=forms, more=more) for part in parts]


def packed(first: dict[str, Any], lines: Sequence[bytes], *, matrices: bool = False) -> bytes:
    """The bytes of a proof with these records, among them perhaps matrices."""
    whole = b"".join([_line(first), *lines, _line({"end": len(lines)})])
    level = 6 if len(whole) <= LONG else 0 if matrices else 3  # 9 takes thrice as long for 1% less
    return gzip.compress(whole, level, mtime=0)


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


class LateLoss(LossRule):
    """A loss whose forecasts are merged when somebody asks for a plane, which few components need."""

    def merged(self, forecasts: list[tuple[Fraction, Fraction]]) -> MergedCost:
        """Forecasts, each with its weight, as one."""
        return LateCost(self, forecasts)  # type: ignore[return-value]


@dataclass(slots=True)
class LateCost:
    """Forecasts that are not merged yet."""

    loss: LossRule
    forecasts: list[tuple[Fraction, Fraction]]

    def plane(self, r: Fraction) -> tuple[Fraction, Fraction]:
        """Numbers below a and c of the plane at r."""
        return LossRule.merged(self.loss, self.forecasts).plane(r)


class AnswerPoints:
    """Planes touch at the answer itself."""

    def __init__(self, mixture: WorldMixture) -> None:
        self.mixture = mixture

    def at(self, term: PosedTerm) -> tuple[Fraction, Fraction, Fraction]:
        """P(E & H), P(H), and the ratio of the two; one half if the condition is impossible."""
        u, h = self.mixture.probability(term.joint), self.mixture.probability(term.condition)
        return u, h, u / h if h else Fraction(1, 2)

    def price(self, pin: int) -> float:  # noqa: ARG002
        """No prices are known."""
        return 0.0

    def is_other_side(self, term: PosedTerm) -> bool:  # noqa: ARG002
        """Without forces it does not matter."""
        return False


class HintedPoints:
    """Planes touch where the last bound of each component was proved."""

    def __init__(self, result: Result, hints: BoundHints, pins: Sequence[PosedPin] = ()) -> None:
        self.problem, self.hints = result.problem, hints
        self.unit = {normal(text): i for i, text in enumerate(result.panel.written.text)}
        given = self.problem.merged.terms.conditionals
        self.mean = given.mean
        self.joint, self.condition = (side.probability(hints.x) for side in (given.joint, given.condition))
        self.mass = np.append(hints.mass, 0.0)[given.joint.coordinate]
        texts, first = result.panel.laws.pins.text, {one.text: i for i, one in reversed(list(enumerate(pins)))}
        self.prices = dict[int, float]()
        for pin, price in hints.price.items():  # a pin that is stated twice has its price once
            place = first[normal(texts[pin])]
            self.prices[place] = self.prices.get(place, 0.0) + price * hints.unit

    def at(self, term: PosedTerm) -> tuple[float, float, float]:
        """P(E & H), P(H), and their ratio, smoothed by the mass as the bound was (see `Objective`)."""
        unit = self.unit[term.text]
        i, turned = int(self.problem.coordinate[unit]), bool(self.problem.complemented[unit]) != term.turned
        if not self.problem.conditional[unit]:
            x = float(self.hints.x[i])
            x = 1.0 - x if turned else x
            return x, 1.0, x
        u, h, mass = float(self.joint[i]), float(self.condition[i]), float(self.mass[i])
        u = h - u if turned else u
        middle = 1.0 - float(self.mean[i]) if turned else float(self.mean[i])
        if isinstance(term.cost, IntervalCost):
            middle = float(term.cost.low + term.cost.high) / 2
        return u, h, (u + mass * middle) / (h + mass) if h + mass > 0 else middle

    def price(self, pin: int) -> float:
        """The price of a pin in the last bound of its component."""
        return self.prices.get(pin, 0.0)

    def is_other_side(self, term: PosedTerm) -> bool:
        """Whether a conditional is turned."""
        unit = self.unit[term.text]
        return bool(self.problem.conditional[unit]) and bool(self.problem.complemented[unit]) != term.turned


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
    more: dict[str, int],
) -> bytes:
    """The lines of one component."""
    terms = goal.terms
    bits = FIRST_BITS + len(part.terms).bit_length()
    functions = [one for i in part.terms for one in (terms[i].joint, terms[i].condition)]
    functions += [one for i in part.pins for one in (goal.pins[i].joint, goal.pins[i].condition)]
    functions += [panel.laws[i] for i in part.laws]
    order, cost = elimination_order(panel, [one for one in functions if one.scope])
    leaf: dict[str, Any] = {"e": order if cost <= MOST_WORK else []}
    known = next((forms.forces[v] for one in functions for v in one.scope if v in forms.forces), None)
    tree = next((forms.trees[v] for one in functions for v in one.scope if v in forms.trees), None)
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
    ratios = [_hint(terms[i], points, bits) for i in part.terms]
    if cost > QUICK_WORK and known is not None and not rest and not lines:
        told = [(terms[i], hint) for i, hint in zip(part.terms, ratios, strict=True)]
        leaf = known.leaf(panel, bits, [one for one in told if points.is_other_side(one[0])])
    pins = _pin_prices(goal, part, points, bits)
    head = {"terms": part.terms, "ratios": ratios, "bits": bits, "laws": part.laws, "pins": pins}
    lines = lines or [leaf]
    return _line(more | head | {"nodes": len(lines)}) + b"".join(map(_line, lines)) + rest


def _pin_prices(goal: Goal, part: ConnectedTerms, points: TouchingPoints, bits: int) -> list[list[int]]:
    priced = [(i, round(points.price(i) * 2**bits)) for i in part.pins]
    signed = [(i, _signed(price, low=goal.pins[i].low > 0, high=goal.pins[i].high < 1)) for i, price in priced]
    return [[i, price] for i, price in signed if price]


def _planes(panel: PosedPanel, goal: Goal, part: ConnectedTerms, points: TouchingPoints, bits: int) -> CostSum:
    """The sum that the checker will make of a record."""
    total, terms = PlaneSum(bits), goal.terms
    for i in part.terms:
        total.add_term(terms[i], _hint(terms[i], points, bits))
    for pin, price in _pin_prices(goal, part, points, bits):
        total.add_pin(goal.pins[pin], price)
    return CostSum(panel.space, total.parts, [panel.laws[i] for i in part.laws])


def _hint(term: PosedTerm, points: TouchingPoints, bits: int) -> int:
    """The ratio in units of 2^-60; of a linearised conditional the slope in units of 2^-bits."""
    if isinstance(term.cost, LinearCost):
        return 0
    u, h, ratio = points.at(term)
    if isinstance(term.cost, LinearisedCost):
        low, high, weight = (Fraction(one) for one in (term.cost.low, term.cost.high, term.cost.weight))
        away = min(Fraction(u) - low * Fraction(h), Fraction(0)) + max(Fraction(u) - high * Fraction(h), Fraction(0))
        return int(2 * weight * away * (1 << bits))
    return min(max(int(Fraction(ratio) * (1 << RATIO)), 0), 1 << RATIO)


def _slope(term: PosedTerm, hint: int, bits: int) -> int:
    """The coefficient of a term's event that the checker will use, on its grid."""
    scale = bits if isinstance(term.cost, LinearisedCost) else RATIO
    a = term.cost.plane(Fraction(hint, 1 << scale))[0]
    return (a.numerator << bits) // a.denominator


def _signed(price: int, *, low: bool, high: bool) -> int:
    """A price of the right sign: what rounding turns round is 0."""
    return max(price, 0) if not high else min(price, 0) if not low else price


def elimination_order(panel: PosedPanel, functions: Iterable[TruthFunction]) -> tuple[list[int], int]:
    """An order in which tables stay small, and the number of cells of all tables; counts are keys of their own.

    Next is always the variable whose elimination leaves the smallest table.
    """
    near: dict[int, set[frozenset[Any]]] = {}
    for one in functions:
        keys = frozenset([frozenset(one.count.literals)] if one.count is not None else one.scope)
        for v in one.scope:
            near.setdefault(v, set()).add(keys)
    cost = {v: _cells(panel, _left(near[v], v)) for v in near}
    order, total, largest = [], 0, 0
    while near:
        v = min(cost, key=lambda one: (cost[one], one))
        order.append(v)
        largest = max(largest, cost[v])
        total += cost.pop(v) * panel.space.variables[v].size
        touched = near.pop(v)
        keys = _left(touched, v)
        for other in {w for scope in touched for key in scope for w in _members(key)} - {v}:
            near[other] = {scope for scope in near[other] if scope not in touched} | {keys}
            cost[other] = _cells(panel, _left(near[other], other))
    return order, total if largest <= LARGEST_STEP else MOST_WORK + 1


def _members(key: Any) -> list[int]:
    """The variables of a key: one, or those of a count."""
    return [key] if isinstance(key, int) else [v for v, _ in key]


def _left(scopes: Iterable[frozenset[Any]], v: int) -> frozenset[Any]:
    """The keys of the table that is left when a variable of all these scopes is eliminated."""
    keys = {
        key if isinstance(key, int) else frozenset(one for one in key if one[0] != v) for own in scopes for key in own
    }
    return frozenset(key for key in keys if key not in (v, frozenset()))


def _cells(panel: PosedPanel, keys: Iterable[Any]) -> int:
    cells = 1
    for key in keys:
        cells *= panel.space.variables[key].size if isinstance(key, int) else len(key) + 1
    return cells


@dataclass(frozen=True, slots=True)
class WrittenForces:
    """Clusters of the checker's variables, and forces on functions in them: cluster, scope, table of truth, force."""

    scopes: list[tuple[int, ...]]
    forces: list[tuple[int, tuple[int, ...], list[int], float]]

    def leaf(self, panel: PosedPanel, bits: int, other_sides: Sequence[tuple[PosedTerm, int]]) -> dict[str, Any]:
        """A function belongs to the first cluster that contains it; messages bring each other cluster its force.

        The checker may hold ~E & H where forces are about E & H. As [~E & H] = [H] - [E & H], its coefficient times [H]
        goes on to the cluster of H.
        """
        containing: dict[int, set[int]] = {}
        for number, scope in enumerate(self.scopes):
            for v in scope:
                containing.setdefault(v, set()).add(number)
        messages: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}

        def home(scope: Iterable[int]) -> int:
            return min(set.intersection(*(containing[v] for v in scope)))

        def send(to: int, come: int, scope: tuple[int, ...], truth: Sequence[int], amount: int) -> None:
            if to != come:
                values = messages.setdefault((to, come, scope), [0] * panel.space.cells(scope))
                for place, holds in enumerate(truth):
                    values[place] += amount * holds

        for cluster, scope, truth, force in self.forces:
            send(cluster, home(scope), scope, truth, round(force * 2**bits))
        for term, hint in other_sides:
            scope, mask = term.condition.scope, term.condition.mask
            if mask is not None and set(scope) <= set(term.joint.scope):
                truth = [mask >> place & 1 for place in range(panel.space.cells(scope))]
                send(home(scope), home(term.joint.scope), scope, truth, _slope(term, hint, bits))
        told = [[a, b, list(scope), values] for (a, b, scope), values in messages.items() if any(values)]
        return {"k": [list(scope) for scope in self.scopes], "m": told}


@dataclass(frozen=True, slots=True)
class WrittenTree:
    """A tree over signs or clusters, its variables as the checker's literals, and the unit of its numbers."""

    tree: SignTree | ClusterTree
    literals: list[Literal]
    unit: float


@dataclass(frozen=True, slots=True)
class WrittenForms:
    """Forces over clusters, and trees over signs, by each of the variables of their components."""

    forces: dict[int, WrittenForces] = field(default_factory=dict)
    trees: dict[int, WrittenTree] = field(default_factory=dict)


def written_forms(result: Result, panel: PosedPanel, hints: BoundHints | None) -> WrittenForms:
    """The forces and the trees of hints."""
    if hints is None:
        return WrittenForms()
    return WrittenForms(_forces(result, panel, hints), _trees(result, panel, hints))


def _trees(result: Result, panel: PosedPanel, hints: BoundHints) -> dict[int, WrittenTree]:
    """The trees over signs or clusters, by each of the variables of their components."""
    if not hints.trees or result.worlds is None:
        return {}
    names, found = result.worlds.names, dict[int, WrittenTree]()
    for tree in hints.trees:
        literals = [_literal(panel, names[v]) for v in tree.origin.tolist()]
        found |= dict.fromkeys((v for v, _ in literals), WrittenTree(tree, literals, hints.unit))
    return found


def _forces(result: Result, panel: PosedPanel, hints: BoundHints) -> dict[int, WrittenForces]:
    """The forces over clusters, by each of the variables of their components."""
    if not hints.forces or result.worlds is None:
        return {}
    names, found = result.worlds.names, dict[int, WrittenForces]()
    for forces in hints.forces:
        literals = [_literal(panel, names[v]) for v in forces.whole.origin.tolist()]
        written = _written(panel, forces, literals, hints.unit)
        if written is not None:
            found |= {literal[0]: written for literal in literals}
    return found


def _literal(panel: PosedPanel, text: str) -> Literal:
    """A Boolean variable of the solver, a name or a comparison, as a literal of the checker's variable."""
    step = read_event(text)[0][0]
    variable = panel.space.number[str(step[1])]
    if step[0] == "variable":
        return variable, frozenset((1,))
    return variable, panel.space.variables[variable].states_where(step[2], step[3])


def _written(
    panel: PosedPanel, forces: ClusterForces, literals: Sequence[Literal], unit: float
) -> WrittenForces | None:
    """Forces on coordinates as forces on tables; None if a cluster is too large for that."""
    groups, tables = forces.groups, dict[int, tuple[tuple[int, ...], list[int]]]()
    scopes, told = list[tuple[int, ...]](), list[tuple[int, tuple[int, ...], list[int], float]]()
    strength = unit * np.asarray(forces.forces)
    for group in range(len(groups)):
        members = range(int(groups.starts[group]), int(groups.starts[group + 1]))
        own = []
        for place in members:
            coordinate = int(groups.members[place])
            if coordinate not in tables:
                tables[coordinate] = _table(panel, forces, coordinate, literals)
            scope, truth = tables[coordinate]
            if scope:
                own.append((len(scopes), scope, truth, float(strength[place])))
        cluster = tuple(sorted({v for _, scope, _, _ in own for v in scope}))
        if panel.space.cells(cluster) > LARGEST_CLUSTER:
            return None
        scopes.append(cluster)
        told += own
    return WrittenForces(scopes, told)


def _table(
    panel: PosedPanel, forces: ClusterForces, coordinate: int, literals: Sequence[Literal]
) -> tuple[tuple[int, ...], list[int]]:
    """A coordinate as a table over the checker's variables, the last one fastest."""
    functions = forces.whole.functions
    own = [literals[v] for v in functions.of(coordinate).tolist()]
    bits, scope = functions.decoded(coordinate)[1], tuple(sorted({v for v, _ in own}))
    worlds: list[dict[int, int]] = [{}]
    for v in scope:
        worlds = [{**world, v: state} for world in worlds for state in range(panel.space.variables[v].size)]
    places = [sum((world[v] in states) << i for i, (v, states) in enumerate(own)) for world in worlds]
    return scope, [int(bits[place]) for place in places]
