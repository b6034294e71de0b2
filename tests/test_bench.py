"""The benchmarks run, on small panels: they are not part of what the tests install, and nobody else would notice."""

import numpy as np
import pytest

import coherently as co
from bench import (
    components,
    counts,
    engines,
    exact,
    influence,
    intake,
    live,
    networks,
    relaxed,
    schedule,
    structure,
    tightness,
)
from bench.draw import sparse_panel
from bench.measure import in_a_row
from bench.runs import solve_and_verify
from coherently.problem import pose


@pytest.mark.parametrize("design", ["logical", "pairs"])
@pytest.mark.parametrize("flat", [False, True])
def test_the_relaxed_problem_goes_through_a_file(tmp_path, design, flat):
    file = str(tmp_path / "panel.npz")
    relaxed.store(pose(co.simulate(judges=5, variables=12, seed=1)).merged, file)
    assert relaxed.measure(relaxed.Case(file, design, flat, relaxed.OURS)).is_accurate()


def test_non_negative_least_squares_over_all_atoms_finds_the_same():
    ours, theirs = exact._beside_nnls(co.simulate(judges=4, variables=10, seed=2), in_a_row)
    assert ours.gap <= 1e-9
    assert theirs.gap <= 1e-9


@pytest.mark.parametrize("kind", exact.SPARSE_KINDS)
def test_sparse_panels_are_aggregated(kind):
    panel = sparse_panel(40, 90, kind, seed=0)
    assert len(np.unique(panel.event_index)) == 90
    assert solve_and_verify(panel, co.Exact(time_limit=5)).gap <= 1e-6


def test_what_is_missing_to_coherence_is_missing_to_the_bound():
    bound, found = tightness.measure(30, 90, seed=0)
    nearest = co.aggregate(sparse_panel(30, 90, "simulated", seed=0), co.Exact(time_limit=30))
    assert found
    assert bound + sum(found) <= nearest.objective * (1 + 1e-9)


def test_a_live_panel_is_revised():
    measured = {row[0].split(",")[0]: row for row in live.rows(components=12, revisions=20, drifting=200)}
    assert len(measured) == 5
    assert measured["200 random revisions"][3] == "1e-07: met"


def test_networks_of_sensors_run():
    calm, stormy = networks.rows(((30, 4, 2),))
    assert calm[:4] == ("30", stormy[1], "2", "0%")
    assert calm[-2] == stormy[-2]


def test_components_of_mixed_cost_are_priced():
    costs = engines.measured_costs(engines.tasks_of(engines.mixed_panel(8, most=36)))
    assert len(costs) > 2
    assert (costs > 0).all()


def test_a_simulated_schedule_is_never_faster_than_its_work_or_its_longest_component():
    load = schedule.draw("", 300, 100, 0.05, 50)
    before = np.inf
    for workers in (1, 4, 16, 64):
        seconds, busy = schedule.simulate_schedule(load, workers)
        assert max(*load.seconds, sum(load.seconds) / workers) <= seconds <= before + 0.5
        assert 0 < busy <= 1
        before = seconds
    assert schedule.simulate_schedule(load, 1)[1] > 0.9


def test_large_panels_are_drawn_and_aggregated(tmp_path):
    costs = [intake.aggregated(tmp_path, rows, 500) for rows in (2000, 4000)]
    assert (tmp_path / "out.parquet").exists()
    assert all(cost.processor > 0 and cost.memory > 10 for cost in costs)
    assert intake.exponent((10, 100), [intake.Cost(1, 0, 0), intake.Cost(10, 0, 0)]) == pytest.approx(1)
    intake.draw_parquet(tmp_path / "panel.parquet", 3000, 700)
    assert len(co.read_panel(tmp_path / "panel.parquet").written) == 700


def test_polars_averages(tmp_path):
    (tmp_path / "panel.csv").write_text("judge,event,probability\na,p,0.5\nb,p,0.25\n")
    intake.theirs(str(tmp_path / "panel.csv"), str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text() == "event,probability\np,0.375\n"


def test_counts_are_proved_and_verified():
    for panels in ([counts.counted_panel(30, 0)], [counts.overlapping_panel(0)]):
        timing = counts.measure(panels, "brier")
        assert timing.verified
        assert timing.gap <= 1e-9


def test_tables_of_components_are_measured():
    row = components.aggregated("a few", components.two_variables(5), "log", 1.0)
    assert row.found.startswith("optimal, 5 components")
    assert components.aggregated("singles", components.single_events(4), "brier", 1.0).found.startswith("optimal, 4")
    assert components.asked(3).found == "2 of 2 certified"
    spent, exponent = components.growth("brier", (2, 4))
    assert len(spent) == 2
    assert np.isfinite(exponent)


def test_components_of_a_structure_grow():
    for draws in (structure.GROWTH, structure.TIED):
        assert [len(row) for row in structure.growth(draws, (8, 16), "log")] == [4, 4, 4, 4]


def test_influence_is_measured_and_agrees_with_the_plain_way(tmp_path, capsys):
    file = tmp_path / "panel.csv"
    rows = [("Ann", "p", 0.4), ("Bob", "p & q", 0.5), ("Bob", "q", 0.3), ("Cid", "p", 0.2)]
    file.write_text("judge,event,probability\n" + "".join(f"{j},{e},{p}\n" for j, e, p in rows))
    influence.main(str(file), "--check")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 forecasts by 3 judges on 3 events over 2 variables"
    assert float(lines[-1].split("|")[2]) < 1e-7
