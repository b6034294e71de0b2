"""Distributed kernel regression in a setting like that of its paper: `python -m experiments.kernel_field`.

Predd, Kulkarni and Poor (2006) put 50 sensors on [-1, 1], which measure a field with Gaussian noise and hear those within a
radius; here a smooth field, sin(pi x), averaged over many draws. What counts is the error of predictions of the field itself.
"""

from __future__ import annotations

import numpy as np

from coherently.network import CentralKernel, KernelFusion, LocalKernel
from experiments.figures import new_figure, save_figure

SENSORS, DRAWS, NOISE = 50, 20, 1.0
PENALTY = 1.0
"""The penalty of the centre, and of each sensor alone; in the fusion each sensor has it divided by its neighbours."""
RADII = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 2.0)
KERNEL = ("laplace", 1.0)
POINTS = np.linspace(-1, 1, 101)[:, None]


def errors(radius: float, seed: int) -> list[float]:
    """Mean squared errors of one draw: local fits, one sweep, ten sweeps, the limit, and the centre."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1, 1, (SENSORS, 1))
    y = np.sin(np.pi * places[:, 0]) + rng.normal(0, NOISE, SENSORS)
    share = PENALTY / np.sum(np.abs(places - places.T) <= radius, axis=1)
    fits: list[LocalKernel | KernelFusion | CentralKernel] = [
        LocalKernel(KERNEL, PENALTY, radius),
        *(KernelFusion(KERNEL, share, radius, sweeps) for sweeps in (1, 10, None)),
        CentralKernel(KERNEL, PENALTY),
    ]
    truth = np.sin(np.pi * POINTS[:, 0])
    return [float(np.mean((fit.fit(places, y).predict(POINTS) - truth) ** 2)) for fit in fits]


def main() -> None:
    """Draw the error against the radius."""
    names = ("each sensor alone", "fusion, 1 sweep", "fusion, 10 sweeps", "fusion, the limit", "a centre")
    table = np.array([np.mean([errors(radius, seed) for seed in range(DRAWS)], axis=0) for radius in RADII])
    figure, ax = new_figure()
    for column, name in enumerate(names):
        style = "--" if name == "a centre" else "o-"
        ax.plot(RADII, table[:, column], style, markersize=3, label=name)
        print(f"{name:18}", *(f"{error:.4f}" for error in table[:, column]))
    ax.set_yscale("log")
    ax.set_xlabel(f"radius within which sensors hear each other ({SENSORS} sensors on [-1, 1])")
    ax.set_ylabel("mean squared error of the field")
    ax.legend(frameon=False, fontsize=8)
    print(f"{save_figure(figure, 'kernel-fusion.svg')} written")


if __name__ == "__main__":
    main()
