"""Rules of the literature against loops written from the papers; nothing that is scored teaches."""

import json
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import coherently as co
from coherently.problem import pose
from coherently.scoring.literature import PUBLISHED_FITS
from coherently.scoring.literature.fitted_rivals import HeldOutEvents
from coherently.scoring.literature.published_fits import TaughtProblem
from coherently.solve import Budget
from tests.cli.test_cli import run

JUDGES = "ABCDE"


def made(seed=0, groups=8, laws=True):
    """Groups of three events, of which one excludes another and implies the third; judges leave some out."""
    rng = np.random.default_rng(seed)
    rows, outcomes, told = [], {}, []
    for g in range(groups):
        which = int(rng.integers(3))
        outcomes |= {f"g{g}_a": which == 0, f"g{g}_b": which == 1, f"g{g}_c": which != 2}
        told += [f"g{g}_a -> g{g}_c", f"~(g{g}_a & g{g}_b)"]
        truth = {"a": 0.7 if which == 0 else 0.2, "b": 0.7 if which == 1 else 0.2, "c": 0.8 if which != 2 else 0.4}
        for j, judge in enumerate(JUDGES):
            for event, p in truth.items():
                if rng.random() < 0.85:
                    noise = float(rng.normal(0, 0.05 + 0.1 * j))
                    rows.append((judge, f"g{g}_{event}", float(np.clip(p + noise, 0.01, 0.99))))
    return co.Panel.from_records(rows, laws=told if laws else (), outcomes=outcomes)


def parts(panel, known):
    """Forecasts by event and judge, and the outcomes that may teach, by event."""
    said = defaultdict(dict)
    for j, i, p in zip(panel.judge_index.tolist(), panel.event_index.tolist(), panel.probability, strict=True):
        said[i][j] = float(p)
    truth = {i: int(y) for i, y in enumerate(panel.written.outcome.tolist()) if known[i]}
    return said, truth


def mean_with(said, weight):
    """The weighted mean of each event; the plain one where nobody counts."""
    found = {}
    for i, own in said.items():
        total = sum(weight[j] for j in own)
        found[i] = sum(weight[j] * p for j, p in own.items()) / total if total > 0 else sum(own.values()) / len(own)
    return found


def logit(p, clip=0.01):
    p = min(max(p, clip), 1 - clip)
    return math.log(p / (1 - p))


def karvetski(panel, known):
    said, truth = parts(panel, known)
    alone = co.individual(panel, "dykstra")
    coherent, _ = parts(alone, known)
    distance = {}
    for j in range(len(panel.judges)):
        moves = [coherent[i][j] - p for i, own in said.items() for k, p in own.items() if k == j]
        distance[j] = math.sqrt(sum(move**2 for move in moves) / len(moves))
    most = max(distance.values())
    answers = []
    for beta in (1, 2, 4, 8):
        value = mean_with(coherent, {j: (1 - d / most) ** beta for j, d in distance.items()})
        answers.append((sum((value[i] - y) ** 2 for i, y in truth.items()), value))
    return min(answers, key=lambda pair: pair[0])[1]


def budescu(panel, known):
    said, truth = parts(panel, known)
    gains = defaultdict(list)
    for i, y in truth.items():
        own = said[i]
        whole = sum(own.values()) / len(own)
        for j in own:
            rest = [p for k, p in own.items() if k != j]
            if rest:
                gains[j].append((sum(rest) / len(rest) - y) ** 2 - (whole - y) ** 2)
    weight = {j: max(0.0, sum(gains[j]) / len(gains[j])) if gains[j] else 0.0 for j in range(len(panel.judges))}
    return mean_with(said, weight if any(weight.values()) else dict.fromkeys(weight, 1.0))


def satopaa(panel, known):
    said, truth = parts(panel, known)
    odds = {i: sum(map(logit, own.values())) / len(own) for i, own in said.items()}

    def loss(a):
        return sum(math.log1p(math.exp(-a * odds[i] if y else a * odds[i])) for i, y in truth.items())

    a = minimize_scalar(loss, bounds=(0, 10), method="bounded", options={"xatol": 1e-10}).x
    return {i: 1 / (1 + math.exp(-a * z)) for i, z in odds.items()}


def brier_platt(panel, known):
    said, truth = parts(panel, known)
    lost = defaultdict(list)
    for i, y in truth.items():
        for j, p in said[i].items():
            lost[j].append((p - y) ** 2)
    average = sum(map(sum, lost.values())) / sum(map(len, lost.values()))
    weight = {j: 1 / ((sum(lost[j]) + 10 * average) / (len(lost[j]) + 10)) for j in range(len(panel.judges))}
    value = mean_with(said, weight)
    true, false = sum(truth.values()), sum(1 - y for y in truth.values())

    def loss(line):
        total = 0.0
        for i, y in truth.items():
            z, t = line[0] * logit(value[i]) + line[1], (true + 1) / (true + 2) if y else 1 / (false + 2)
            total += t * math.log1p(math.exp(-z)) + (1 - t) * math.log1p(math.exp(z))
        return total

    a, b = minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-10}).x
    return {i: 1 / (1 + math.exp(-a * logit(p) - b)) for i, p in value.items()}


def neyman(panel, known):
    said, truth = parts(panel, known)
    prior = (sum(truth.values()) + 1) / (len(truth) + 2)
    found = {}
    for i, own in said.items():
        n = len(own)
        d = n * (math.sqrt(3 * n * n - 3 * n + 1) - 2) / (n * n - n - 1)
        found[i] = min(1.0, max(0.0, prior + d * (sum(own.values()) / n - prior)))
    return found


DIRECT = {
    "karvetski": karvetski,
    "budescu-chen": budescu,
    "satopaa": satopaa,
    "brier-platt": brier_platt,
    "neyman-roughgarden": neyman,
}


def test_every_rule_has_an_independent_version():
    assert set(DIRECT) == set(PUBLISHED_FITS)


@pytest.mark.parametrize("word", DIRECT)
@pytest.mark.parametrize("seed", range(3))
def test_rules_are_those_of_the_papers(word, seed):
    panel = made(seed)
    known = np.random.default_rng(seed).random(len(panel.written)) < 0.7
    outcome = np.where(known, panel.written.outcome, np.nan)
    taught = TaughtProblem(pose(panel), outcome, lambda: co.individual(panel, "dykstra").probability)
    expected = DIRECT[word](panel, known)
    found = PUBLISHED_FITS[word].answer(taught)
    np.testing.assert_allclose(found, [expected[i] for i in range(len(found))], atol=2e-6)


@pytest.mark.parametrize("word", DIRECT)
def test_without_outcomes_a_rule_says_what_it_says_before_it_learns(word):
    panel = made(1)
    problem = pose(panel)
    nothing = np.full(len(panel.written), np.nan)
    found = PUBLISHED_FITS[word].answer(TaughtProblem(problem, nothing, lambda: panel.probability))
    assert ((found >= 0) & (found <= 1)).all()
    if word in ("karvetski", "budescu-chen", "brier-platt"):
        np.testing.assert_allclose(found, problem.mean)


@pytest.mark.parametrize("word", DIRECT)
@pytest.mark.parametrize("then", [None, co.Exact()], ids=["alone", "then exact"])
def test_outcomes_of_a_fold_do_not_change_its_own_forecasts(word, then):
    panel, rival = made(2), co.FittedRival(word, then)
    events = HeldOutEvents.of(panel, None)
    before = events.answer(rival, Budget())
    fold = events.blocks.fold_of_events(len(before))
    for k in events.blocks.folds:
        text, outcome = panel.written.text, panel.written.outcome
        turned = {t: bool(y) != (f == k) for t, y, f in zip(text, outcome, fold, strict=True)}
        rows = [
            (panel.judges[j], text[i], p)
            for j, i, p in zip(panel.judge_index, panel.event_index, panel.probability, strict=True)
        ]
        # The laws tie components, and forbid outcomes that are turned round: components are named instead.
        other = co.Panel.from_records(rows, outcomes=turned)
        plain = co.Panel.from_records(rows, outcomes=dict(zip(text, map(bool, outcome), strict=True)))
        label = np.array([int(t[1 : t.index("_")]) for t in text])
        one, two = HeldOutEvents.of(plain, label), HeldOutEvents.of(other, label)
        assert one.blocks.fold_of_events(len(text)).tolist() == two.blocks.fold_of_events(len(text)).tolist()
        own = one.blocks.fold_of_events(len(text)) == k
        first, second = one.answer(rival, Budget()), two.answer(rival, Budget())
        np.testing.assert_allclose(first[own], second[own], atol=1e-9)
        if word != "karvetski":  # whose beta may stay the same
            assert not np.allclose(first[~own], second[~own], atol=1e-9)


def test_clusters_are_kept_together():
    panel = made(3, laws=False)
    found = co.compare(panel, co.literature(), cluster=lambda text: text.split("_")[0], bootstrap=0)
    (note,) = (note for note in found.notes if "out of fold" in note)
    assert "8 independent groups of events in 5 folds, by others" in note
    alone = co.compare(panel, [co.FittedRival("satopaa")], bootstrap=0)
    assert any("24 independent groups" in note for note in alone.notes)


def test_rows_are_in_every_table(tmp_path):
    panel = made(4)
    names = [rival.name for rival in co.literature()]
    compared = co.compare(panel, co.literature(), bootstrap=0)
    assert list(compared.methods[5:]) == names
    tuned = co.tune(panel, literature=True)
    assert [name for name in names if name in tuned.scores.methods] == names
    value = dict(zip(tuned.scores.methods, tuned.scores.value[:, 0], strict=True))
    for name, score in zip(compared.methods[5:], compared.value[5:, 0], strict=True):
        assert value[name] == pytest.approx(score, abs=1e-6)  # the same folds, the same forecasts
    assert tuned.scores.methods[-3:] == ("Default recipe", "Tuned pool", "Tuned recipe")
    assert "Median, then exact" in tuned.scores.methods
    assert names[0] not in co.tune(panel).scores.methods
    file, laws = tmp_path / "panel.csv", tmp_path / "laws.txt"
    rows = zip(panel.judge_index, panel.event_index, panel.probability, strict=True)
    text, outcome = panel.written.text, panel.written.outcome
    lines = [f"{panel.judges[j]},{text[i]},{p},{outcome[i]}" for j, i, p in rows]
    file.write_text("\n".join(["judge,event,probability,outcome", *lines]))
    laws.write_text("\n".join(f"g{g}_a -> g{g}_c\n~(g{g}_a & g{g}_b)" for g in range(8)))
    told = json.loads(run("compare", file, "--laws", laws, "--literature", "--json", check=0).stdout)
    assert [row["name"] for row in told["methods"]][5:] == names
    told = json.loads(run("tune", file, "--laws", laws, "--literature", "--json", check=0).stdout)
    assert names[-1] in [row["name"] for row in told["scores"]["methods"]]


def test_wrong_words_are_refused():
    with pytest.raises(co.MethodError, match="unknown rule of the literature 'satopa'; the rules are karvetski"):
        co.FittedRival("satopa")
    with pytest.raises(co.MethodError, match="then is 'exact'; it must be a method object"):
        co.FittedRival("satopaa", "exact")
    panel = made(0, groups=3)
    with pytest.raises(co.MethodError, match="only a method can have weights"):
        co.compare(panel, [(co.FittedRival("satopaa"), {"A": 1})])
    with pytest.raises(co.MethodError, match="put it in brackets"):
        co.compare(panel, co.FittedRival("satopaa"))
