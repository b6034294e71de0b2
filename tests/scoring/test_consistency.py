import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import coherently as co
from coherently.scoring.frequentist import frequentist
from tests.scoring.consistency_checks import ROLES, check_arbitrage, sure_gain

DATA = Path(__file__).parent.parent / "conversion" / "data" / "consistency" / "Ann"
UNCONDITIONAL = ["Neg", "Paraphrase", "Consequence", "And", "Or", "AndOr", "But"]
CONDITIONAL = ["Cond", "CondCond", "ExpectedEvidence"]


def answers(check, *values):
    return dict(zip(ROLES[check], values, strict=True))


def score(check, *values, **options):
    found = co.consistency([("Ann", check, answers(check, *values))], joint=False, **options)
    return float(found.arbitrage[0]), float(found.frequentist[0])


def test_arbitrage_is_the_sure_gain_of_the_best_other_answers():
    check_arbitrage(0, 15, UNCONDITIONAL)


@pytest.mark.parametrize(
    ("check", "given", "expected"),
    [
        ("Neg", (0.6, 0.6), 0.040822),
        ("Neg", (0.5, 0.6), 0.010153),
        ("Paraphrase", (0.6, 0.4), 0.040822),
        ("And", (0.75, 0.2, 0.5), 0.105361),
        # As the published program gives it for a tuple of its own data, to four places.
        ("But", (0.25, 0.01, 0.15), 0.018703),
    ],
)
def test_known_arbitrage(check, given, expected):
    np.testing.assert_allclose(score(check, *given)[0], expected, atol=1e-6)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("n", [0.2, 0.5, 0.95])
def test_negation_has_a_closed_form(p, n):
    expected = -2 * math.log(math.sqrt(p * (1 - n)) + math.sqrt((1 - p) * n))
    np.testing.assert_allclose(score("Neg", p, n)[0], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("check", "given"),
    [
        ("Neg", (0.3, 0.7)),
        ("Consequence", (0.3, 0.4)),
        ("And", (0.5, 0.5, 0.25)),
        ("Or", (0.5, 0.5, 0.75)),
        ("AndOr", (0.5, 0.5, 0.2, 0.8)),
        ("But", (0.25, 0.25, 0.5)),
    ],
)
def test_consistent_answers_score_nothing(check, given):
    np.testing.assert_allclose(score(check, *given), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("check", "given", "expected"),
    [
        # Published by the authors' program for data of their own: beta 0.001.
        ("Cond", (0.4, 0.4, 0.4), 0.42573003970664525),
        ("But", (0.25, 0.01, 0.15), 0.1927),
        # By hand.
        ("And", (0.9, 0.8, 0.2), 0.5 / math.sqrt(0.09 + 0.16 + 0.16 + 0.001)),
        ("And", (0.9, 0.3, 0.5), 0.2 / math.sqrt(0.25 + 0.21 + 0.001)),
        ("Or", (0.2, 0.1, 0.9), 0.6 / math.sqrt(0.16 + 0.09 + 0.09 + 0.001)),
        ("Or", (0.2, 0.6, 0.5), 0.1 / math.sqrt(0.24 + 0.25 + 0.001)),
        ("AndOr", (0.5, 0.5, 0.3, 0.8), 0.1 / math.sqrt(0.25 + 0.25 + 0.21 + 0.16 + 0.001)),
        ("Consequence", (0.6, 0.4), 0.2 / math.sqrt(0.48 + 0.001)),
        ("Consequence", (0.4, 0.6), 0.0),
        ("Paraphrase", (0.4, 0.6), 0.2 / math.sqrt(0.48 + 0.001)),
        ("CondCond", (0.5, 0.5, 0.5, 0.5), 0.375 / math.sqrt(3 * 0.25**3 + 0.25 + 0.001)),
        ("ExpectedEvidence", (0.9, 0.5, 0.5, 0.1), 0.6 / math.sqrt(0.09 + 0.0625 + 0.0225 + 0.16 / 4 + 0.001)),
    ],
)
def test_frequentist(check, given, expected):
    np.testing.assert_allclose(
        frequentist(check, answers(check, *given)), expected, atol=1e-4 if check == "But" else 1e-12
    )


def test_certain_answers_are_clipped_and_counted():
    found = co.consistency([("Ann", "Neg", answers("Neg", 1.0, 0.5)), ("Ann", "Neg", answers("Neg", 0.0, 1.0))])
    assert (found.clip, found.clipped) == (1e-4, 3)
    np.testing.assert_allclose(found.arbitrage, [sure_gain("Neg", [1 - 1e-4, 0.5]), 0.0], atol=1e-9)
    coarse = score("Neg", 1.0, 0.5, clip=0.01)[0]
    np.testing.assert_allclose(coarse, sure_gain("Neg", [0.99, 0.5]), atol=1e-9)


def test_tuples_without_questions_are_apart_so_that_their_joint_score_is_the_sum():
    rng = np.random.default_rng(3)
    tuples = [
        (judge, check, answers(check, *rng.uniform(0.1, 0.9, len(ROLES[check])).tolist()))
        for check in ("Neg", "And", "Or", "AndOr", "But")
        for judge in ("Ann", "Bob")
    ]
    found = co.consistency(tuples)
    table = found.judge_columns()
    assert (table["judge"], table["tuples"].tolist()) == (["Ann", "Bob"], [5, 5])
    np.testing.assert_allclose(found.joint, [found.arbitrage[::2].sum(), found.arbitrage[1::2].sum()], atol=1e-6)
    np.testing.assert_allclose(table["arbitrage"], found.joint / 5, atol=1e-6)


def test_joint_scores_of_files_count_laws_and_shared_questions():
    names = ("NegChecker.jsonl", "AndChecker.jsonl", "ConsequenceChecker.jsonl", "ParaphraseChecker.jsonl")
    found = co.consistency([DATA / name for name in names])
    # Over rain, hail, precipitation and the paraphrase of rain: hail implies precipitation, the paraphrase is rain.
    worlds = [w for w in itertools.product((0, 1), repeat=4) if w[1] <= w[2] and w[0] == w[3]]
    rain, hail = [w[0] for w in worlds], [w[1] for w in worlds]
    both = [a & b for a, b in zip(rain, hail, strict=True)]
    # Rain is asked in three tuples and hail in two with the same answer each time: one answer each.
    answers = [(rain, 0.6), (rain, 0.4), (hail, 0.5), (hail, 0.4), (hail, 0.3), (both, 0.5)]
    answers += [([w[2] for w in worlds], 0.4), (rain, 0.7)]
    truth, p = np.array([row for row, _ in answers], float), np.array([q for _, q in answers])

    def divergence(z):
        x = truth @ (np.exp(z - z.max()) / np.exp(z - z.max()).sum())
        return float(np.sum(x * np.log(x / p) + (1 - x) * np.log((1 - x) / (1 - p))))

    expected = minimize(divergence, np.zeros(len(worlds)), method="BFGS", options={"gtol": 1e-9}).fun
    np.testing.assert_allclose(expected, 0.157753, atol=1e-6)
    np.testing.assert_allclose(found.joint, [expected], atol=1e-6)
    assert found.answers.tolist() == [len(answers)]
    assert found.joint[0] > found.by_checks[0] + 1e-3


def test_a_panel_counts_every_answer_in_the_joint_score():
    rows = [("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Ann", "p", 0.6), ("Bob", "p", 0.3)]
    found = co.consistency(co.Panel.from_records(rows))
    assert found.judges == ("Ann", "Bob")
    # Two forecasts of 0.6 and one of 0.4: the least sum of divergences, by the geometric means.
    expected = -3 * math.log((0.6 * 0.6 * 0.4) ** (1 / 3) + (0.4 * 0.4 * 0.6) ** (1 / 3))
    np.testing.assert_allclose(found.joint, [expected, 0.0], atol=1e-9)
    assert found.answers.tolist() == [3, 1]
    # The check has one answer per event: both forecasts of p are 0.6.
    assert [(item.judge, item.check, dict(item.answers)) for item in found.tuples] == [
        ("Ann", "Neg", {"P": 0.6, "not_P": 0.6})
    ]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (("Ann", "Nor", {"P": 0.5}), "unknown check 'Nor'; the checks are Neg"),
        (("Ann", "Neg", {"P": 0.5}), "Neg has the roles P, not_P; found P"),
        (("Ann", "Neg", {"P": 0.5, "not_P": 1.5}), "the probability 1.5 is outside 0 to 1"),
        (("Ann", "Neg", {"P": 0.5, "not_P": None}), "expected a probability, found null"),
        (("Ann", "Neg"), r"tuple 1: expected \(judge, check"),
    ],
)
def test_bad_tuples(item, words):
    with pytest.raises(co.PanelError, match=words):
        co.consistency([item])


def test_no_tuples():
    with pytest.raises(co.PanelError, match="no tuples were given"):
        co.consistency([])


def test_arbitrage_of_conditionals_is_the_sure_gain_of_the_best_other_answers():
    check_arbitrage(1, 15, CONDITIONAL)


@pytest.mark.parametrize(
    ("check", "given", "expected"),
    [
        ("Cond", (0.5, 0.5, 0.5), 0.069336),
        # As the published program gives it for data of its own.
        ("Cond", (0.4, 0.4, 0.4), 0.0755869477742501),
        ("CondCond", (0.4, 0.4, 0.4, 0.4), -2 * math.log(math.sqrt(0.4**4) + math.sqrt((1 - 0.4**3) * 0.6))),
        ("ExpectedEvidence", (0.4, 0.4, 0.4, 0.4), 0.0),
    ],
)
def test_known_arbitrage_of_conditionals(check, given, expected):
    np.testing.assert_allclose(score(check, *given)[0], expected, atol=1e-6)
