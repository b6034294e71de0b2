"""The numbers on the axes are those of the panel."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

import coherently as co
from coherently.plot.data import DRAWN, graph_of
from tests.panels import TABLE_2

mpl.use("Agg")
LOOSE = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


def test_adjustments_show_before_and_after_of_what_moved_most():
    result = co.aggregate(co.Panel.from_records(TABLE_2))
    ax = drawn(co.plot.adjustments(result))
    before, after = (points.get_offsets().data for points in ax.collections[1:])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["q", "p & q"]
    np.testing.assert_allclose(before[:, 0], [0.1, 4 / 15], atol=1e-12)
    np.testing.assert_allclose(after[:, 0], [11 / 60, 11 / 60], atol=1e-9)
    assert len(co.plot.adjustments(result, count=1).get_yticks()) == 1


def test_names_are_not_formulas_for_matplotlib():
    panel = co.Panel.from_records([("Ann", "p", 0.1), ("Ann", '"$x_1$ & \\" y" & p', 0.9)], labels={"p": "a\x07$b$"})
    ax = drawn(co.plot.adjustments(co.aggregate(panel)))
    assert {label.get_text() for label in ax.get_yticklabels()} == {r'"\$x_1\$ & \" y" & p', r"a\x07\$b\$"}


def test_convergence_is_the_trace_and_the_bound():
    panel = co.Panel.from_records(LOOSE)
    result = co.aggregate(panel, co.AlternatingProjections(correction="dykstra", trace=True))
    ax = drawn(co.plot.convergence(result))
    lines = {line.get_label(): line for line in ax.lines}
    trace = result.solution.trace
    np.testing.assert_array_equal(lines["objective"].get_ydata(), trace.objective)
    np.testing.assert_array_equal(lines["largest violation"].get_ydata(), trace.violation)
    np.testing.assert_array_equal(lines["lower bound"].get_ydata(), 2 * [result.lower_bound])


def test_convergence_needs_a_trace():
    result = co.aggregate(co.Panel.from_records(LOOSE), "dykstra")
    with pytest.raises(co.MethodError, match=r"kept no trace; ask for one: AlternatingProjections\(trace=True\)"):
        co.plot.convergence(result)


def test_calibration_of_scores_or_of_their_calibration():
    scores = co.score(co.simulate(judges=12, variables=12, seed=1))
    filled = scores.calibration.count > 0
    expected = np.column_stack([scores.calibration.mean_forecast, scores.calibration.observed])[filled]
    for given in (scores, scores.calibration):
        (points,) = drawn(co.plot.calibration(given)).collections
        np.testing.assert_array_equal(points.get_offsets().data, expected)
        area = points.get_sizes()
        np.testing.assert_allclose(area / area.max(), scores.calibration.count[filled] / scores.calibration.count.max())


def test_graph_joins_variables_that_events_are_about():
    rows = [("A", event, 0.3) for event in ("p", "p & q", "q | p", "q -> r", "exactly(1; s, t, p)", "alone")]
    panel = co.Panel.from_records(rows, labels={"p": "Price"})
    graph = graph_of(panel)
    groups = {
        frozenset(graph.names[v] for v in members): events
        for members, events in zip(graph.members, graph.events, strict=True)
    }
    assert groups == {
        frozenset({"Price", "q"}): ("p & q", "q | p"),
        frozenset({"q", "r"}): ("q -> r",),
        frozenset({"Price", "s", "t"}): ("exactly(1; s, t, p)",),
    }
    np.testing.assert_allclose(np.linalg.norm(graph.place - 0.5, axis=1), 0.5)
    ax = drawn(co.plot.graph(panel))
    assert len(ax.lines) == 2 + 3 + 1
    assert {text.get_text() for text in ax.texts} == {"Price", "q", "r", "s", "t", "alone"}


def test_graph_shows_declared_variables_as_one_and_laws_as_groups():
    rows = [("A", event, 0.3) for event in ("winner = Ann", "winner = Bob & rain", "rate < 3", "rate < 4", "p given q")]
    laws = ["variable winner: Ann, Bob, Cid", "variable rate: number", "rain -> rate < 4", "P(q & rain) <= 0.5"]
    graph = graph_of(co.Panel.from_records(rows, laws=laws))
    assert sorted(graph.names) == ["p", "q", "rain", "rate", "winner"]
    groups = {
        tuple(sorted(graph.names[v] for v in members)): events
        for members, events in zip(graph.members, graph.events, strict=True)
    }
    assert groups == {
        ("rain", "winner"): ("winner = Bob & rain",),
        ("p", "q"): ("p given q",),
        ("rain", "rate"): ("rain -> rate < 4",),
        ("q", "rain"): ("P(q & rain) <= 0.5",),
    }


def test_a_graph_of_too_many_variables_is_refused():
    panel = co.Panel.from_records([("A", f"v{i}", 0.5) for i in range(25)])
    with pytest.raises(co.MethodError, match="about 25 variables; a graph of more than 24 cannot be read"):
        co.plot.graph(panel)


def test_given_axes_are_drawn_on():
    import matplotlib.pyplot as plt

    panel = co.Panel.from_records(LOOSE, outcomes={"p": True, "q": False})
    result = co.aggregate(panel, co.AlternatingProjections(trace=True))
    _, axes = plt.subplots(2, 2)
    for ax, draw, what in zip(
        axes.ravel(),
        (co.plot.adjustments, co.plot.convergence, co.plot.calibration, co.plot.graph),
        (result, result, co.score(panel), panel),
        strict=True,
    ):
        assert draw(what, ax=ax) is ax


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(co.MissingDependencyError, match=r"pip install matplotlib"):
        co.plot.graph(co.Panel.from_records(LOOSE))


def test_fusion_is_the_course_of_a_run():
    network = co.network.Network.from_panel(
        co.Panel.from_records([(f"j{i}", row[1], row[2]) for i, row in enumerate(LOOSE)])
    )
    run = network.run(sweeps=20)
    ax = drawn(co.plot.fusion(run))
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(lines["largest difference"].get_xdata(), run.trace.messages)
    np.testing.assert_array_equal(lines["largest difference"].get_ydata(), run.trace.largest)
    np.testing.assert_array_equal(lines["typical difference"].get_ydata(), run.trace.typical)
    assert co.plot.fusion(run, "bytes").get_xlabel() == "bytes"
    with pytest.raises(co.MethodError, match="over is 'hops'"):
        co.plot.fusion(run, "hops")
    with pytest.raises(co.MethodError, match="compare=True"):
        co.plot.fusion(network.run(compare=False))


def chain(count):
    """Variables v0, v1, ... each in one event with the next; and two that hang together with no other."""
    rows = [("Ann", f"v{i} & v{i + 1}", 0.2) for i in range(count - 1)] + [("Ann", "x | y", 0.9)]
    return co.Panel.from_records(rows, labels={"v20": "The middle"})


def test_a_graph_around_an_event_has_its_neighbours_the_nearest_first():
    panel = chain(60)
    with pytest.raises(co.MethodError, match=r"about 62 variables; .* around=EVENT draws the part around an event"):
        co.plot.graph(panel)
    drawn = graph_of(panel, "v20 & v21")
    kept = {int(name[1:]) if name[0] == "v" else 20 for name in drawn.names}
    assert len(drawn.names) == DRAWN
    assert kept == set(range(20 - 11, 21 + 12))
    assert drawn.more == 60 - DRAWN
    assert all(len(members) == 2 for members in drawn.members)
    assert len(drawn.members) == DRAWN - 1
    ax = co.plot.graph(panel, around="The middle")
    assert ax.get_title() == "24 variables around The middle; 36 more hang together with these"
    assert co.plot.graph(panel, around="x").get_title() == "2 variables around x"
    with pytest.raises(co.MethodError, match=r"nothing in the panel is about 'true'"):
        co.plot.graph(panel, around="true")


def test_calibration_of_each_judge_has_its_own_points_and_intervals():
    panel = co.simulate(judges=3, variables=40, basic=30, compound=0, seed=2)
    ax = co.plot.calibration(panel)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(panel.judges)
    assert len(ax.containers) == 3
    alone = co.plot.calibration(panel, judges=panel.judges[1:2], intervals=False)
    bins = co.calibration(panel, panel.judges[1])
    points = alone.collections[-1].get_offsets()
    np.testing.assert_allclose(points[:, 1], bins.observed[bins.count > 0])
    assert not alone.containers


def test_scores_are_drawn_the_best_first_with_their_intervals():
    panel = co.simulate(judges=5, variables=20, basic=15, compound=5, seed=1)
    found = co.score(panel, confidence=0.9)
    ax = co.plot.scores(found)
    order = np.argsort(found.brier, kind="stable")
    assert [label.get_text() for label in ax.get_yticklabels()] == [found.judges[i] for i in order]
    assert len(ax.collections) == 2
    assert len(co.plot.scores(co.score(panel), "slope", 3).get_yticklabels()) == 3
    with pytest.raises(co.MethodError, match="unknown score 'brie'"):
        co.plot.scores(found, "brie")


def test_influence_has_a_row_for_each_judge_and_the_points_that_it_moves():
    table = co.aggregate(co.Panel.from_records(TABLE_2, laws=["q -> p"]), "exact").influence()
    ax = drawn(co.plot.influence(table))
    judges = table.of_kind("judge")
    assert [label.get_text() for label in ax.get_yticklabels()] == [one.name for one in judges]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(table.events)
    shown = np.ma.filled(ax.images[0].get_array().astype(float), np.nan)
    np.testing.assert_array_equal(shown, 100 * np.array([one.change for one in judges]))
    assert len(co.plot.influence(table, "event", count=2).get_yticks()) == 2
    assert len(co.plot.influence(table, "law").get_yticks()) == 1
    with pytest.raises(co.MethodError, match="kind is 'people'; it may be judge, event, law"):
        co.plot.influence(table, "people")
