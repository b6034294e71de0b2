"""The proof file, and the bound that each of its records proves.

JSON lines, UTF-8, gzipped or not; numbers are whole numbers only:

    {"format":"coherently-proof","version":1,"sha256":"..."}
    {"terms":[..],"ratios":[..],"bits":b,"laws":[..],"pins":[[id,price],..],"nodes":n}     one record per component,
    n lines, one for each node of its tree, a parent before its children, the first child with all below it first
    {"end":number of records}

A proof of other claims than that of a result has them in its first line, as "claims", and in each record the number of
its claim, as "claim" (see `stated_claims`); a linear function needs no ratios, which are 0.

Terms, laws and pins are numbered by appearance in the canonical form, variables by appearance in its formulas, laws
before forecasts. A ratio is in units of 2^-60 (of a linearised conditional it is the slope a, in units of 2^-b), a
price in units of 2^-b. A node is

    {"v":x,"c":[[states],..]}         split on x; one child per list of states
    {"e":[x,..]}                      leaf: eliminate in this order (R5)
    {"k":[[x,..],..],"m":[[a,b,[x,..],[..]],..]}    leaf: clusters, and messages from b to a (R6)
    {"s":[x,..],"p":[[law,price],..],"bytes":n}     leaf: a tree of signs (R7), the n bytes that follow the line

A node that splits may have "k", the clusters of leaves below that have only "m".
"""

from __future__ import annotations

import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from .check_errors import ProofRefusedError
from .forecast_files import unpacked
from .leaves import LARGE, ClusterTables, CostSum, States, WorkLeft, bound_by_elimination, cluster_tables, with_messages
from .loss_planes import LinearCost, LinearisedCost
from .numbers import rounded_down
from .posed_panel import PosedPanel, PosedPin, PosedTerm
from .sign_trees import TreeRule, sign_form
from .truth_functions import TruthFunction

FORM = {"format": "coherently-proof", "version": 1}
RATIO = 60
"""Binary digits after the point of ratios."""
LONGEST_LINE, LONGEST_TREE, LONGEST_FILE = 1 << 24, 1 << 28, 1 << 31
MOST_BITS, DEEPEST, LONGEST_INTEGER = 200, 2_000, 1_234
KINDS = {"e": "elimination", "m": "messages", "s": "semidefinite"}
LEAF_KEYS = {"e": {"e", "k"}, "m": {"m", "u", "k"}, "s": {"s", "p", "bytes"}}


class ProofLines:
    """The lines of a proof, one at a time, with the number of the last one, and bytes between them."""

    def __init__(self, source: Path | bytes, longest_file: int = LONGEST_FILE) -> None:
        self.number, self.left, self.source = 0, longest_file, source
        self.file: Any = io.BytesIO()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        source = self.source
        with _readable(), io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as packed:
            self.file = unpacked(packed)
            while line := self.file.readline(LONGEST_LINE + 1):
                self.number += 1
                self.left -= len(line)
                if len(line) > LONGEST_LINE or self.left < 0:
                    raise ProofRefusedError("the proof file is longer than allowed, or a line of it is")
                yield _object(line)

    def take(self, count: int) -> bytes:
        """The next bytes, which are no line."""
        self.left -= count
        with _readable():
            found = b"" if self.left < 0 else self.file.read(count)
        if len(found) < count:
            raise ProofRefusedError("the proof file is longer than allowed, or ends within a tree")
        return bytes(found)


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise ProofRefusedError(f"the proof file cannot be read: {error}") from None


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_int=_integer, parse_float=_no_number, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ProofRefusedError(f"this line is not as it should be: {error}") from None
    if not isinstance(found, dict):
        raise ProofRefusedError("a line of a proof is an object")
    return found


def _integer(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise ValueError("an integer has more than 4,096 bits")
    return int(text)


def _no_number(text: str) -> int:
    raise ValueError(f"{text[:40]} is not a whole number")


def listed(found: Any, what: str) -> list[Any]:
    """A list, of anything."""
    if not isinstance(found, list):
        raise ProofRefusedError(f"a list of {what} is missing")
    return found


def integers(found: Any, length: int | None = None) -> list[int]:
    """A list of integers, and nothing else."""
    numbers = listed(found, "whole numbers")
    if any(type(one) is not int for one in numbers):
        raise ProofRefusedError("a list of whole numbers is missing")
    if length is not None and len(numbers) != length:
        raise ProofRefusedError(f"a list has {len(numbers)} numbers instead of {length}")
    return numbers


def numbered(found: Any, below: int) -> list[int]:
    """A list of different numbers from 0 on."""
    ids = integers(found)
    if len(set(ids)) < len(ids) or any(not 0 <= one < below for one in ids):
        raise ProofRefusedError("a list of numbers repeats one, or names one that does not exist")
    return ids


def integer(found: Any, least: int, most: int) -> int:
    """One integer in a range."""
    if type(found) is not int or not least <= found <= most:
        raise ProofRefusedError(f"a whole number from {least} to {most} is missing")
    return found


@dataclass
class Goal:
    """A sum of `terms` that records bound from below, in all mixtures that keep `pins`, and what they have proved.

    A claim says that it is at least `least`, in `words`; `failed` says why a part of the claim does not hold that needs
    no record. The terms of a loss are never negative; of a linear function none may be left out.

    So far, no mixture that keeps the pins loses less than `value`; one that misses each pin by d may lose less, by
    `prices` times d. `leaves` counts records by their kinds, `unused` are the terms that no record has.
    """

    terms: Sequence[PosedTerm]
    pins: Sequence[PosedPin]
    linear: bool = False
    least: Fraction = Fraction(0)
    words: str = ""
    failed: str = ""
    value: Fraction = Fraction(0)
    prices: Fraction = Fraction(0)
    leaves: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.unused = {i for i, one in enumerate(self.terms) if one.settled is None}


GoalsOf: TypeAlias = Callable[[Any], Sequence[Goal]]
"""Turns the claims of the first line into goals; a file about a result has none there."""


class Checker:
    """Reads records, and adds up what they prove; each term may be used once.

    `signs` is what bounds trees of signs.
    """

    def __init__(self, panel: PosedPanel, work: WorkLeft, make: GoalsOf, signs: TreeRule) -> None:
        self.panel, self.work, self.make, self.signs = panel, work, make, signs
        self.goals, self.claimed = list[Goal](), False

    def proved(self, file: ProofLines) -> list[Goal]:
        """The goals of a file, with what it proves of them.

        Losses are never negative, so that leaving out a term or a law only lowers a bound: records need not be shown to
        be independent or complete, as long as no term is used twice.
        """
        try:
            self._read(iter(file), file)
        except ProofRefusedError as error:
            raise ProofRefusedError(str(error), file.number) from None
        return self.goals

    def _read(self, lines: Iterator[dict[str, Any]], file: ProofLines) -> None:
        first = next(lines, {})
        self.claimed = "claims" in first
        claims = first.pop("claims", None)
        if first != FORM | {"sha256": self.panel.digest}:
            raise ProofRefusedError("the proof is not of this format and version, or about another panel or other laws")
        self.goals = list(self.make(claims))
        for records, record in enumerate(lines):
            if record.keys() == {"end"}:
                integer(record["end"], records, records)
                if next(lines, None) is not None:
                    raise ProofRefusedError("there is more after the end")
                return
            self._record(record, lines, file)
        raise ProofRefusedError("the end is missing")

    def _record(self, record: dict[str, Any], lines: Iterator[dict[str, Any]], file: ProofLines) -> None:
        claim = integer(record.pop("claim", None) if self.claimed else 0, 0, len(self.goals) - 1)
        if record.keys() != {"terms", "ratios", "bits", "laws", "pins", "nodes"}:
            raise ProofRefusedError("a record has terms, ratios, bits, laws, pins and nodes")
        goal = self.goals[claim]
        total = PlaneSum(integer(record["bits"], 0, MOST_BITS))
        ids = numbered(record["terms"], len(goal.terms))
        if not goal.unused.issuperset(ids):
            raise ProofRefusedError("a term is used twice, or is settled by logic and counts already")
        goal.unused.difference_update(ids)
        for i, ratio in zip(ids, integers(record["ratios"], len(ids)), strict=True):
            total.add_term(goal.terms[i], ratio)
        for one in listed(record["pins"], "pins"):
            pin, price = integers(one, 2)
            total.add_pin(goal.pins[integer(pin, 0, len(goal.pins) - 1)], price)
        laws = numbered(record["laws"], len(self.panel.laws))
        whole = CostSum(self.panel.space, total.parts, [self.panel.laws[i] for i in laws])
        tree = ProofTree(whole, {law: i for i, law in enumerate(laws)}, self.work, file, signs=self.signs)
        bound = tree.least(integer(record["nodes"], 1, 1 << 30), lines)
        least = total.constant + Fraction(bound, 1 << total.bits)
        goal.value += least if goal.linear else max(Fraction(0), least)
        goal.prices += total.prices
        goal.leaves.update(tree.kinds())


class PlaneSum:
    """R1 and R2: the planes of terms and pins as one integer function of worlds, E / 2^bits + constant."""

    def __init__(self, bits: int) -> None:
        self.bits, self.parts = bits, dict[TruthFunction, int]()
        self.constant = self.prices = Fraction(0)

    def _add(self, function: TruthFunction, number: Fraction) -> None:
        """Add a number, rounded down, times [function]; what is constant is hardly rounded."""
        if function.constant is not None:
            self.constant += rounded_down(number) if function.constant else 0
        else:
            self.parts[function] = self.parts.get(function, 0) + (number.numerator << self.bits) // number.denominator

    def add_term(self, term: PosedTerm, hint: int) -> None:
        """R1, at a ratio or a slope."""
        if isinstance(term.cost, LinearisedCost | LinearCost):
            a, c, constant = term.cost.plane(Fraction(hint, 1 << self.bits))
            self.constant += rounded_down(constant)
        else:
            a, c = term.cost.plane(Fraction(integer(hint, 0, 1 << RATIO), 1 << RATIO))
        self._add(term.joint, a)
        self._add(term.condition, c)

    def add_pin(self, pin: PosedPin, price: int) -> None:
        """R2: answers that keep a pin lose at least what they lose minus y (u - e h), with y of the pin's sign."""
        end = pin.low if price > 0 else pin.high
        y = Fraction(price, 1 << self.bits)
        self.prices += abs(y)
        self._add(pin.joint, -y)
        self._add(pin.condition, y * end)


@dataclass(frozen=True)
class Branch:
    """What a node inherits: the states left, and clusters."""

    states: States
    depth: int
    clusters: ClusterTables | None = None


class ProofTree:
    """R3 and R4: the least value of E over worlds is the least over branches that cover all of them."""

    def __init__(self, total: CostSum, laws: dict[int, int], work: WorkLeft, file: ProofLines, signs: TreeRule) -> None:
        self.total, self.laws, self.work, self.file, self.signs = total, laws, work, file, signs
        self.seen = set[str]()

    def kinds(self) -> list[str]:
        """The kinds of its leaves."""
        return sorted(KINDS[kind] for kind in self.seen)

    def least(self, nodes: int, lines: Iterator[dict[str, Any]]) -> int:
        """Read nodes in preorder; the number below E that they prove."""
        waiting, found = [Branch(self.total.states(), 0)], list[int]()
        for _ in range(nodes):
            if not waiting:
                raise ProofRefusedError("a tree has nodes that belong to no branch")
            node = next(lines, None)
            if node is None:
                raise ProofRefusedError("the proof ends within a tree")
            branch = self._inherit(waiting.pop(), node)
            if "v" in node:
                waiting += reversed(self._split(node, branch))
            else:
                found.append(self._leaf(node, branch))
        if waiting:
            raise ProofRefusedError("a tree has branches without a leaf")
        return min(found)

    def _inherit(self, branch: Branch, node: dict[str, Any]) -> Branch:
        """A node's own clusters, and messages between them."""
        clusters = branch.clusters
        if "k" in node:
            scopes = [tuple(integers(one)) for one in listed(node["k"], "clusters")]
            clusters = cluster_tables(self.total, scopes, branch.states, self.work)
        if "m" in node:
            if clusters is None or not isinstance(node["m"], list):
                raise ProofRefusedError("messages without clusters")
            shift = integer(node.get("u", 0), 0, MOST_BITS)
            clusters = with_messages(clusters, list(map(_message, node["m"])), shift, self.work)
        return replace(branch, clusters=clusters)

    def _split(self, node: dict[str, Any], branch: Branch) -> list[Branch]:
        """R4: the children's states must cover those that are left to the variable."""
        space, children = self.total.space, node.get("c")
        x = integer(node["v"], 0, len(space.variables) - 1)
        is_split = node.keys() <= {"v", "c", "k", "m", "u"} and isinstance(children, list)
        if not is_split or branch.depth >= DEEPEST:
            raise ProofRefusedError("a split has v and c, and is not too deep")
        several, size = list(map(integers, listed(children, "states"))), space.variables[x].size
        if len(several) > size:
            raise ProofRefusedError("a split has more branches than its variable has states")
        left = branch.states.get(x, tuple(range(size)))
        if not set(left) <= {state for states in several for state in states}:
            raise ProofRefusedError("the branches of a split do not cover all states of its variable")
        found, clusters = [], branch.clusters
        for named in map(frozenset, several):
            kept = tuple(state for state in left if state in named)
            below = clusters and clusters.within(x, kept, self.work)
            found.append(Branch({**branch.states, x: kept}, branch.depth + 1, below))
        return found

    def _leaf(self, node: dict[str, Any], branch: Branch) -> int:
        kind = next((kind for kind in KINDS if kind in node), "")
        if not kind or not node.keys() <= LEAF_KEYS[kind]:
            raise ProofRefusedError("a node is a split, or a leaf of one of three kinds")
        self.seen.add(kind)
        tree = self.file.take(integer(node.get("bytes"), 1, LONGEST_TREE)) if kind == "s" else b""
        if any(not states for states in branch.states.values()):
            return LARGE
        if kind == "s":
            return self._of_signs(node, tree, branch.states)
        if kind == "e":
            return bound_by_elimination(self.total, integers(node["e"]), branch.states, self.work)
        assert branch.clusters is not None
        self.work.spend(sum(map(len, branch.clusters.tables)))
        return branch.clusters.least()

    def _of_signs(self, node: dict[str, Any], tree: bytes, states: States) -> int:
        """R7: variables with two states have signs, -1 in the first one and 1 in the second."""
        variables = numbered(node["s"], len(self.total.space.variables))
        prices = [integers(one, 2) for one in listed(node.get("p"), "prices of laws")]
        if any(law not in self.laws for law, _ in prices):
            raise ProofRefusedError("a tree of signs has prices of laws of its record")
        form = sign_form(self.total, variables, {self.laws[law]: price for law, price in prices})
        left = [states.get(v, (0, 1)) for v in variables]
        return self.signs(form, [0 if len(one) == 2 else 2 * one[0] - 1 for one in left], tree, self.work)


def _message(found: Any) -> tuple[int, int, list[int], list[int]]:
    if not isinstance(found, list) or len(found) != 4 or type(found[0]) is not int or type(found[1]) is not int:
        raise ProofRefusedError("a message has two clusters, variables and values")
    return found[0], found[1], integers(found[2]), integers(found[3])
