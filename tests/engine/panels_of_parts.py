"""Panels of many independent components, some of them costly enough to be sent to an engine."""

import numpy as np

import coherently as co

FORMS = ("{a} & {b}", "{a} & ~{b}", "{a} | {b}", "{a} | ~{b}")


def records(count, seed=0, most=40, judges=1):
    """Forecasts about `count` components of 4 to `most` variables each."""
    rng = np.random.default_rng(seed)
    for c in range(count):
        variables = int(np.exp(rng.uniform(np.log(4), np.log(most))))
        texts = [f"c{c}x{i}" for i in range(variables)]
        for _ in range(int(variables * rng.choice([1, 1.5, 2, 2.5]))):
            a, b = rng.choice(variables, 2, replace=False)
            texts.append(FORMS[rng.integers(4)].format(a=texts[a], b=texts[b]))
        for text in texts:
            for judge in range(judges):
                yield f"judge {judge}", text, round(float(rng.random()), 3)


def panel_of_parts(count, seed=0, most=40, judges=1, **options):
    return co.Panel.from_records(records(count, seed, most, judges), **options)


FIRST = 1000.0
"""Less than the objective of the first answer to the hard panel, 1312; work of 0.05 seconds brings it to 274."""


def hard_panel():
    """One component that no method proves to be solved within seconds."""
    return co.simulate(judges=300, variables=100, seed=0)
