"""The same answers as a panel, as tuples and as files give one number; checks and joint scores by other programs."""

import json
import math

import numpy as np
import pytest

import coherently as co
from coherently.conversion.tuples import CHECKS
from coherently.scoring.check_bound import proved_by_checks
from tests.scoring.consistency_checks import ROLES, check_joint, random_tuple, sure_gain

LETTERS = {"P": "rain", "Q": "hail", "R": "snow"}


def answered(seed):
    """One answer to each question of all ten checks over three variables, and the formulas of the questions."""
    rng = np.random.default_rng(seed)
    texts = {}
    for check in CHECKS:
        for role in CHECKS[check]:
            formula = CHECKS[check][role].format_map(LETTERS)
            if role == "para_P":
                formula = "wet_road"
            texts[check, role] = formula
    formulas = dict.fromkeys(texts.values())
    answers = {formula: round(float(p), 3) for formula, p in zip(formulas, rng.uniform(0.1, 0.9, 99), strict=False)}
    return texts, answers


def asked(formula):
    return f"Will it come true that {formula}?"


def as_tuples(texts, answers, judge="Ann"):
    tuples = []
    for check, roles in CHECKS.items():
        own = {role: answers[texts[check, role]] for role in roles}
        questions = {role: asked(texts[check, role]) for role in roles}
        questions |= {letter: asked(name) for letter, name in LETTERS.items() if letter not in questions}
        tuples.append((judge, check, own, questions))
    return tuples


def write_files(folder, tuples):
    """The tuples in the published format, with the questions behind conditionals in the metadata."""
    for judge, check, own, questions in tuples:
        (folder / judge).mkdir(exist_ok=True)
        line = {
            role: {"question": {"title": questions[role], "body": ""}, "forecast": {"prob": p}}
            for role, p in own.items()
        }
        base = {letter: {"title": text, "body": ""} for letter, text in questions.items() if letter in "PQR"}
        with (folder / judge / f"{check}Checker.jsonl").open("a") as file:
            file.write(json.dumps({"line": {**line, "metadata": {"base_sentences": base}}}) + "\n")
    return folder


@pytest.mark.parametrize("seed", range(4))
def test_panel_tuples_and_files_give_one_number(seed, tmp_path):
    texts, answers = answered(seed)
    laws = ["wet_road <-> rain"]
    panel = co.Panel.from_records([("Ann", formula, p) for formula, p in answers.items()], laws=laws)
    tuples = as_tuples(texts, answers)
    files = write_files(tmp_path, tuples)
    co.convert("consistency", files / "Ann", tmp_path / "panel")
    made = tmp_path / "panel"
    ways = [
        co.consistency(panel),
        co.consistency(tuples),
        co.consistency(tuples * 3),
        co.consistency(sorted((files / "Ann").iterdir())),
        co.consistency(co.read_panel(made / "panel.csv", laws=made / "laws.txt")),
    ]
    for way in ways:
        np.testing.assert_allclose(way.joint, ways[0].joint, atol=1e-8)
        assert way.answers.tolist() == [len(answers)]
        np.testing.assert_allclose(way.judge_columns()["joint_per_answer"], ways[0].joint / len(answers), atol=1e-9)
    assert [len(way.tuples) for way in ways[1:4]] == 3 * [len(CHECKS)]


def test_other_answers_to_a_question_are_answers_of_their_own():
    questions = {"P": "Will it rain?", "not_P": "Will it stay dry?"}
    same = [("Ann", "Neg", {"P": 0.6, "not_P": 0.6}, questions), ("Ann", "Paraphrase", {"P": 0.6, "para_P": 0.5},
            {"P": "Will it rain?", "para_P": "Rain?"})]  # fmt: skip
    other = [same[0], ("Ann", "Paraphrase", {"P": 0.7, "para_P": 0.5}, same[1][3])]
    assert co.consistency(same).answers.tolist() == [3]
    assert co.consistency(other).answers.tolist() == [4]


def by_hand(check, p, beta=1e-3):
    """The frequentist metric from the paper's table of rules, with variances by numerical derivatives."""

    def largest(*rules):
        return max(0.0, *(value / math.sqrt(variance + beta) for value, variance in rules))

    def of(function, used):
        """A rule that is a smooth function of some answers: its value and its variance."""
        slopes = []
        for i in used:
            low, high = list(p), list(p)
            low[i], high[i] = p[i] - 1e-6, p[i] + 1e-6
            slopes.append((function(*high) - function(*low)) / 2e-6)
        return function(*p), sum(s * s * p[i] * (1 - p[i]) for s, i in zip(slopes, used, strict=True))

    every = range(len(p))
    equal = {
        "Neg": lambda a, b: a + b - 1,
        "Paraphrase": lambda a, b: a - b,
        "AndOr": lambda a, b, c, d: a + b - c - d,
        "But": lambda a, b, c: a + b - c,
        "Cond": lambda a, b, c: a * b - c,
        "CondCond": lambda a, b, c, d: a * b * c - d,
        "ExpectedEvidence": lambda a, b, c, d: a - b * c - (1 - b) * d,
    }
    if check in equal:
        value, variance = of(equal[check], every)
        return largest((abs(value), variance))
    if check == "Consequence":
        return largest(of(lambda a, b: a - b, every))
    small, large = (0, 1) if p[0] < p[1] else (1, 0)
    if check == "And":
        return largest(of(lambda a, b, c: a + b - 1 - c, every), of(lambda *q: q[2] - q[small], (2, small)))
    return largest(of(lambda a, b, c: c - a - b, every), of(lambda *q: q[large] - q[2], (2, large)))


@pytest.mark.parametrize("check", CHECKS)
def test_metrics_agree_with_another_program_to_nine_digits(check):
    rng = np.random.default_rng(7)
    drawn = [random_tuple(rng, check) for _ in range(25)]
    tuples = [("Ann", check, dict(zip(ROLES[check], p.tolist(), strict=True))) for p in drawn]
    found = co.consistency(tuples, clip=1e-6, joint=False)
    kept = [tuple(item.answers.values()) for item in found.tuples]
    np.testing.assert_allclose(found.arbitrage, [sure_gain(check, p) for p in kept], atol=1e-9, rtol=0)
    np.testing.assert_allclose(found.frequentist, [by_hand(check, p) for p in kept], atol=1e-9, rtol=0)


def test_joint_scores_lie_between_two_programs_over_all_worlds():
    assert check_joint(seed=11, count=150) < 1e-6


def test_what_checks_prove_is_at_most_the_joint_score_and_all_of_it_where_they_share_nothing():
    for seed in range(30):
        texts, answers = answered(seed)
        rng = np.random.default_rng(seed)
        kept = [formula for formula in answers if rng.random() < 0.7]
        rows = [("Ann", formula, answers[formula]) for formula in kept for _ in range(int(rng.integers(1, 3)))]
        found = co.consistency(co.Panel.from_records(rows, laws=["wet_road <-> rain"]))
        assert (found.by_checks <= found.joint + 1e-9).all()
        assert (found.joint_bound <= found.joint).all()
        assert (found.joint_bound >= found.by_checks - 1e-12).all()
        apart = co.consistency([(judge, check, own) for judge, check, own, _ in as_tuples(texts, answers)])
        np.testing.assert_allclose(apart.by_checks, apart.arbitrage.sum(), atol=1e-9)


def test_three_answers_that_every_pair_allows():
    # Every two of three exclusive events may have 0.45 each; all three sum to 1.35.
    laws = ["~(a & b)", "~(b & c)", "~(a & c)"]
    found = co.consistency(co.Panel.from_records([("Ann", name, 0.45) for name in "abc"], laws=laws))
    assert found.arbitrage.sum() == 0
    assert found.by_checks.tolist() == [0.0]
    assert found.joint[0] > 0.08
    np.testing.assert_allclose(found.judge_columns()["added"], found.joint)


def test_the_most_that_checks_prove_by_trying_all_sets():
    rng = np.random.default_rng(2)
    for _ in range(40):
        count = int(rng.integers(1, 6))
        questions = [tuple(rng.choice(6, int(rng.integers(2, 4)), replace=False).tolist()) for _ in range(count)]
        value, capacity = rng.uniform(0, 1, count), rng.integers(1, 3, 6).astype(float)
        best = 0.0
        for times in np.ndindex(*(3,) * count):
            used = np.zeros(6)
            for t, many in enumerate(times):
                used[list(questions[t])] += many
            if (used <= capacity).all():
                best = max(best, float(np.dot(times, value)))
        found = proved_by_checks(questions, value, capacity)
        assert best - 1e-9 <= found <= float(np.sum(2 * value)) + 1e-9
        # Any weights that use no question too often are a bound from below on the best; the dual bounds it from above.
        price = np.zeros(6)
        for t in np.argsort(-value):
            price[questions[t][0]] = max(price[questions[t][0]], value[t])
        assert found <= float(price @ capacity) + 1e-9
