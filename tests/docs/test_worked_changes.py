"""The worked changes of CONTRIBUTING, followed: each block of code goes into its module, and is used at the doors."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import coherently as co

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
ROWS = [("Ann", "p", 0.8), ("Ann", "p & q", 0.5), ("Bob", "q", 0.3), ("Bob", "p | q", 0.6), ("Bob", "p", 0.6)]


@pytest.fixture
def follow(monkeypatch):
    """Put the code of a section into a module until the test ends, and replace the tables that it makes anew."""

    def put(section, module, *tables):
        code = re.search(rf"^## {section}\n.*?^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
        home = importlib.import_module(module)
        before = {name: getattr(home, name) for name in tables}
        for table in before.values():
            if isinstance(table, dict):
                for word in re.findall(r'\["([a-z.-]+)"\]', code):
                    monkeypatch.setitem(table, word, None)  # so that it is taken out again
        space = dict(vars(home))
        exec(code, space)
        for name, table in before.items():
            if space[name] is not table:
                for other in [one for key, one in sys.modules.items() if key.startswith("coherently")]:
                    if getattr(other, name, None) is table:
                        monkeypatch.setattr(other, name, space[name])
        return space

    return put


def test_a_loss(follow):
    space = follow("Adding a loss", "coherently.problem.losses", "LOSSES")
    loss, grid = space["Quartic"](), np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(loss.inverse(loss.gradient(grid)), grid, atol=1e-12)
    slope = (loss.divergence(grid + 1e-6, 0.3) - loss.divergence(grid - 1e-6, 0.3)) / 2e-6
    np.testing.assert_allclose(slope, loss.gradient(grid) - loss.gradient(0.3), atol=1e-6)
    panel = co.Panel.from_records(ROWS)
    result = co.aggregate(panel, "exact", "quartic")
    again = co.Result.from_json(result.to_json())
    assert (result.status, again.loss.name) == ("optimal", "quartic")
    assert co.verify(panel, again)
    assert result.objective == pytest.approx(least_loss(loss), abs=1e-6)


def least_loss(loss):
    """The least loss of the merged forecasts over all distributions on the worlds of p and q."""
    events = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1]])
    merged = float(loss.inverse(loss.gradient([0.8, 0.6]).mean()))
    mean, weight = np.array([merged, 0.5, 0.3, 0.6]), np.array([2.0, 1, 1, 1])
    found = minimize(
        lambda share: float(weight @ loss.divergence(events @ share, mean)),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda share: share.sum() - 1},
        options={"ftol": 1e-12},
    )
    assert found.success
    return found.fun


def test_a_bound(follow):
    space = follow("Adding a bound", "coherently.solve.lower_bounds.bound_rules", "BOUNDS")
    asked = []
    rule = space["ByImplication"]

    def bound(self, grounds, budget, objective, plain=rule.bound):
        asked.append(plain(self, grounds, budget, objective).value)
        return plain(self, grounds, budget, objective)

    rule.bound = bound
    panel = co.simulate(judges=30, variables=25, seed=1)
    result = co.aggregate(panel, "exact")
    assert asked
    assert 0 < max(asked) <= result.objective
    assert co.verify(panel, result)


def test_a_pool(follow):
    from coherently.solve.registry import METHODS

    follow("Adding a pool", "coherently.solve.methods.pools", "OPTIONS", "AVERAGES")
    panel = co.Panel.from_records(ROWS)
    pool = co.Pool("root-mean-square")
    result = co.aggregate(panel, pool)
    assert result.probability("p") == pytest.approx(np.sqrt((0.8**2 + 0.6**2) / 2))
    assert co.verify(panel, result)
    coherent = co.aggregate(panel, co.Pool("root-mean-square", then=co.Exact()))
    assert coherent.coherence == "global"
    assert co.verify(panel, coherent)
    assert "root-mean-square" not in METHODS  # the table is made of OPTIONS when the package is loaded


def test_a_group_design(follow):
    follow("Adding a group design", "coherently.problem.groups.named", "DESIGNS")
    panel = co.Panel.from_records([*ROWS, ("Bob", "q & r", 0.4)])
    result = co.aggregate(panel, co.AlternatingProjections(groups="first-variable", correction="dykstra"))
    assert result.groups == "first-variable"
    assert result.probability("p & q") <= result.probability("p") + 1e-6
    assert result.probability("q & r") <= result.probability("q") + 1e-6
    assert result.objective <= co.aggregate(panel, "exact").objective + 1e-9
    assert co.verify(panel, result)


def test_a_file_format(follow, tmp_path):
    follow("Adding a file format", "coherently.panel.readers", "READERS")
    file = tmp_path / "panel.json"
    file.write_text(
        '[{"judge": "Ann", "event": "p", "probability": 0.8}, {"judge": "Ann", "event": "~p", "probability": 0.4}]'
    )
    panel = co.read_panel(file)
    assert (panel.judges, panel.probability.tolist()) == (("Ann",), [0.8, 0.4])
    assert co.check(panel).judges["Ann"].coherent is False
    assert co.aggregate(panel, "exact").probability("p") == pytest.approx(0.7)
    file.write_text('[{"judge": "Ann", "event": "p", "probability": 1.2}]')
    with pytest.raises(co.PanelError, match=r"panel\.json row 1"):
        co.read_panel(file)


def test_a_scoring_rule(follow):
    follow("Adding a scoring rule", "coherently.scoring.scoring_rules", "RULES")
    panel = co.Panel.from_records([("Ann", "p", 0.75), ("Ann", "q", 0.5), ("Bob", "p", 0.5)], outcomes={"p": 1, "q": 0})
    scores = co.score(panel)
    assert scores.by_rule["absolute"].tolist() == [0.375, 0.5]
    assert [row["absolute"] for row in scores.as_dict()["judges"]] == [0.375, 0.5]
    compared = co.compare(panel, {"mean": "linear", "median": "median"}).as_dict()
    assert all("absolute" in row for rows in compared["scores"].values() for row in rows), compared["scores"]
