"""Whether out-of-fold gains are honest: `python -m tests.scoring.gain_checks` prints the table of docs/reliability.md.

Panels are drawn whose outcomes have known probabilities pi given all that was said. The gain of the tuned recipe q over
the linear average m on an event is then known in expectation, (m - pi)^2 - (q - pi)^2, because q was learned from
outcomes that are independent of this one, if and only if folds are honest. So

- the estimate less that expectation is 0 in the mean, unless outcomes leak, and
- the interval of the gain contains it about as often as it says.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

import coherently as co
from coherently.scoring.candidates import Candidate
from coherently.scoring.comparison import compare_forecasts
from coherently.scoring.tuning.learned_recipe import FoldOptions, Kitchen, out_of_fold, retaught
from coherently.solve import Budget, Pool

PANELS = 500
"""Number of panels per setting in the campaign."""
JUDGES = 5
SHOCKS = np.polynomial.hermite_e.hermegauss(21)
"""Points and weights of integrals over a normal shock."""


@dataclass(frozen=True)
class Setting:
    """How outcomes come about; `honest` is whether folds and intervals know the clusters."""

    name: str
    kind: str
    clusters: int = 12
    families: int = 2
    honest: bool = True


SETTINGS = (
    Setting("pure noise: a world at random, whatever judges say", "noise"),
    Setting("pure noise, more clusters", "noise", clusters=40, families=1),
    Setting("outcomes shuffled within clusters", "shuffled", families=4),
    Setting("a common shock in each cluster", "shock", families=4),
    Setting("a common shock in each cluster, more clusters", "shock", clusters=30),
    Setting("few seasons, of which each judge has a view", "view", clusters=6, families=8),
    Setting(
        "the same seasons, folds and intervals by component: they leak", "view", clusters=6, families=8, honest=False
    ),
)
LEAKING = len(SETTINGS) - 1
"""The last setting, whose panels are those of the setting before it."""


def drawn(setting, rng):
    """A panel with outcomes, and the probability of each event given what was said, by its text.

    A family is two events, of which (but for shuffled outcomes) one implies the other. Judges with a view add it to all
    log-odds of a cluster, and it says nothing about the shock that the cluster will have.
    """
    rows, laws, outcomes, expected = [], [], {}, {}
    for c in range(setting.clusters):
        shock, own = 1.5 * rng.normal(), {}
        view = rng.normal(0.0, 1.0, JUDGES) if setting.kind == "view" else np.zeros(JUDGES)
        for f in range(setting.families):
            low, high = f"c{c}_f{f}_a", f"c{c}_f{f}_b"
            odds = rng.normal(0.0, 1.2)
            apart = abs(rng.normal(0.0, 0.8))
            truth = {low: odds - apart, high: odds}
            chance = rng.random()
            if setting.kind == "noise":  # the worlds neither, only the second, both, at random
                own |= {low: chance < 1 / 3, high: chance < 2 / 3}
                expected |= {low: 1 / 3, high: 2 / 3}
            elif setting.kind in ("shock", "view"):
                own |= {event: chance < expit(z + shock) for event, z in truth.items()}
                points, weight = SHOCKS
                expected |= {e: float(weight @ expit(z + 1.5 * points) / weight.sum()) for e, z in truth.items()}
            else:
                own |= {event: rng.random() < expit(z) for event, z in truth.items()}
            laws += [] if setting.kind == "shuffled" else [f"{low} -> {high}"]
            for j in range(JUDGES):
                for event, z in truth.items():
                    rows.append((f"J{j}", event, float(expit(z + view[j] + rng.normal(0.0, 0.3 + 0.3 * j)))))
        if setting.kind == "shuffled":
            share = float(np.mean(list(own.values())))
            own = dict(zip(own, rng.permutation(list(own.values())), strict=True))
            expected |= dict.fromkeys(own, share)
        outcomes |= {event: bool(value) for event, value in own.items()}
    return co.Panel.from_records(rows, laws=laws, outcomes=outcomes), expected


def gain(setting, seed):
    """The estimated gain, the expected one, and half the interval over judges and events."""
    panel, expected = drawn(setting, np.random.default_rng([seed, 77]))
    cluster = (lambda text: text.split("_")[0]) if setting.honest else None
    kitchen = Kitchen.of(panel, FoldOptions("components", cluster), 60.0, Budget())
    learned, linear = out_of_fold(kitchen), kitchen.value(Pool("linear"))
    tuned, bare = learned
    blocks = kitchen.blocks
    forecasts = np.stack([value[panel.event_index] for value in (linear, bare, tuned)])
    scores = compare_forecasts(
        panel,
        (Candidate("linear", ""), Candidate("tuned pool", ""), Candidate("tuned", "")),
        forecasts,
        label=kitchen.clusters(),
        retaught=retaught(kitchen, learned, (1, 2)),
    )
    pi = np.array([expected[panel.written.text[i]] for i in blocks.event])
    lost = [np.square(value[blocks.event] - pi) for value in (linear, tuned)]
    known = float(np.sum(blocks.weight * (lost[0] - lost[1])))
    half = scores.variation.half_width(np.array([1.0, 0.0, -1.0]), "both", 0.95)[0]
    return scores.value[0, 0] - scores.value[2, 0], known, half


@dataclass(frozen=True)
class Honesty:
    """What simulations show: mean gains, how far estimates are off in standard errors, and coverage of both targets.

    `own` is how often the interval contains the expected gain of these aggregates, `mean` that of the procedure.
    """

    estimated: float
    expected: float
    off: float
    own: float
    mean: float


def honesty(setting, seed, panels=PANELS):
    found = np.array([gain(setting, seed + i) for i in range(panels)])
    estimate, known, half = found.T
    apart = estimate - known
    target = known.mean()
    return Honesty(
        float(estimate.mean()),
        float(target),
        float(apart.mean() / (apart.std(ddof=1) / np.sqrt(panels))),
        float(np.mean(np.abs(apart) <= half)),
        float(np.mean(np.abs(estimate - target) <= half)),
    )


def seeds_of(number):
    """The first seed of a setting; folds that leak have the panels of the honest ones before them."""
    return 1_000_000 * (number - (number == LEAKING))


def check_gain(number, panels=PANELS):
    """Honest folds: estimates are off by no more than chance, have the right sign, and intervals cover.

    Folds that leak promise a gain where there is a loss, and intervals do not know of it.
    """
    setting = SETTINGS[number]
    found = honesty(setting, seeds_of(number), panels)
    chance = 3 * np.sqrt(0.95 * 0.05 / panels)
    if number == LEAKING:
        assert found.estimated > 0 > found.expected, found
        assert panels < PANELS or (found.off > 4 and found.own < 0.9), found
        return 0.0
    assert abs(found.off) < 4, (setting, found)
    assert found.estimated * found.expected > 0 or panels < PANELS, (setting, found)  # few panels tell no sign
    assert found.own > 0.95 - chance, (setting, found)
    return abs(found.off)


def main(panels):
    head = ("outcomes", "clusters", "estimated gain", "expected gain", "off by", "covered", "of the procedure")
    print(f"| {' | '.join(head)} |")
    print("|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor() as pool:
        jobs = [pool.submit(honesty, one, seeds_of(i), panels) for i, one in enumerate(SETTINGS)]
        for setting, job in zip(SETTINGS, jobs, strict=True):
            one = job.result()
            print(
                f"| {setting.name} | {setting.clusters} | {one.estimated:+.4f} | {one.expected:+.4f} | {one.off:+.1f} "
                f"| {100 * one.own:.1f} | {100 * one.mean:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PANELS)
