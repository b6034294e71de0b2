"""Proofs of books, and of how far forecasts are from coherent ones, for the independent checker.

The mixtures and the planes are those of an aggregation of the bets, each of weight 1: where it loses nothing, no bets
win for sure.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import MethodError
from coherently.explain.bets.bets import bets_at_forecasts, bets_at_means, decimal, usable
from coherently.panel.weights import with_weights
from coherently.proofcheck.check_errors import BadInputError, ProofRefusedError
from coherently.proofcheck.claimed_mixture import loss_above
from coherently.proofcheck.language import normal
from coherently.proofcheck.leaves import WorkLeft
from coherently.proofcheck.stated_claims import ClaimReader
from coherently.result import aggregate
from coherently.result.claim_proofs import LinearPoints, WrittenClaim, claims_file, exact_number, posed, written_number
from coherently.result.touching_points import AnswerPoints, HintedPoints
from coherently.result.written_forces import written_forms
from coherently.solve import Exact, Global

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.dutch import Book
    from coherently.panel import Panel
    from coherently.panel.weights import Weights
    from coherently.result import Result

LOOSER = 1e-6
"""By which part of it a distance is claimed less; a mixture that misses a price by this much prices nothing."""
ROUGH = 1e-8
"""Distances below this are not told from 0."""
PRECISE = Exact(tolerance=1e-20)
"""Prices of a mixture are those of coherent forecasts to 1e-10."""
ALL = ""
"""The bets of all judges, in claims; None are those at the panel's means."""


def book_proof(book: Book, panel: Panel, weights: Weights | None = None) -> bytes:
    """A proof that a book wins what it says in every world, or that no bets of 1 in total win more than 1e-9."""
    panel, _ = with_weights(panel, weights)
    with _readable():
        reader = ClaimReader(posed(panel), None, WorkLeft())
        return claims_file(reader, [_book_claim(book, panel, reader)])


def check_proof(judges: Sequence[str], book: Book, panel: Panel, weights: Weights | None = None) -> bytes:
    """A proof of how far the forecasts of judges, and the panel's means, are from coherent ones, and of a book."""
    panel, _ = with_weights(panel, weights)
    offered, _ = usable(panel)
    asked: list[str | None] = [None, *judges] if len(offered.judges) > 1 else [*judges]
    with _readable():
        reader = ClaimReader(posed(panel), None, WorkLeft())
        claims = [_distance(reader, of, _bets(offered, of)) for of in asked]
        return claims_file(reader, [*claims, _book_claim(book, panel, reader)])


def _book_claim(book: Book, panel: Panel, reader: ClaimReader) -> WrittenClaim:
    offered, _ = usable(panel)
    if any(isinstance(key, tuple) for key in book.prices):
        of: str | None = ALL
    else:
        of = normal(offered.judges[0]) if len(offered.judges) == 1 else None
    costs = {
        "of": of,
        "fee": exact_number(decimal(book.terms.fee)),
        "spread": exact_number(decimal(book.terms.spread)),
    }
    return _book(book, reader, costs) if book else _no_book(book, reader, costs, _bets(offered, of))


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (BadInputError, ProofRefusedError) as error:
        raise MethodError(f"the checker of proofs cannot read this panel: {error}") from None


def _bets(panel: Panel, of: str | None) -> Bets:
    """The bets of a claim."""
    if of is None:
        return bets_at_means(panel)
    return bets_at_forecasts(panel if of == ALL or len(panel.judges) == 1 else panel.judge(of))


def _book(book: Book, reader: ClaimReader, costs: dict[str, Any]) -> WrittenClaim:
    """The claim of a book, with the checker's numbers of its bets."""
    offers = reader.offers(costs["of"])
    left, stakes = list(range(len(offers))), list[list[Any]]()
    for bet in book.bets:
        judge = normal(bet.key[0]) if isinstance(bet.key, tuple) else None
        alike = [i for i in left if offers[i].text == normal(bet.event) and judge in (None, offers[i].judge)]
        place = next((i for i in alike if offers[i].price(bet.stake, decimal(book.terms.spread)) == bet.price), None)
        if place is None:
            raise MethodError(f"the book is not about this panel: nobody offers a bet on {bet.event!r} at {bet.price}")
        left.remove(place)
        stakes.append([place, exact_number(bet.stake)])
    told = {"kind": "book", "stakes": stakes, "least": exact_number(book.exact_sure_profit), **costs}
    return WrittenClaim(told, LinearPoints())


def _no_book(book: Book, reader: ClaimReader, costs: dict[str, Any], bets: Bets) -> WrittenClaim:
    """The claim that nothing is won for sure: a mixture that prices all bets, or lies between their net prices."""
    panel = replace(bets.panel, weight=np.ones(len(bets)))
    if not book.terms.free(bets):
        sell, buy = (np.clip(side, 0.0, 1.0) for side in book.terms.net(bets))
        panel = replace(panel, lower=sell, upper=buy, probability=(sell + buy) / 2)
    told = {"kind": "no book", "worlds": _worlds(aggregate(panel, PRECISE)), "most": "0", **costs}
    best = reader.best_unit(told)
    if best > LOOSER:
        raise MethodError("no mixture of possible worlds was found that prices all bets, so there is nothing to prove")
    return WrittenClaim(told | {"most": written_number(best, up=True)}, LinearPoints())


def _distance(reader: ClaimReader, of: str | None, bets: Bets) -> WrittenClaim:
    """The claim about a distance, from the nearest coherent forecasts to bets of weight 1."""
    result = aggregate(replace(bets.panel, weight=np.ones(len(bets))), Exact(), proof=True)
    solution = result.solution
    assert isinstance(solution, Global)
    assert solution.objective is not None
    assert solution.lower_bound is not None
    told: dict[str, Any] = {"kind": "distance", "of": None if of is None else normal(of), "worlds": _worlds(result)}
    terms, scatter = reader.squares(told["of"])
    mixture = reader.mixture(told)
    square = float(loss_above(mixture, terms) + scatter)
    least = max(0.0, square - (solution.objective - solution.lower_bound))
    told["most"] = written_number(math.sqrt(square) * (1 + 1e-12), up=True)
    told["least"] = written_number(max(0.0, math.sqrt(least) * (1 - LOOSER) - ROUGH))
    hints = solution.hints
    if hints is None:
        return WrittenClaim(told, AnswerPoints(mixture))
    return WrittenClaim(told, HintedPoints(result, hints), written_forms(result, reader.panel, hints))


def _worlds(result: Result) -> list[dict[str, Any]]:
    """The worlds of a result, with the weights as texts, as claims have their numbers."""
    told = result.as_dict()["worlds"]
    return [{**part, "weights": [repr(weight) for weight in part["weights"]]} for part in told]
