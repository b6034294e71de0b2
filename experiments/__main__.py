"""`make experiments`: section 5 of the paper on simulated stand-ins, written to docs/experiments.md."""

from __future__ import annotations

import time

import coherently as co
from experiments import page
from experiments.figures import draw_curves
from experiments.markdown import stamp, write_page
from experiments.published import SETS
from experiments.standins import fit, fit_noise
from experiments.trials import curve, run_trials

PANELS = 25
REMADE = 200
SEED = 0
"""The panel that is shown with intervals and sweep by sweep."""


def main() -> None:
    """Fit, run, draw and write."""
    begun = time.perf_counter()
    trials, plain = [], []
    for published in SETS:
        print(f"{published.name}: fitting and running {PANELS} panels", flush=True)
        trials.append(run_trials(fit(published, PANELS), PANELS, sapa=published.name == "STCK"))
        plain.append(run_trials(fit_noise(published, PANELS), PANELS, sapa=False))
    nested = run_trials(fit(SETS[0], PANELS, nested=True), PANELS, sapa=True)
    panels = {one.standin.published.name: one.standin.panel(SEED) for one in trials}
    alone = [curve(name, panel, alone=True) for name, panel in panels.items()]
    together = [curve(name, panel, alone=False) for name, panel in panels.items()]
    ends = {row: {one.name: one.brier[row] for one in SETS} for row in ("Individual", "Aggregate (paper)")}
    draw_curves(
        alone, ends["Individual"], "Individual: Brier score vs. T, stand-ins of seed 0", "individual-sweeps.svg"
    )
    draw_curves(
        together, ends["Aggregate (paper)"], "Aggregate: Brier score vs. T, stand-ins of seed 0", "aggregate-sweeps.svg"
    )
    shown = co.compare(panels["STCK"])
    remade = co.compare(panels["STCK"], bootstrap=REMADE, remake=True)
    parts = [
        *page.introduction(trials),
        *page.tables(trials, nested),
        *page.orderings(trials),
        *page.intervals(trials[0], shown, remade),
        *page.sweeps(alone, together),
        *page.without_conservatism(plain),
        *page.reasons(trials),
    ]
    parts.insert(1, stamp("make experiments", time.perf_counter() - begun))
    print(f"{write_page('experiments.md', parts)} written")


if __name__ == "__main__":
    main()
