"""Recipes: the line in log-odds, the coherent step after it, files."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.errors import MethodError
from coherently.problem import pose
from coherently.solve import Promise, promises_of
from coherently.solve.methods.judge_factors import reliability, signal_factors
from coherently.solve.methods.judge_noise import noise_share
from coherently.solve.methods.recipe import POOLS
from coherently.solve.methods.recipe_words import POOL_STEPS

ROWS = [("A", "p", 0.6), ("B", "p", 0.8), ("C", "p", 0.7), ("A", "p & q", 0.5), ("B", "p & q", 0.7), ("C", "q", 0.4)]
PANEL = co.Panel.from_records(ROWS)

EXACT = co.Exact()


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def logit(p):
    return math.log(p / (1 - p))


def test_the_line_is_that_of_log_odds():
    """Against the formula, event by event."""
    result = co.aggregate(PANEL, co.Recipe("linear", exponent=1.5, shift=-0.25, then=None))
    for event, mean in (("p", 0.7), ("p & q", 0.6), ("q", 0.4)):
        assert result.probability(event) == pytest.approx(sigmoid(1.5 * logit(mean) - 0.25), abs=1e-12)


def test_p_and_its_complement_both_fall_with_the_shift():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "~p", 0.5)])
    result = co.aggregate(panel, co.Recipe("linear", shift=-0.5, then=None))
    assert result.probability("p") == result.probability("~p") == pytest.approx(sigmoid(-0.5))
    coherent = co.aggregate(panel, co.Recipe("linear", shift=-0.5))
    assert coherent.probability("p") == pytest.approx(0.5)


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_the_coherent_step_is_that_of_the_recalibrated_forecasts(loss):
    """A recipe equals exact on a panel whose only forecasts are the numbers on the line, with the same weights."""
    recipe = co.Recipe("linear", exponent=1.4, shift=-0.2, loss=loss)
    values = {e: sigmoid(1.4 * logit(m) - 0.2) for e, m in (("p", 0.7), ("p & q", 0.6), ("q", 0.4))}
    counts = {"p": 3.0, "p & q": 2.0, "q": 1.0}
    other = co.Panel.from_records([("X", e, v, counts[e]) for e, v in values.items()])
    expected, found = co.aggregate(other, co.Exact(), loss), co.aggregate(PANEL, recipe)
    for event in values:
        assert found.probability(event) == pytest.approx(expected.probability(event), abs=1e-6)
    assert co.verify(PANEL, found)


def test_without_a_line_the_recipe_is_the_pool_followed_by_exact():
    for pool in ("linear", "trimmed", "median"):
        recipe, chain = co.Recipe(pool), co.Pool(pool, then=co.Exact())
        np.testing.assert_array_equal(
            co.aggregate(PANEL, recipe).solution.value, co.aggregate(PANEL, chain).solution.value
        )


def test_one_certain_judge_does_not_outvote_many_in_a_log_pool():
    panel = co.Panel.from_records([("Z", "p", 0.0), *((f"J{i}", "p", 0.6) for i in range(9))])
    assert co.aggregate(panel, co.Recipe("log")).probability("p") > 0.4


def test_only_a_line_breaks_the_promise_to_keep_coherent_forecasts():
    assert Promise.KEEPS_COHERENT in promises_of(co.Recipe())
    assert Promise.KEEPS_COHERENT not in promises_of(co.Recipe(exponent=1.2))
    assert Promise.KEEPS_COHERENT not in promises_of(co.Recipe(log_share=0.5))


HEAD = {"format": "coherently-recipe", "version": 5}


@pytest.mark.parametrize("then", [None, co.Exact(time_limit=7.0), co.AlternatingProjections(groups="pairs")])
def test_plain_values_lead_back_to_the_recipe(then, tmp_path):
    recipe = co.Recipe("log", 1.25, -0.5, "brier", then, 0.02)
    assert co.Recipe.from_dict(recipe.as_dict()) == recipe
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    assert co.read_recipe(tmp_path / "recipe.json") == recipe


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "the recipe is \\[\\]; it must be a JSON object"),
        ({"recipe": 2}, "the field format is missing"),
        (HEAD | {"version": 6}, "reads 'coherently-recipe', version 5, and the earlier version 1, 2, 3, 4"),
        (HEAD | {"format": "coherently-panel"}, "the record is 'coherently-panel', version 5"),
        ({"recipe": 1, "power": 2}, "the field power is not one of a recipe; the fields are format, version, pool"),
        (HEAD | {"power": 2}, "the field power is not one of a recipe"),
        ({"recipe": 1, "exponent": "much"}, "exponent is 'much'; it must be a finite number"),
        ({"recipe": 1, "pool": 3}, "pool is 3; it must be a text"),
        ({"recipe": 1, "pool": "geometric"}, "pool is 'geometric'; it must be one of mixed, linear, trimmed"),
        ({"recipe": 1, "exponent": -1}, "exponent is -1"),
        ({"recipe": 1, "then": "exact"}, "then is 'exact'; it must be null or an object"),
        ({"recipe": 1, "then": {}}, r"the field then\.method is missing"),
        ({"recipe": 1, "then": {"method": "exactly"}}, "unknown method"),
    ],
)
def test_a_damaged_recipe_is_refused(values, message):
    with pytest.raises(MethodError, match=message):
        co.Recipe.from_dict(values)


def test_files_that_are_no_recipe_are_named(tmp_path):
    with pytest.raises(MethodError, match="does not exist"):
        co.read_recipe(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(MethodError, match=r"bad\.json, line 1, column 2: the recipe is not JSON"):
        co.read_recipe(tmp_path / "bad.json")


@pytest.mark.parametrize(
    "options",
    [{"exponent": math.nan}, {"shift": math.inf}, {"clip": 0.5}, {"then": co.Exact}, {"loss": "absolute"}],
)
def test_bad_options_are_refused(options):
    with pytest.raises(MethodError):
        co.Recipe(**options)


def test_another_loss_than_that_of_the_recipe_is_refused():
    with pytest.raises(MethodError, match="a recipe has its own loss"):
        co.aggregate(PANEL, co.Recipe(), "log")


def test_judges_count_by_their_weights():
    """A recipe equals the pool of a panel with these weights; who is not named counts as the mean of the others."""
    weights = {"A": 3.0, "B": 1.0}
    heavy = co.Panel.from_records([(j, e, p, weights.get(j, 2.0)) for j, e, p in ROWS])
    for pool in ("linear", "median", "trimmed", "log"):
        recipe = co.Recipe(pool, consensus=0, judges=weights, then=None)
        np.testing.assert_allclose(
            co.aggregate(PANEL, recipe).solution.value, co.aggregate(heavy, co.Pool(pool)).solution.value, atol=1e-12
        )


def test_consensus_against_its_definition():
    rows = [(f"J{j}", f"p{i}", (j * 7 + i * 3) % 11 / 12 + 0.05) for j in range(5) for i in range(6)]
    panel, clip = co.Panel.from_records(rows), 0.02
    odds = {(j, i): logit(min(max(p, clip), 1 - clip)) for j, i, p in rows}
    events = sorted({i for _, i, _ in rows})
    middle = {i: logit(float(np.median([p for _, e, p in rows if e == i]))) for i in events}
    square = {j: sum((odds[f"J{j}", i] - middle[i]) ** 2 for i in events) for j in range(5)}
    mean = sum(square.values()) / len(rows)
    distance = {j: (square[j] + 10 * mean) / (6 + 10) for j in range(5)}
    weight = {f"J{j}": (np.median(list(distance.values())) / distance[j]) ** 0.5 for j in range(5)}
    listed = co.Recipe("log", consensus=0, judges=weight, then=None)
    np.testing.assert_allclose(
        co.aggregate(panel, co.Recipe("log", consensus=0.5, then=None)).solution.value,
        co.aggregate(panel, listed).solution.value,
        atol=1e-12,
    )


def test_a_blend_is_the_mean_log_odds_of_its_parts():
    parts = ((1.0, co.Recipe("linear", then=None)), (3.0, co.Recipe("median", 1.5, 0.1, then=None)))
    blend = co.aggregate(PANEL, co.Recipe("blend", parts=parts, then=None))
    first, second = (co.aggregate(PANEL, part) for _, part in parts)
    for event in ("p", "p & q", "q"):
        expected = sigmoid(0.25 * logit(first.probability(event)) + 0.75 * logit(second.probability(event)))
        assert blend.probability(event) == pytest.approx(expected, abs=1e-12)
    assert "25% linear pool; 75% median pool, log-odds times 1.5 plus 0.1" in co.Recipe("blend", parts=parts).sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judges": {"A": 0.0}}, "the judge 'A' counts 0 times; a recipe needs a number above 0"),
        ({"consensus": -1.0}, "consensus is -1.0; it must be a number of 0 or more"),
        ({"signal": -1.0}, "signal is -1.0; it must be a number of 0 or more"),
        ({"log_share": 1.5}, "log_share is 1.5, and the pool mixed; only the pool mixed has one, from 0 to 1"),
        ({"pool": "log", "log_share": 0.5}, "log_share is 0.5, and the pool log; only the pool mixed has one"),
        ({"pool": "blend"}, "the pool is blend, with 0 parts"),
        ({"parts": ((1.0, co.Recipe(then=None)),)}, "the pool is mixed, with 1 parts; only a blend has parts"),
        ({"pool": "blend", "parts": ((0.0, co.Recipe(then=None)),)}, "the share of a part is 0"),
        ({"pool": "blend", "parts": ((1.0, co.Recipe()),)}, "it must be a recipe with then=None"),
    ],
)
def test_bad_weights_and_parts_are_refused(options, message):
    with pytest.raises(MethodError, match=message):
        co.Recipe(**options)


def slow_signal(rows, clip=0.02):
    """Weights by signal in loops, of rows of judge, event and probability; each event is a component of its own."""
    judges, events = sorted({j for j, _, _ in rows}), sorted({e for _, e, _ in rows})
    z = {(j, e): logit(min(max(p, clip), 1 - clip)) for j, e, p in rows}
    weight = dict.fromkeys(judges, 1.0)
    for _ in range(100):
        others = {}
        for j, e in z:
            rest = [k for k in judges if k != j and (k, e) in z]
            if rest:
                others[j, e] = sum(weight[k] * z[k, e] for k in rest) / sum(weight[k] for k in rest)
        spread = np.mean([t * t for t in others.values()])
        common = sum(others[key] * z[key] for key in others) / sum(t * t for t in others.values())
        slope = {}
        for j in judges:
            own = [key for key in others if key[0] == j]
            slope[j] = (sum(others[k] * z[k] for k in own) + 10 * common * spread) / (
                sum(others[k] ** 2 for k in own) + 10 * spread
            )
        apart = {key: (z[key] - slope[key[0]] * others[key]) ** 2 for key in others}
        mean = np.mean(list(apart.values()))
        new = {}
        for j in judges:
            own = [key for key in others if key[0] == j]
            new[j] = max(slope[j], 0.02) / ((sum(apart[k] for k in own) + 10 * mean) / (len(own) + 10))
        middle = np.median(list(new.values()))
        number = {j: sum((j, e) in z for e in events) for j in judges}
        new = {j: (new[j] / middle) ** ((number[j] - 1) / (number[j] + 3)) for j in judges}
        change = max(abs(math.log(new[j] / weight[j])) for j in judges)
        weight = {j: math.sqrt(weight[j] * new[j]) for j in judges}
        if change < 1e-6:
            break
    return weight


def noisy_rows(seed, judges=6, events=9):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1.5, events)
    return [
        (f"J{j}", f"p{i}", sigmoid(truth[i] * (0.5 + 0.2 * j) + 0.3 * (judges - j) * rng.normal()))
        for j in range(judges)
        for i in range(events)
        if rng.random() < 0.9
    ]


@pytest.mark.parametrize("seed", range(3))
def test_weights_by_signal_against_their_definition(seed):
    rows = noisy_rows(seed)
    panel, listed = co.Panel.from_records(rows), slow_signal(rows)
    for pool in ("linear", "log"):
        found = co.aggregate(panel, co.Recipe(pool, signal=1, then=None)).solution.value
        expected = co.aggregate(panel, co.Recipe(pool, judges=listed, then=None)).solution.value
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_who_repeats_a_forecast_carries_no_more_signal():
    rows = noisy_rows(0)
    again = [row for row in rows for _ in range(4 if row[0] == "J0" else 1)]
    one, many = (co.Panel.from_records(each) for each in (rows, again))
    weights = [signal_factors(pose(panel), 0.02) for panel in (one, many)]
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-9)


def test_forecasts_of_one_component_show_no_signal():
    rows = [(f"J{j}", text, 0.2 + 0.1 * j) for j in range(4) for text in ("p & q", "q & r", "p | r")]
    assert signal_factors(pose(co.Panel.from_records(rows)), 0.02).tolist() == [1.0] * 4


def test_the_mixed_pool_is_a_mean_of_the_linear_and_a_bold_pool():
    rows = noisy_rows(4)
    panel = co.Panel.from_records(rows)
    plain, log = (co.aggregate(panel, co.Pool(kind)).solution.value for kind in ("linear", "log"))
    factor = 1.2 * reliability(pose(panel), 0.02)
    bold = np.array([sigmoid(factor * logit(min(max(p, 0.01), 0.99))) for p in log])
    for share in (0.0, 0.3, 1.0):
        found = co.aggregate(panel, co.Recipe(log_share=share, signal=0, then=None)).solution.value
        np.testing.assert_allclose(found, (1 - share) * plain + share * bold, atol=1e-12)


def answers(seed, noise, views, judges=9, groups=12):
    """Judges with views of their own (coherent) and with noise of their own (not coherent)."""
    rng = np.random.default_rng(seed)
    rows = []
    for g in range(groups):
        truth = rng.normal(0, 1, 2)
        for j in range(judges):
            p, q = (sigmoid(z) for z in truth + views * rng.normal(size=2))
            for text, chance in ((f"p{g}", p), (f"q{g}", q), (f"p{g} & q{g}", p * q), (f"~p{g}", 1 - p)):
                rows.append((f"J{j}", text, sigmoid(logit(chance) + noise * rng.normal())))
    return co.Panel.from_records(rows)


def test_noise_is_told_from_views():
    """Coherent judges have no noise, whatever they disagree about; noisy ones have little else."""
    assert noise_share(pose(answers(0, noise=0.0, views=1.0)), EXACT) < 1e-6
    some, much = (noise_share(pose(answers(0, noise=noise, views=0.5)), EXACT) for noise in (0.3, 1.0))
    assert 0.05 < some < much
    assert noise_share(pose(answers(0, noise=1.0, views=0.0)), EXACT) > 0.8
    unrelated = co.Panel.from_records([("A", "p", 0.2), ("B", "p", 0.8), ("A", "q", 0.7), ("B", "q", 0.1)])
    assert noise_share(pose(unrelated), EXACT) == 0


def test_noise_against_the_individual_answers():
    """The definition, with each judge made coherent alone by another door, and other noise."""
    panel = answers(1, noise=0.4, views=0.4, judges=5, groups=150)
    alone, mean = co.individual(panel, co.Exact()), co.aggregate(panel, "linear").solution.value
    far = (panel.probability - mean[panel.event_index]) ** 2 * 5 / 4
    each = np.sqrt(np.bincount(panel.judge_index, far) / np.bincount(panel.judge_index))[panel.judge_index]
    made = np.clip(alone.probability + each * np.random.default_rng(9).normal(size=len(far)), 0, 1)
    names, texts = np.array(panel.judges)[panel.judge_index], np.array(panel.written.text)[panel.event_index]
    again = co.individual(co.Panel.from_records(list(zip(names, texts, made, strict=True))), co.Exact())
    shown = np.sum((made - again.probability) ** 2) / np.sum((made - alone.probability) ** 2)
    noise, spread = (np.bincount(panel.judge_index, x) for x in ((panel.probability - alone.probability) ** 2, far))
    expected = np.median(np.minimum(1.0, noise / (shown * spread)))
    assert 0.2 < expected < 0.8
    assert noise_share(pose(panel), EXACT) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("events", [("p{}", "~p{}"), ("v{} = a", "v{} = b", "v{} = c", "v{} = d")])
def test_noise_counts_in_full_however_little_contradictions_show(events):
    """All answers are a number plus noise: all of what judges disagree about is noise, of which events show a part."""
    rng = np.random.default_rng(6)
    rows = [
        (f"J{j}", text.format(g), 1 / len(events) + 0.05 * rng.normal())
        for g in range(60)
        for j in range(9)
        for text in events
    ]
    laws = () if len(events) == 2 else [f"variable v{g}: a, b, c, d" for g in range(60)]
    problem = pose(co.Panel.from_records(rows, laws=laws))
    halved = replace(problem, mean=problem.mean + 0.05)  # half of the distance from the mean is no noise
    assert noise_share(problem, EXACT) > 0.85
    assert noise_share(halved, EXACT) == pytest.approx(0.5, abs=0.12)


def test_reliability_by_loops():
    """What the variance of judges leaves of the squares of means, by numbers of judges who count alike."""
    rng = np.random.default_rng(3)
    rows = [
        (f"J{j}", f"e{i}", float(rng.uniform(0.1, 0.9)), float(rng.uniform(0.5, 2))) for j in range(4) for i in range(6)
    ]
    rows.append(("J0", "alone", 0.9, 1.0))
    problem = pose(co.Panel.from_records(rows))
    noise = signal = 0.0
    for i in range(6):
        z, w = np.array([[logit(p), weight] for _, text, p, weight in rows if text == f"e{i}"]).T
        n, mean = w.sum() ** 2 / (w**2).sum(), np.average(z, weights=w)
        variance = np.average((z - mean) ** 2, weights=w) * n / (n - 1)
        noise, signal = noise + w.sum() * variance / n, signal + w.sum() * mean**2
    assert reliability(problem, 0.02) == pytest.approx(max(0.0, 1 - noise / signal))
    same = pose(co.Panel.from_records([(f"J{j}", "p", 0.8) for j in range(3)]))
    assert reliability(same, 0.02) == pytest.approx(1.0)
    many, few = (pose(answers(5, noise=1.0, views=0.5, judges=judges)) for judges in (20, 3))
    assert reliability(few, 0.02) < reliability(many, 0.02) < 1


def test_noise_does_not_hang_on_the_order_of_rows():
    panel = answers(1, noise=0.4, views=0.4, judges=5, groups=8)
    names, texts = np.array(panel.judges)[panel.judge_index], np.array(panel.written.text)[panel.event_index]
    rows = list(zip(names, texts, panel.probability, strict=True))
    order = np.random.default_rng(0).permutation(len(rows))
    turned = co.Panel.from_records([rows[i] for i in order])
    assert noise_share(pose(turned), EXACT) == pytest.approx(noise_share(pose(panel), EXACT), rel=1e-6)


def test_a_few_broken_judges_make_no_noise():
    calm = answers(2, noise=0.0, views=0.5)
    rows = list(zip([calm.judges[j] for j in calm.judge_index], calm.event_index, calm.probability, strict=True))
    broken = [(j, calm.written.text[i], 0.9 if j in {"J0", "J1"} else p) for j, i, p in rows]
    assert noise_share(pose(co.Panel.from_records(broken)), EXACT) < 1e-12


def test_steps_say_what_a_recipe_does():
    blend = co.Recipe("blend", parts=((1.0, co.Recipe("log", 1.4, -0.1, judges={"A": 2.0}, then=None)),))
    said = " ".join(blend.as_dict()["steps"])
    for part in ("Part 1, share 1", "the number in judges", "mean of the log-odds", "by 1.4 and add -0.1", "by exact"):
        assert part in said
    for pool in POOLS:
        if pool != "blend":
            assert pool in POOL_STEPS
    assert "times the weighted mean of the others'" in " ".join(co.Recipe().steps)


def test_version_3_means_what_it_meant():
    old = {"format": "coherently-recipe", "version": 3}
    assert co.Recipe.from_dict(old) == co.Recipe("log", consensus=0.5)
    assert co.Recipe.from_dict(old | {"pool": "linear"}) == co.Recipe("linear")
    part = {"share": 1.0, "pool": "log", "exponent": 1.5}
    blend = co.Recipe.from_dict(old | {"pool": "blend", "parts": [part]})
    assert blend.parts[0][1] == co.Recipe("log", 1.5, consensus=0.5, then=None)


def test_what_earlier_versions_leave_out_means_what_it_meant():
    for old in ({"recipe": 1}, {"format": "coherently-recipe", "version": 2}):
        assert co.Recipe.from_dict(old) == co.Recipe("trimmed", clip=0.01)
        assert co.Recipe.from_dict(old | {"pool": "log"}) == co.Recipe("log", clip=0.01, consensus=0)


def test_a_file_of_version_0_1_is_read_as_it_was_meant(tmp_path):
    text = """{
      "recipe": 1, "pool": "log", "exponent": 1.25, "shift": -0.5, "loss": "brier", "clip": 0.01,
      "then": {"method": "exact", "tolerance": 1e-06, "time_limit": 60.0, "seed": 0,
               "conditionals": "called_off", "threads": 0}
    }"""
    (tmp_path / "old.json").write_text(text)
    old = co.read_recipe(tmp_path / "old.json")
    assert (old.pool, old.exponent, old.shift, old.clip, old.consensus, old.signal) == ("log", 1.25, -0.5, 0.01, 0, 0)
    expected = co.aggregate(PANEL, co.Recipe("log", 1.25, -0.5, clip=0.01)).solution.value
    np.testing.assert_array_equal(co.aggregate(PANEL, old).solution.value, expected)
    (tmp_path / "new.json").write_text(old.to_json())
    assert co.read_recipe(tmp_path / "new.json") == old


def test_a_file_says_its_version_and_what_to_do():
    """The steps, followed by hand with the numbers of the file and nothing else, give the numbers of the recipe."""
    parts = [
        (0.75, co.Recipe("log", 1.5, -0.25, judges={"A": 3.0, "B": 1.0}, then=None)),
        (0.25, co.Recipe("linear", then=None)),
    ]
    recipe = co.Recipe("blend", parts=parts, then=None)
    told = json.loads(recipe.to_json())
    assert (told["format"], told["version"]) == ("coherently-recipe", 5)
    assert [step.split(":")[0] for step in told["steps"]] == [
        "Part 1, share 0.75",
        "Part 2, share 0.25",
        "Average the log-odds of the parts by their shares, each number between 0.001 and 1 less that.",
    ]
    by_hand = {event: _followed(told, [row for row in ROWS if row[1] == event]) for _, event, _ in ROWS}
    found = dict(zip(PANEL.written.text, recipe.numbers(pose(PANEL)), strict=True))
    assert found == pytest.approx(by_hand)


def _followed(told, rows):
    """The answer about an event by the steps of the file."""
    odds = 0.0
    for part in told["parts"]:
        judges = part["judges"] or {"anyone": 1.0}
        weight = [judges.get(judge, sum(judges.values()) / len(judges)) for judge, _, _ in rows]
        pool = mean = sum(w * p for w, (_, _, p) in zip(weight, rows, strict=True)) / sum(weight)
        if part["pool"] == "log":
            each = [logit(min(max(p, part["clip"]), 1 - part["clip"])) for _, _, p in rows]
            pool = sigmoid(sum(w * z for w, z in zip(weight, each, strict=True)) / sum(weight))
            if (mean - 0.5) * (pool - 0.5) > 0 and abs(mean - 0.5) > abs(pool - 0.5):
                pool = mean
            pool = sigmoid(part["exponent"] * logit(min(max(pool, 0.01), 0.99)) + part["shift"])
        odds += part["share"] * logit(min(max(pool, 0.001), 0.999))
    return sigmoid(odds)
