"""Panels that several tests use."""

from importlib.resources import as_file, files

import coherently as co

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
