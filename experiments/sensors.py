"""Figures of the tutorial on sensors, drawn with the code of its page: `python -m experiments.sensors`."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING, Any

import numpy as np

import coherently as co
from experiments.figures import new_figure, save_figure
from experiments.markdown import DOCS

if TYPE_CHECKING:
    from collections.abc import Callable

SCENES = 40
NANOJOULES = 220.0
"""Energy of one bit over one hop: 50 nJ to send, 50 nJ to receive, 0.1 nJ per square metre of a hop of 35 m."""
HEAD, REPORT = 64, 20
"""Bytes of a message, and of one report in it."""
SWEEPS = (1, 2, 4, 8, 16)
SIDES = (3, 6, 9, 12, 18)
LYING = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)


def main() -> None:
    """Draw all of them."""
    page = page_names()
    for draw in (draw_energy, draw_growth, draw_lies):
        print(f"{draw(page)} written", flush=True)


def page_names() -> dict[str, Any]:
    """The functions that the page defines; what it only shows is not run."""
    names: dict[str, Any] = {}
    text = (DOCS / "tutorials" / "sensors.md").read_text("utf-8")
    for example in doctest.DocTestParser().get_examples(text):
        if example.source.startswith(("import", "def", "rivals")):
            exec(example.source, names)
    return names


def energy(size: float) -> float:
    """Millijoules of bytes over hops."""
    return size * 8 * NANOJOULES * 1e-6


def centre_bytes(page: dict[str, Any], rows: list[tuple[str, str, float]], place: Any) -> float:
    """Bytes over all hops if every sensor sends its reports to the best-placed one."""
    topology = page["hears"](place)
    counts = list(_counts(rows).values())
    few = range(0, len(place), max(1, len(place) // 50))
    middle = min(few, key=lambda at: float(np.abs(place[at] - place.mean(axis=0)).sum()))
    hops = [len(topology.route(node, middle)) - 1 for node in range(len(place))]
    return float(sum(hop * (HEAD + REPORT * count) for hop, count in zip(hops, counts, strict=True)))


def _counts(rows: list[tuple[str, str, float]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for judge, event, _ in rows:
        found[judge] = found.get(judge, 0) + ("given" not in event)
    return found


def draw_energy(page: dict[str, Any]) -> Any:
    """Accuracy against energy."""
    scenes = [page["scene"](seed) for seed in range(SCENES)]
    runs = [("singletons", 1), *(("logical", sweeps) for sweeps in SWEEPS)]
    found = [np.mean([page["by_messages"](*one, *run) for one in scenes], axis=0) for run in runs]
    central = []
    for rows, truth, place in scenes:
        plain = page["without_conditions"](rows, truth)
        central.append((page["brier"](plain, co.aggregate(plain, "exact")), centre_bytes(page, rows, place)))
    score, size = np.mean(central, axis=0)
    figure, ax = new_figure()
    ax.plot([energy(one[2]) for one in found[1:]], [one[0] for one in found[1:]], "o-", label="local projections")
    for sweeps, one in zip(SWEEPS, found[1:], strict=True):
        ax.annotate(f"{sweeps}", (energy(one[2]), one[0]), textcoords="offset points", xytext=(0, 6))
    ax.plot(energy(found[0][2]), found[0][0], "s", label="averages by messages")
    ax.plot(energy(size), score, "X", label="exact, at a centre")
    ax.set_xscale("log")
    ax.set_xlabel("energy of all radios, mJ (numbers: sweeps)")
    ax.set_ylabel("mean Brier score")
    ax.legend(frameon=False)
    for run, one in zip(runs, found, strict=True):
        print(run, f"Brier {one[0]:.4f}, {one[1]:.0f} messages, {energy(one[2]):.0f} mJ")
    print("centre", f"Brier {score:.4f}, {energy(size):.0f} mJ")
    return save_figure(figure, "sensors-energy.svg")


def draw_growth(page: dict[str, Any]) -> Any:
    """Energy per sensor against the number of sensors, ten for every three cells."""
    local, central, sensors = [], [], []
    for side in SIDES:
        rows, truth, place = page["scene"](0, side=side, sensors=10 * side * side // 3)
        sensors.append(len(place))
        local.append(energy(page["by_messages"](rows, truth, place, "logical", 1)[2]) / len(place))
        central.append(energy(centre_bytes(page, rows, place)) / len(place))
        print(f"{len(place)} sensors: local {local[-1]:.2f} mJ, centre {central[-1]:.2f} mJ each", flush=True)
    figure, ax = new_figure()
    ax.plot(sensors, local, "o-", label="one sweep of local projections")
    ax.plot(sensors, central, "X-", color="C2", label="exact, at a centre")
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("sensors")
    ax.set_ylabel("energy per sensor, mJ")
    ax.legend(frameon=False)
    return save_figure(figure, "sensors-growth.svg")


def draw_lies(page: dict[str, Any]) -> Any:
    """Accuracy against the share of liars."""
    rivals: dict[str, Callable[[co.Panel], co.Result]] = page["rivals"]
    panels = [
        [page["without_conditions"](*page["scene"](seed, lying=lying)[:2]) for seed in range(SCENES)] for lying in LYING
    ]
    figure, ax = new_figure()
    for name, rival in rivals.items():
        scores = [np.mean([page["brier"](plain, rival(plain)) for plain in drawn]) for drawn in panels]
        ax.plot(LYING, scores, "o-", markersize=3, label=name)
        print(f"{name:18}", *(f"{score:.3f}" for score in scores), flush=True)
    ax.axhline(0.25, color="grey", linewidth=0.8, linestyle=":")
    ax.set_xlabel("share of sensors that lie (dotted: the score of 0.5 for everything)")
    ax.set_ylabel("mean Brier score")
    ax.legend(frameon=False, fontsize=8)
    return save_figure(figure, "sensors-lies.svg")


if __name__ == "__main__":
    main()
