"""The checks that a panel's logic holds, against all tuples of its events over all worlds."""

import itertools
import math

import numpy as np
import pytest

import coherently as co
from coherently.conversion.tuples import CHECKS, RELATIONS
from coherently.scoring import tuple_distances
from coherently.scoring.found_checks import found_checks
from tests.scoring.consistency_checks import sure_gain

NAMES = "abcd"
WORLDS = list(itertools.product((False, True), repeat=len(NAMES)))


def random_event(rng):
    """A text, and the worlds in which it holds."""
    size = int(rng.integers(1, 4))
    chosen = [(NAMES[i], bool(rng.random() < 0.6)) for i in rng.choice(len(NAMES), size, replace=False)]
    word = "&" if rng.random() < 0.6 else "|"
    text = f" {word} ".join(name if sign else f"~{name}" for name, sign in chosen)
    join = all if word == "&" else any
    return text, frozenset(w for w in WORLDS if join(w[NAMES.index(name)] == sign for name, sign in chosen))


def random_panel(seed):
    rng = np.random.default_rng(seed)
    law, lawful = random_event(rng) if rng.random() < 0.5 else ("", frozenset(WORLDS))
    events, given = {}, {}
    for _ in range(14):
        (text, worlds), (condition, where) = random_event(rng), random_event(rng)
        if rng.random() < 0.35:
            if worlds & where & lawful and where & lawful != lawful:
                given[f"({text}) given ({condition})"] = (worlds & where & lawful, where & lawful)
        else:
            events[text] = worlds & lawful
    rows = [("Ann", text, 0.5) for text in (*events, *given)]
    return co.Panel.from_records(rows, laws=[law] if law else []), events, given, lawful


def by_hand(events, given, lawful):
    """The checks as sets of worlds, with one event for all that mean the same; without consequences."""
    sets = {worlds for worlds in events.values() if worlds and worlds != lawful}
    found = set()
    for a, b in itertools.permutations(sets, 2):
        if a | b == lawful and not a & b:
            found.add(("Neg", frozenset((a, b))))
        if not a & b and a | b in sets:
            found.add(("But", frozenset((a, b))))
        inner, outer = a & b not in (a, b) and a & b in sets, a | b not in (a, b) and a | b in sets
        if a & b:
            found |= {
                (check, frozenset((a, b)))
                for check, is_so in (("And", inner), ("Or", outer), ("AndOr", inner and outer))
                if is_so
            }
    for text, (joint, condition) in given.items():
        if condition in sets and joint in sets:
            found.add(("Cond", text))
        for other, (rest, where) in given.items():
            if where == lawful - condition and condition in sets and joint | rest in sets:
                found.add(("ExpectedEvidence", (text, other)))
            if where == joint and joint != condition and condition in sets and rest in sets:
                found.add(("CondCond", (text, other)))
    return found


@pytest.mark.parametrize("block", range(6))
def test_all_checks_are_found_and_no_other(block):
    seen = set()
    for seed in range(60 * block, 60 * block + 60):
        panel, events, given, lawful = random_panel(seed)
        text = panel.written.text
        told = set()
        for check, numbers in found_checks(panel).checks:
            names = [text[i] for i in numbers]
            if check in ("Neg", "But", "And", "Or", "AndOr"):
                told.add((check, frozenset(events[name] for name in names[:2])))
                roles = dict(zip(CHECKS[check], [events[name] for name in names], strict=True))
                assert roles.get("P_and_Q", roles["P"]) <= roles["P"]
                assert roles.get("P_or_Q", roles["P"]) >= roles["P"]
            elif check in ("Cond", "ExpectedEvidence", "CondCond"):
                own = [name for name in names if name in given]
                told.add((check, own[0] if check == "Cond" else tuple(own)))
            elif check == "Paraphrase":
                assert events[names[0]] == events[names[1]]
            elif check == "Consequence":
                assert events[names[0]] < events[names[1]]
        # Conditionals that mean the same are one to the panel, and settled ones are events.
        alike = {name: (events[name] if name in events else given[name]) for name in text}
        settled = {name for name in given if given[name][0] in (given[name][1], frozenset())}
        expected = by_hand(events, given, lawful)
        if not settled and len(set(map(repr, alike.values()))) == len(alike):
            assert told == expected, seed
            seen |= {check for check, _ in told}
    assert seen >= {"Neg", "And", "Or", "But"}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("names", [("a", "b", "c"), ("a | d", "b & ~c", "~a & e"), ("~a", "x = 2", "b")])
def test_every_check_is_found_among_its_own_events(check, names):
    roles = [
        text.format(**{letter: f"({name})" for letter, name in zip("PQR", names, strict=True)})
        for text in CHECKS[check].values()
    ]
    laws = ["variable x: 1, 2, 3"]
    if check == "Paraphrase":  # texts that mean the same by themselves are one event to a panel
        roles[1], laws = "other", [f"other <-> ({names[0]})"]
    panel = co.Panel.from_records([("Ann", text, 0.4) for text in roles], laws=laws)
    found = [one for one in found_checks(panel).checks if one.check == check]
    assert [set(one.events) for one in found] == [set(range(len(roles)))]
    if check not in ("And", "Or", "AndOr", "But"):  # which of two is P does not matter there
        assert found[0].events == tuple(range(len(roles)))


def test_consequences_have_nothing_between_and_are_told_once():
    panel = co.Panel.from_records([("Ann", text, 0.5) for text in ("a", "a | b", "a | b | c", "a & d", "d")])
    found = [(one.check, [panel.written.text[i] for i in one.events]) for one in found_checks(panel).checks]
    assert found == [
        ("And", ["a", "d", "a & d"]),
        ("Consequence", ["a", "a | b"]),
        ("Consequence", ["a | b", "a | b | c"]),
    ]


def test_declared_variables_are_ladders_and_partitions():
    laws = ["variable rate: number", "variable winner: Ann, Bob, Eve"]
    texts = ("rate > 1", "rate > 2", "rate > 3", "winner = Ann", "winner = Bob", "winner = Eve")
    panel = co.Panel.from_records([("Ann", text, 0.5) for text in texts], laws=laws)
    found = {one.check: [panel.written.text[i] for i in one.events] for one in found_checks(panel).checks}
    assert found == {
        "Ladder": ["rate > 3", "rate > 2", "rate > 1"],
        "Partition": ["winner = Ann", "winner = Bob", "winner = Eve"],
    }


def test_what_hangs_together_widely_is_searched_by_its_events():
    texts = [f"v{i}" for i in range(40)] + [f"v{i} & v{i + 1}" for i in range(39)]
    panel = co.Panel.from_records([("Ann", text, 0.5) for text in texts])
    found = found_checks(panel)
    assert [one.check for one in found.checks] == 39 * ["And"]
    assert found.unsearched == 0


def pooled(log_odds):
    """Adjacent violators pooled: the nearest ascending log-odds under the log loss."""
    blocks = []
    for z in log_odds:
        blocks.append([z, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (x, n), (y, m) = blocks.pop(), blocks.pop()
            blocks.append([(x * n + y * m) / (n + m), n + m])
    return np.repeat([z for z, _ in blocks], [n for _, n in blocks])


def divergence(x, p):
    return float(np.sum(x * np.log(x / p) + (1 - x) * np.log((1 - x) / (1 - p))))


def test_ladders_and_partitions_have_closed_forms():
    rng = np.random.default_rng(5)
    for size in (2, 3, 7, 20):
        p = rng.uniform(0.05, 0.95, size)
        roles = {str(i + 1): float(q) for i, q in enumerate(p)}
        found = co.consistency([("Ann", "Ladder", roles), ("Ann", "Partition", roles)])
        z = np.log(p / (1 - p))
        ladder = divergence(1 / (1 + np.exp(-pooled(z))), p)
        low, high = -50.0, 50.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if np.sum(1 / (1 + np.exp(middle - z))) > 1 else (low, middle)
        partition = divergence(1 / (1 + np.exp(low - z)), p)
        np.testing.assert_allclose(found.arbitrage, [ladder, partition], atol=1e-9)
        np.testing.assert_allclose(found.frequentist[1], abs(p.sum() - 1) / math.sqrt(np.sum(p * (1 - p)) + 1e-3))
        pairs = [(a - b) / math.sqrt(a * (1 - a) + b * (1 - b) + 1e-3) for a, b in itertools.combinations(p, 2)]
        np.testing.assert_allclose(found.frequentist[0], max(0.0, *pairs))


def test_many_tuples_at_once_are_scored_as_each_alone(monkeypatch):
    monkeypatch.setattr("coherently.scoring.consistency.AT_ONCE", 7)
    rng = np.random.default_rng(1)
    tuples = [
        ("Ann", check, dict(zip(roles, rng.uniform(0.02, 0.98, len(roles)).tolist(), strict=True)))
        for check, roles in CHECKS.items()
        for _ in range(3)
    ]
    found = co.consistency(tuples, joint=False)
    expected = [sure_gain(check, list(answers.values())) for _, check, answers in tuples]
    np.testing.assert_allclose(found.arbitrage, expected, atol=1e-7)
    assert tuple_distances.AT_ONCE > 7


QUESTIONS = {"P": "Will it rain?", "Q": "Will it hail?", "P_and_Q": "Will it rain and hail?"}
TUPLES = [
    ("Ann", "And", {"P": 0.6, "Q": 0.5, "P_and_Q": 0.55}, QUESTIONS),
    ("Ann", "Neg", {"P": 0.7, "not_P": 0.5}, {"P": "Will it rain?", "not_P": "Will it stay dry?"}),
    ("Ann", "Consequence", {"P": 0.5, "cons_P": 0.3}, {"P": "Will it rain and hail?", "cons_P": "Will it be wet?"}),
]


def test_one_number_for_a_model_whichever_way_its_answers_come():
    named = {"Will it rain?": "r", "Will it hail?": "h", "Will it rain and hail?": "r & h", "Will it stay dry?": "~r"}
    rows = [("Ann", named.get(asked[role], "wet"), p) for _, _, answers, asked in TUPLES for role, p in answers.items()]
    panel = co.Panel.from_records(rows, laws=["r & h -> wet"])
    ways = [co.consistency(panel), co.consistency(TUPLES), co.consistency([*TUPLES, TUPLES[1], TUPLES[1]])]
    for way in ways:
        np.testing.assert_allclose(way.joint, ways[0].joint, atol=1e-9)
        assert way.answers.tolist() == [7]
    assert not ways[1].notes
    assert "2 tuples with the judge, check, answers and questions of another one left out" in ways[2].notes[0]
    assert len(ways[2].tuples) == 3


def test_the_same_question_is_one_event_wherever_it_is_asked():
    apart = [(judge, check, answers) for judge, check, answers, _ in TUPLES]
    assert co.consistency(TUPLES).joint[0] > co.consistency(apart).joint[0] + 1e-3


def test_the_table_of_checks():
    panel = co.Panel.from_records(
        [(judge, text, p) for judge, p in (("Ann", 0.6), ("Bob", 0.5)) for text in ("a", "~a", "b", "~b")]
    )
    frame = co.consistency(panel).check_frame()
    assert frame[["judge", "check", "tuples"]].values.tolist() == [["Ann", "Neg", 2], ["Bob", "Neg", 2]]
    np.testing.assert_allclose(frame["arbitrage"], [0.040822, 0.0], atol=1e-6)
    assert set(RELATIONS) == {"Paraphrase", "Consequence"}
