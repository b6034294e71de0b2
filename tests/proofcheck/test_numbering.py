"""The writer numbers a panel from what the core has read; the checker's reader must number it the same."""

import random

import pytest

import coherently as co
from coherently.panel.canonical import canonical_text
from coherently.proofcheck.forecast_files import canonical_lines
from coherently.proofcheck.leaves import WorkLeft
from coherently.proofcheck.loss_planes import LossRule
from coherently.proofcheck.posed_panel import PosedPanel
from coherently.result.elimination_orders import _order, _order_with_counts
from coherently.result.numbered_panel import NumberedPanel
from tests.proofcheck.proof_cases import LOSSES, proved_files
from tests.whole.language_checks import random_case


def check_same(own, read):
    """Two functions must agree; a table that nobody needs may be missing."""
    assert (own.scope, own.count) == (read.scope, read.count)
    if own.mask is not None or not own.scope:
        assert own.mask == read.mask


def check_numbers(result):
    """All that a proof names by numbers must be the same by both readings."""
    text = canonical_text(result.panel).decode("utf-8", "surrogatepass")
    read = PosedPanel(canonical_lines(text))
    own = NumberedPanel(result, read.digest)
    assert [(one.name, one.size) for one in own.space.variables] == [
        (one.name, one.size) for one in read.space.variables
    ]
    assert own.pins == read.pins
    for laws in zip(own.laws, read.laws, strict=True):
        check_same(*laws)
    terms = [one.terms(LossRule("brier"), WorkLeft()) for one in (own, read)]
    first, second = ([(one.text, one.turned, one.settled) for one in side] for side in terms)
    assert first == second
    for one, other in zip(*terms, strict=True):
        check_same(one.joint, other.joint)
        check_same(one.condition, other.condition)
        assert hasattr(one.cost, "high") == (type(other.cost).__name__ == "IntervalCost")
        if hasattr(one.cost, "high"):
            assert (one.cost.low, one.cost.high) == (other.cost.low, other.cost.high)
    return own


def numbered(rows, laws=(), loss="brier", **options):
    """The numbers of a panel of these forecasts."""
    panel = co.Panel.from_records(rows, laws=list(laws), **options)
    return check_numbers(co.aggregate(panel, "exact", loss, proof=True))


@pytest.mark.parametrize("seed", range(8))
def test_random_panels_of_the_whole_language(seed):
    rng = random.Random(seed)
    for _ in range(15):
        case = random_case(rng)
        check_numbers(co.aggregate(case.panel(), "exact", rng.choice(LOSSES), proof=True))


def test_lines_come_by_judge_then_by_event():
    rows = [("b", "q", 0.2), ("A b", "r", 0.4), ("A", "s", 0.3), ("é", "p", 0.5), ('"', "t | u", 0.1), ("b", "s", 0.9)]
    own = numbered([(*row, 1.0) for row in rows] + [("b", '"a name"', 0.2, 0.0), ("b", "v", 0.3, 2.0)])
    assert [one.name for one in own.space.variables] == ["r", "s", "t", "u", "a name", "q", "v", "p"]


def test_names_are_those_of_the_texts():
    rows = [("A", '"p & q" | r', 0.2), ("A", "éa & ~b", 0.4), ("A", "b.c | b", 0.3), ("A", "p | ~p | z", 0.3)]
    own = numbered([*rows, ("A", "true", 0.5)])
    assert "z" in own.space.number
    plain = numbered([("A", "p & q", 0.2), ("A", "p", 0.4), ("B", "~p", 0.1)], plain_events=True)
    assert list(plain.space.number) == ["p & q", "p", "~p"]


def test_counts_and_wide_events_are_read_by_the_checker():
    names = [f"v{i}" for i in range(20)]
    every = ", ".join(names)
    rows = [
        ("A", f"exactly(3; {every})", 0.2),
        ("A", f"~At_Least(19; {every})", 0.9),
        ("B", f"at_least(19; {every})", 0.1),
        ("B", " & ".join(names[:16]), 0.1),
        ("B", f"exactly(18; {', '.join(names[:18])})", 0.1),
        ("C", "exactly(1; v0, v1)", 0.4),
        ("C", "v0 <-> v1", 0.5),
        ("D", "at_most(2; v0, ~v1, v2, v3, v4, v5, v6)", 0.3),
    ]
    own = numbered(rows, ["at_least(1; v0, v1, v2)", "v0 | ~v0", "v3 -> v4"])
    assert own.read.sum() == 6


def test_conditionals_with_and_without_laws():
    rows = [
        ("A", "a given b", 0.3),
        ("A", "~a given b", 0.6),
        ("A", "a given ~b", 0.6),
        ("B", "a given a | b", 0.6),
        ("B", "b given a | b", 0.6),
        ("B", "c given d", 0.6),
        ("B", "~d given c", 0.6),
        ("B", "a given a & b", 0.6),
        ("B", "c given e | ~e", 0.6),
        ("B", "x = u given x != v", 0.6),
        ("B", "x = w given x = w | x = v", 0.2),
        ("B", "y < 3 given y < 4 & y >= 1", 0.2),
    ]
    numbered(rows, ["variable x: u, v, w", "variable y: number"])
    numbered(rows, ["variable x: u, v, w", "variable y: number", "c -> d", "a -> x = u"])


@pytest.mark.parametrize(
    "rows",
    [
        ["n < 3", "n <= 3.0", "n >= 3.00", "~(n > -2)", "n < 1e3"],
        ["n = 3", "n in {3, 4.5}", "n != 4.5", "n < 4"],
        ["n = 0.1", "n > 0.1", "n < 0.3 & n >= 0.1"],
        ["d < 2027-01-05", "d <= 2027-01-04", "d >= 2027-01-09 | d = 2027-01-01"],
        ["d < 0001-01-01", "d > 9999-12-31", "d < 2027-01-04", "d = 9999-12-31"],
        ["d < 9999-12-31 & d > 2027-01-04", "d in {2027-01-04, 2027-01-08}"],
        ["w = a", "w = b", "w in {a, b, c}"],
        ["w = c", "w != c & n < 3"],
        ["w in {a, b}", "o = a", "o = other", "o in {b, other}"],
        ["o = c", "o != a", "w = a | w = b | w = c"],
    ],
)
def test_states_of_declared_variables(rows):
    declared = ["variable n: number", "variable d: date", "variable w: a, b, c", "variable o: a, b, c, ..."]
    own = numbered([("A", text, 0.5) for text in rows], declared)
    for variable in own.space.variables:
        size = variable.size
        assert variable.closed().size == size


def test_texts_and_numbers_of_one_event_by_one_judge(tmp_path):
    rows = [("A", "p", 0.25), ("A", "p", 0.2), ("A", "p", 1e-5), ("A", "p & q", 0.1), ("A", "p", 0.2), ("B", "q", 0.5)]
    result, files = proved_files(tmp_path, rows)
    check_numbers(result)
    assert files.check().word == "proved"


@pytest.mark.parametrize("seed", range(20))
def test_orders_are_those_of_the_plain_search(seed):
    rng = random.Random(seed)
    panel = numbered([("A", "v0", 0.5)])
    sizes = [rng.choice((2, 2, 3, 5)) if seed % 2 else 2 for _ in range(12)]
    panel.space.variables = [type("Sized", (), {"size": size}) for size in sizes]
    scopes = {tuple(sorted(rng.sample(range(12), rng.randint(1, 4)))) for _ in range(14)}
    used = sorted({v for scope in scopes for v in scope})
    functions = [type("Scoped", (), {"scope": scope, "count": None}) for scope in scopes]
    place = {v: i for i, v in enumerate(used)}
    order, *cells = _order([tuple(place[v] for v in scope) for scope in scopes], [sizes[v] for v in used])
    assert ([used[i] for i in order], *cells) == _order_with_counts(panel.space, functions)
