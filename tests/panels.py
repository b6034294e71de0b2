"""Panels that several tests use."""

from importlib.resources import as_file, files

import coherently as co
from coherently.solve import METHODS as WORDS
from coherently.solve import choose

TABLE_2 = [
    *[("Alice", "p", 0.75), ("Bob", "p", 0.60), ("Chris", "p", 0.95)],
    *[("Alice", "q", 0.20), ("Bob", "q", 0.10), ("Chris", "q", 0.00)],
    *[("Alice", "p & q", 0.10), ("Bob", "p & q", 0.10), ("Chris", "p & q", 0.60)],
]
TABLE_3 = [
    *[("Alice", "p", 0.75), ("Bob", "p", 0.60)],
    *[("Alice", "q", 0.20), ("Chris", "q", 0.00)],
    *[("Bob", "p & q", 0.40), ("Chris", "p & q", 0.00)],
]
QUICK = {"annealing": {"columns": 50, "steps": 500}}
"""Options that spare time in tests, by the word for the method."""
METHODS = [*(choose(word, **QUICK.get(word, {})) for word in WORDS), co.Exact(time_limit=0)]
"""Every registered method, and one that has no time."""
TRIANGLE = [("A", event, 0.5) for event in "abc"] + [("A", event, 0.0) for event in ("a & b", "a & c", "b & c")]
APART = [*TRIANGLE, ("B", "x", 0.3), ("B", "~x", 0.6), ("B", "x & y", 0.9), ("B", "true", 0.4)]
WORLDS = [(False, False), (False, True), (True, False), (True, True)]
"""Of p and q, in the order of the mean Brier scores below."""


def bundled(name, **options):
    with as_file(files("coherently") / "data" / name) as path:
        return co.read_panel(path, **options)


def forecasts(panel):
    """The panel's forecasts as (judge, event, probability)."""
    return [
        (panel.judges[judge], panel.written.text[event], probability)
        for judge, event, probability in zip(
            panel.judge_index.tolist(), panel.event_index.tolist(), panel.probability.tolist(), strict=True
        )
    ]
