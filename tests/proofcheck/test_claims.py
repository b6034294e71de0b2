"""Claims about bounds, savings, bets and distances: against all worlds, and forged ones."""

import gzip
import itertools
import json
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import coherently as co
from coherently.errors import MethodError, ResultError
from coherently.proofcheck import ProofLimits, check
from coherently.result.claim_proofs import posed
from tests.cli.program import run

NAMES = "abcd"
LAWS = ("a -> b", "P(c) <= 0.4", "P(d given a) >= 0.3")


def clause(rng, names):
    """A disjunction or conjunction of one or two literals, as a text, with its literals and the word between them."""
    literals = [(rng.random() < 0.5, name) for name in rng.sample(names, rng.choice((1, 2, 2)))]
    word = rng.choice("&|")
    text = f" {word} ".join(("~" if negated else "") + name for negated, name in literals)
    return text, (all if word == "&" else any), literals


class Asked:
    """A random event or conditional, and what it is in each world."""

    def __init__(self, rng, *, conditional=False):
        self.text, self.join, self.literals = clause(rng, NAMES)
        self.given = rng.choice([name for name in NAMES if name not in self.text]) if conditional else None
        if self.given:
            self.text = f"({self.text}) given {self.given}"

    def sides(self, worlds):
        """The truth of E & H and of H by worlds."""
        stands = np.array([self.given is None or world[self.given] for world in worlds], float)
        held = [self.join(world[name] != negated for negated, name in self.literals) for world in worlds]
        return stands * np.array(held, float), stands


def worlds_of(laws=LAWS):
    every = [dict(zip(NAMES, truth, strict=True)) for truth in itertools.product((False, True), repeat=len(NAMES))]
    return [world for world in every if "a -> b" not in laws or world["b"] or not world["a"]]


def forecasts(rng, count=6, conditionals=0.3):
    """Random events with a judge and a probability each."""
    found = {}
    for _ in range(count):
        one = Asked(rng, conditional=rng.random() < conditionals)
        found[one.text] = (rng.choice("AB"), one, round(rng.uniform(0.05, 0.95), 2))
    return list(found.values())


def panel_of(rows, laws=LAWS):
    return co.Panel.from_records([(judge, one.text, p) for judge, one, p in rows], laws=list(laws))


def verdict(panel, result, data):
    return check(posed(panel), None if result is None else result.to_json(), data, ProofLimits())


def lines_of(data):
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def file_of(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def claims_of(data):
    return lines_of(data)[0]["claims"]


def with_claim(data, number, **change):
    """The same file with a changed claim."""
    lines = lines_of(data)
    lines[0]["claims"][number] |= change
    return file_of(lines)


def extremes(rows, result, asked, worlds):
    """The least and the greatest P(E) / P(H), by linear programs over all worlds (Charnes and Cooper 1962)."""
    equal = []
    for _, one, _ in rows:
        joint, stands = one.sides(worlds)
        equal.append(joint - result.probability(one.text) * stands)
    c, d, a = (np.array([world[name] for world in worlds], float) for name in "cda")
    joint, stands = asked.sides(worlds)
    ends = []
    for sign in (1, -1):
        found = linprog(
            sign * joint,
            A_ub=[c - 0.4, 0.3 * a - d * a],
            b_ub=[1e-9] * 2,
            A_eq=[*equal, stands],
            b_eq=[0.0] * len(equal) + [1.0],
        )
        ends.append(sign * found.fun if found.status == 0 else None)
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_implied_bounds_are_those_over_all_worlds(seed):
    rng = random.Random(seed)
    rows, worlds = forecasts(rng), worlds_of()
    result = co.aggregate(panel_of(rows), co.Exact(tolerance=1e-12))
    asked = [Asked(rng), Asked(rng, conditional=True)]
    asked = [one for one in asked if None not in extremes(rows, result, one, worlds)]
    data = result.implied_proof([one.text for one in asked], saving=False)
    assert verdict(result.panel, result, data).word == "proved"
    claims = claims_of(data)
    for i, one in enumerate(asked):
        least, most = extremes(rows, result, one, worlds)
        assert least - 1e-5 <= float(claims[2 * i]["least"]) <= least + 1e-7
        assert most - 1e-7 <= float(claims[2 * i + 1]["most"]) <= most + 1e-5
        higher, lower = (
            with_claim(data, 2 * i, least=f"{least + 1e-5:.9f}"),
            with_claim(data, 2 * i + 1, most=f"{most - 1e-5:.9f}"),
        )
        assert [verdict(result.panel, result, forged).word for forged in (higher, lower)] == ["weak", "weak"]


@pytest.mark.parametrize("seed", range(3))
def test_no_prices_prove_more_than_is_true(seed):
    rng = random.Random(seed)
    rows, worlds = forecasts(rng), worlds_of()
    result = co.aggregate(panel_of(rows), "exact")
    asked = Asked(rng)
    least, _ = extremes(rows, result, asked, worlds)
    lines = lines_of(result.implied_proof([asked.text], saving=False))
    count = len(rows) + 2
    for _ in range(60):
        changed = json.loads(json.dumps(lines))
        changed[0]["claims"][0]["least"] = f"{least + 1e-5:.9f}"
        for record in changed[1:-1]:
            if record.get("claim") == 0:
                record["pins"] = [[rng.randrange(count), rng.randint(-(2**37), 2**37)] for _ in range(4)]
        assert verdict(result.panel, result, file_of(changed)).word == "weak"


@pytest.mark.parametrize("seed", range(8))
def test_what_is_saved_is_the_least_over_all_worlds(seed):
    rng = random.Random(seed)
    rows, laws = forecasts(rng, conditionals=0.3 * (seed % 2)), LAWS[:1]
    result = co.aggregate(panel_of(rows, laws), "exact", proof=seed < 4)
    if (result.guaranteed_improvement or 0) < 1e-6:
        with pytest.raises(MethodError, match="nothing is claimed"):
            result.implied_proof()
        return
    least = 0.0
    for _, one, p in rows:
        joint, stands = one.sides(worlds_of())
        x = result.probability(one.text)
        least = least + stands * ((p - joint) ** 2 - (x - joint) ** 2)
    data = result.implied_proof()
    found = verdict(result.panel, result, data)
    assert found.word == "proved", found.sentence
    assert float(claims_of(data)[0]["least"]) == pytest.approx(result.guaranteed_improvement, abs=1e-6)
    assert float(claims_of(data)[0]["least"]) <= min(least)
    assert verdict(result.panel, result, with_claim(data, 0, least=f"{min(least) + 2e-8:.9f}")).word == "weak"


def sure_profit(bets, fee, rows):
    """What bets, each a trade and its stake, win in the worst world."""
    worlds, sides = worlds_of(), {one.text: one.sides(worlds_of()) for _, one, _ in rows}
    won = [Fraction(0)] * len(worlds)
    for bet, stake in bets:
        joint, stands = sides[bet.event]
        for i in range(len(worlds)):
            won[i] += int(stands[i]) * (stake * (bet.price - int(joint[i])) - abs(stake) * Fraction(str(fee)))
    return min(won)


@pytest.mark.parametrize("options", [{}, {"between_judges": True}, {"fee": 0.01, "spread": 0.02}])
@pytest.mark.parametrize("seed", range(8))
def test_books_win_what_they_claim_to_the_last_digit(seed, options):
    rows = forecasts(random.Random(seed), 5)
    panel = panel_of(rows, LAWS[:1])
    book = co.dutch_book(panel, **options)
    data = book.proof_file(panel)
    found = verdict(panel, None, data)
    assert found.word == "proved", found.sentence
    (claim,) = claims_of(data)
    if not book:
        assert Fraction(claim["most"]) <= Fraction(1, 10**8)
        return
    bets = [(bet, bet.stake) for bet in book.bets]
    assert Fraction(claim["least"]) == book.exact_sure_profit == sure_profit(bets, book.terms.fee, rows)
    double = [(bets[0][0], 2 * bets[0][1]), *bets[1:]]
    stakes = [[claim["stakes"][0][0], str(double[0][1])], *claim["stakes"][1:]]
    true = sure_profit(double, book.terms.fee, rows)
    for least, word in ((true, "proved"), (true + Fraction(1, 10**30), "weak")):
        assert verdict(panel, None, with_claim(data, 0, stakes=stakes, least=str(least))).word == word


def test_bets_are_at_the_prices_of_the_panel_itself():
    table = {"judge": ["A", "A", "B"], "event": ["a", "~a", "a"], "probability": [0.3, 0.4, 0.5], "weight": [1, 2, 3]}
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    quotes = [{"event": "a", "lower": 0.5, "upper": 0.6}, {"event": "~a", "lower": 0.6, "upper": None}]
    plain, quoted = co.Panel.from_records(rows), co.Panel.from_records(quotes)
    for panel, of, text in ((plain, None, "at 9/20"), (plain, "A", "at 3/10"), (plain, "", "by 'B' at 1/2")):
        book = {"kind": "book", "of": of, "fee": "0", "spread": "0", "stakes": [[0, "1"]], "least": "-1"}
        book["stakes"] = [[2, "1"]] if of == "" else [[0, "1"]]
        assert text in made(panel, book).sentence
    for stakes, text in (
        ([[0, "1"]], "sell 1 of 'a' at 1/2"),
        ([[0, "-1"]], "buy 1 of 'a' at 3/5"),
        ([[1, "-1"]], "no price"),
    ):
        told = {"kind": "book", "of": "panel", "fee": "0", "spread": "0.4", "stakes": stakes, "least": "-1"}
        assert text in made(quoted, told).sentence


def made(panel, *claims, result=None):
    """What is said of claims without records, or with one of all terms where there is one claim about a book."""
    first = {"format": "coherently-proof", "version": 1, "sha256": posed(panel).digest, "claims": list(claims)}
    count = len(claims[0].get("stakes", []))
    record = {
        "claim": 0,
        "terms": list(range(count)),
        "ratios": [0] * count,
        "bits": 9,
        "laws": [],
        "pins": [],
        "nodes": 1,
    }
    body = [record, {"e": [0]}, {"end": 1}] if count else [{"end": 0}]
    return verdict(panel, result, file_of([first, *body]))


@pytest.mark.parametrize("seed", range(6))
def test_a_mixture_that_does_not_price_all_bets_proves_nothing(seed):
    rng = random.Random(seed)
    told = [(rng.choice("AB"), one, 0.5) for _, one, _ in forecasts(rng, 4, conditionals=0.2)]
    x = rng.choice((Fraction(1, 4), Fraction(3, 4)))
    worlds = [{"variables": list(NAMES), "weights": [str(float(x)), str(float(1 - x))], "worlds": ["1111", "0000"]}]
    panel = panel_of(told, ())
    claim = {"kind": "no book", "of": "", "fee": "0", "spread": "0", "worlds": worlds}
    ends = [one.sides([dict.fromkeys(NAMES, True), dict.fromkeys(NAMES, False)]) for _, one, _ in told]
    won = [x * (int(j[0]) - Fraction(int(h[0]), 2)) + (1 - x) * (int(j[1]) - Fraction(int(h[1]), 2)) for j, h in ends]
    most = max(map(abs, won))
    for level, word in ((most, "proved"), (most - Fraction(1, 10**9), "weak")):
        assert made(panel, claim | {"most": str(level)}).word == word
    fee = Fraction(1, 8)
    stands = [x * int(h[0]) + (1 - x) * int(h[1]) for _, h in ends]
    most = max(0, *(abs(w) - fee * h for w, h in zip(won, stands, strict=True)))
    for level, word in ((most, "proved"), (most - Fraction(1, 10**9), "weak")):
        assert made(panel, claim | {"most": str(level), "fee": "1/8"}).word == word


def distance(rows, judge, laws):
    """The distance from coherent forecasts over all worlds, by least squares with a heavy row for the sum."""
    own = [(one, p) for name, one, p in rows if judge in (None, name)]
    truth = np.array([one.sides(worlds_of(laws))[0] for one, _ in own])
    price = np.array([p for _, p in own])
    heavy = 1e4
    _, rest = nnls(np.vstack([truth, heavy * np.ones(truth.shape[1])]), np.append(price, heavy))
    return rest


@pytest.mark.parametrize("seed", range(8))
def test_distances_are_those_over_all_worlds(seed):
    rng = random.Random(seed)
    rows = forecasts(rng, 8, conditionals=0.0)
    rows += [(judge, one, round(min(p + 0.1, 1.0), 2)) for judge, one, p in rows[:2]]
    panel = panel_of(rows, LAWS[:1])
    data = co.check(panel).proof_file(panel)
    found = verdict(panel, None, data)
    assert found.word == "proved", found.sentence
    for i, claim in enumerate(claims_of(data)[:-1]):
        if claim["of"] is None:
            continue
        true = distance(rows, claim["of"], LAWS[:1])
        assert float(claim["least"]) <= true + 1e-6
        assert float(claim["most"]) >= true - 1e-6
        assert float(claim["most"]) - float(claim["least"]) <= 2e-5
        for change in (
            {"least": f"{float(claim['most']) + 1e-6:.9f}"},
            {"most": f"{max(0.0, float(claim['least']) - 1e-6):.9f}"},
        ):
            if change != {"most": "0.000000000"}:
                assert verdict(panel, None, with_claim(data, i, **change)).word == "weak"


def test_quotes_and_conditionals_have_distances():
    rows = [("A", "a", 0.2, 0.4), ("A", "b", 0.5, None), ("A", "a & b", 0.6, 0.8), ("B", "c given a", None, None)]
    rows = [
        {"judge": j, "event": e, "probability": 0.3 if high is low is None else None, "lower": low, "upper": high}
        for j, e, low, high in rows
    ]
    panel = co.Panel.from_records(rows)
    found = co.check(panel)
    checked = co.verify(panel, proof=found.proof_file(panel))
    assert checked, checked.problems
    assert len(checked.proved) == 4
    assert found.judges["A"].distance == pytest.approx(np.sqrt(0.02))
    assert "'A' are 0.14142" in checked.proved[1]


FORGED = [
    ({}, "kinds"),
    ({"kind": "bound"}, "lacks a field"),
    ({"kind": "bound", "event": "a", "least": 0.5}, "not a whole number"),
    ({"kind": "bound", "event": "a", "least": "1e9"}, "are texts"),
    ({"kind": "bound", "event": "z", "least": "0.1"}, "no forecast or law mentions"),
    ({"kind": "bound", "event": "a", "least": "1/0"}, "lacks a field"),
    ({"kind": "book", "of": "Nobody", "fee": "0", "spread": "0", "stakes": [], "least": "0"}, "no forecast of"),
    ({"kind": "book", "of": None, "fee": "0", "spread": "0", "stakes": [[9, "1"]], "least": "0"}, "whole number"),
    (
        {"kind": "book", "of": None, "fee": "0", "spread": "0", "stakes": [[-1, "1"]], "least": "0"},
        "whole number",
    ),
    ({"kind": "no book", "of": None, "fee": "0", "spread": "0", "worlds": [], "most": "1"}, "say nothing"),
    ({"kind": "distance", "of": None, "worlds": [{}], "least": "0", "most": "1"}, "lacks a field"),
]


@pytest.mark.parametrize(("claim", "words"), FORGED)
def test_claims_that_are_not_as_they_should_be_are_refused_with_the_line(claim, words):
    panel = co.Panel.from_records([("A", "a", 0.3), ("A", "a & b", 0.4)], laws=["b -> a"])
    result = co.aggregate(panel, "exact")
    found = made(panel, claim, result=result)
    assert found.word == "refused"
    assert words in found.why, found.why
    assert found.line == 1


def test_worlds_of_a_claim_obey_the_laws():
    panel = co.Panel.from_records([("A", "a", 0.3), ("A", "b", 0.4)], laws=["b -> a"])
    worlds = [{"variables": ["a", "b"], "weights": ["1"], "worlds": ["01"]}]
    for claim in ({"kind": "no book", "fee": "0", "spread": "0"}, {"kind": "distance", "least": "0"}):
        assert "breaks the law 'b -> a'" in made(panel, {**claim, "of": None, "most": "9", "worlds": worlds}).why


def test_a_linear_claim_needs_all_of_its_terms_once():
    panel = co.Panel.from_records([("A", "a", 0.6), ("A", "~a", 0.6)])
    data = co.dutch_book(panel).proof_file(panel)
    lines = lines_of(data)
    record = lines[1]
    assert record["terms"] == [0, 1]
    part = {**record, "terms": [0], "ratios": [0]}
    assert "has no record" in verdict(panel, None, file_of([lines[0], part, lines[2], {"end": 1}])).sentence
    twice = [lines[0], record, lines[2], part, lines[2], {"end": 2}]
    assert "used twice" in verdict(panel, None, file_of(twice)).why
    nameless = {name: value for name, value in record.items() if name != "claim"}
    assert "whole number" in verdict(panel, None, file_of([lines[0], nameless, lines[2], {"end": 1}])).why
    apart = [lines[0], part, lines[2], {**part, "terms": [1]}, lines[2], {"end": 2}]
    assert verdict(panel, None, file_of(apart)).word == "weak"  # true, but each bet alone may lose


def test_a_file_of_claims_is_not_the_proof_of_a_result_and_is_about_one_panel():
    panel = co.Panel.from_records([("A", "a", 0.6), ("A", "a & b", 0.7)])
    other = co.Panel.from_records([("A", "a", 0.6), ("A", "a & b", 0.8)])
    result, another = co.aggregate(panel, "exact", proof=True), co.aggregate(panel, co.LinearAverage())
    data = result.implied_proof(["b"])
    assert verdict(panel, result, data).word == "proved"
    assert "another panel" in verdict(other, None, data).why
    assert "another panel" in verdict(panel, co.aggregate(other, "exact"), data).why
    with pytest.raises(MethodError, match="exact and auto"):
        another.implied_proof(["b"])
    with pytest.raises(ResultError, match="name the file of the result"):
        co.verify(panel, proof=data)
    with pytest.raises(ResultError, match="name its file"):
        co.verify(panel, proof=result.proof())
    with pytest.raises(ResultError, match="needs a result"):
        co.verify(panel)
    lines = lines_of(result.proof())
    book = claims_of(co.dutch_book(panel).proof_file(panel))
    assert verdict(panel, result, file_of([lines[0] | {"claims": book}, *lines[1:]])).word == "refused"


def test_bounds_of_one_result_do_not_hold_for_another():
    rows = [("A", "a", 0.6), ("A", "b", 0.7), ("B", "a & b", 0.1), ("B", "b", 0.2)]
    panel = co.Panel.from_records(rows)
    result = co.aggregate(panel, "exact")
    told = json.loads(result.to_json())
    weights = np.array(told["worlds"][0]["weights"])
    worlds = told["worlds"][0]["worlds"]
    told["worlds"][0]["weights"] = (0.5 * weights + 0.5 / len(weights)).tolist()
    names = told["worlds"][0]["variables"]
    for one in told["forecasts"]:
        held = [all(world[names.index(name)] == "1" for name in one["event"].split(" & ")) for world in worlds]
        one["probability"] = float(np.dot(told["worlds"][0]["weights"], held) / sum(told["worlds"][0]["weights"]))
    data = result.implied_proof(["a | b"], saving=False)
    assert check(posed(panel), json.dumps(told), data, ProofLimits()).word == "weak"


def test_commands_write_and_check_claims(tmp_path):
    (tmp_path / "panel.csv").write_text("judge,event,p\nA,a,0.6\nA,a & b,0.7\nB,b,0.2\n")
    files = [tmp_path / name for name in ("panel.csv", "check.gz", "bounds.gz", "result.json")]
    panel, checked, bounds, result = files
    run("check", panel, "--proof", checked, check=1)
    done = run("verify", panel, "--proof", checked, check=0)
    assert done.stdout.startswith("proved: forecasts at the panel's means")
    run("bounds", panel, "a | b", "--proof", bounds, "--result", result, check=0)
    done = run("verify", panel, result, "--proof", bounds, check=0)
    assert done.stdout.startswith("proved: the result implies that the probability of 'a | b'")
    assert "The lower bound rests on: own enumeration" in " ".join(done.stdout.split())
    run("bounds", panel, "a | b", "--proof", bounds, check=2)
    run("verify", panel, check=2)
