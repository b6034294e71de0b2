"""Clusters that a user names: they stay in one fold, and count as one in intervals."""

import numpy as np
import pandas as pd
import pytest

import coherently as co
from coherently.errors import MethodError, PanelError
from coherently.problem import pose
from coherently.scoring.event_clusters import cluster_labels, joined
from coherently.scoring.intervals import units_of
from coherently.scoring.tuning.blocks import make_blocks
from coherently.scoring.tuning.learned_recipe import FoldOptions, Kitchen, out_of_fold
from coherently.solve import Budget


def shocked(seed=0, states=12, dates=4, judges=5, times=False):
    """Events s_d of some states at some dates; all of one state come true together, whatever judges say."""
    rng = np.random.default_rng(seed)
    rows, outcomes = [], {}
    for s in range(states):
        shock = int(rng.random() < 0.5)
        for d in range(dates):
            text = f"s{s}_d{d}_x"
            outcomes[text] = shock
            for j in range(judges):
                row = {"judge": f"J{j}", "event": text, "probability": float(rng.uniform(0.2, 0.8))}
                rows.append(row | ({"time": f"2025-01-{d + 1:02}"} if times else {}))
    return co.Panel.from_frame(pd.DataFrame(rows), outcomes=outcomes)


def state(text):
    return text.split("_")[0]


def test_all_ways_to_name_clusters_agree(tmp_path):
    panel = shocked(states=3)
    table = pd.DataFrame({"event": panel.written.text, "cluster": [state(text) for text in panel.written.text]})
    table.to_csv(tmp_path / "clusters.csv", index=False)
    table.rename(columns={"cluster": "region"}).to_csv(tmp_path / "other.csv", index=False)
    expected = cluster_labels(panel, state)
    assert expected.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    ways = [
        table,
        dict(zip(table["event"], table["cluster"], strict=True)),
        tmp_path / "clusters.csv",
        f"{tmp_path / 'other.csv'}:region",
    ]
    for way in ways:
        assert cluster_labels(panel, way).tolist() == expected.tolist()


def test_events_are_found_by_meaning():
    panel = co.Panel.from_records([("Ann", "p & q", 0.5), ("Ann", "r", 0.5)])
    assert cluster_labels(panel, {"~(~p | ~q)": 1}).tolist() == [0, -1]


def test_wrong_clusters_are_refused(tmp_path):
    panel = shocked(states=2)
    with pytest.raises(PanelError, match="no event of the panel has a cluster"):
        cluster_labels(panel, {"nonsense": 1})
    twice = pd.DataFrame({"event": ["s0_d0_x", "s0_d0_x"], "cluster": ["a", "b"]})
    with pytest.raises(PanelError, match="puts s0_d0_x into two clusters"):
        cluster_labels(panel, twice)
    twice.to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(MethodError, match="has no column 'nonsense'; its columns are event, cluster"):
        cluster_labels(panel, f"{tmp_path / 'c.csv'}:nonsense")


def test_components_of_one_cluster_are_one():
    component, label = np.array([0, 0, 1, 2, 3, -1]), np.array([-1, 5, 5, 2, -1, 2])
    found = joined(component, label)
    assert found[0] == found[1] == found[2]
    assert len({found[0], found[3], found[4]}) == 3
    assert found[5] == -1
    assert joined(component, None) is component


def test_no_cluster_is_in_two_folds():
    panel = shocked()
    blocks = make_blocks(panel, pose(panel), by_time=False, label=cluster_labels(panel, state))
    fold = blocks.fold[blocks.block]
    of_state = [state(panel.written.text[i]) for i in blocks.event]
    assert blocks.components == 12
    assert all(len(set(fold[np.array(of_state) == s])) == 1 for s in set(of_state))


def test_intervals_take_a_cluster_as_one():
    panel = shocked()
    assert units_of(panel).count == 48
    assert units_of(panel, cluster_labels(panel, state)).count == 12
    alone, together = co.compare(panel), co.compare(panel, cluster=state)
    assert (alone.variables, together.variables) == (48, 12)
    assert np.array_equal(alone.value, together.value)
    widths = [
        np.subtract(*one.difference("Linear average", "Raw", over="events").interval) for one in (alone, together)
    ]
    assert widths[0] != pytest.approx(widths[1])


def test_a_cluster_over_parts_of_the_panel_leaves_the_rest():
    panel = shocked(states=3)
    label = np.full(12, -1)
    label[:4] = 0
    assert units_of(panel, label).count == 9


def test_outcomes_of_a_cluster_do_not_teach_its_other_events():
    """With the outcomes of one state turned round, the state is answered as before."""
    panel = shocked(states=40, dates=2)
    kitchen = Kitchen.of(panel, FoldOptions(cluster=state), 60.0, Budget())
    before = out_of_fold(kitchen)[0]
    own = np.array([state(text) == "s7" for text in panel.written.text])
    outcomes = {
        text: int(1 - y if mine else y)
        for text, y, mine in zip(panel.written.text, panel.written.outcome, own, strict=True)
    }
    rows = [
        (panel.judges[j], panel.written.text[i], p)
        for j, i, p in zip(panel.judge_index, panel.event_index, panel.probability, strict=True)
    ]
    other = Kitchen.of(co.Panel.from_records(rows, outcomes=outcomes), FoldOptions(cluster=state), 60.0, Budget())
    assert np.allclose(before[own], out_of_fold(other)[0][own], atol=1e-12)


def test_folds_are_over_time_where_forecasts_have_times():
    timed, untimed = shocked(states=12, dates=4, times=True), shocked()
    assert co.tune(timed).over == "time"
    assert co.tune(untimed).over == "components"
    assert co.tune(timed, over="components").over == "components"
    assert co.tune(timed, cluster=state).over == "components"


def test_names_and_dates_that_look_tied_are_noted_with_the_gain_of_stricter_folds():
    (note,) = (note for note in co.tune(shocked()).scores.notes if "look tied" in note)
    assert "48 components have 12 words in the same place of their names (s0, s1, s10, s11, s2" in note
    assert "the gain over the linear average is" in note
    (note,) = (note for note in co.tune(shocked(times=True), over="components").scores.notes if "look tied" in note)
    assert "4 dates of their last forecasts" in note
    assert not any("look tied" in note for note in co.tune(shocked(), cluster=state).scores.notes)


def test_every_component_with_a_name_of_its_own_does_not_look_tied():
    rows = [(f"J{j}", f"q{i}_a", 0.3 + 0.1 * j) for i in range(40) for j in range(3)]
    panel = co.Panel.from_records(rows, outcomes={f"q{i}_a": i % 2 for i in range(40)})
    assert not any("look tied" in note for note in co.tune(panel).scores.notes)
