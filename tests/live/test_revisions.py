"""Whatever is revised, the answers are those from scratch; on small panels, those of brute force."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import coherently as co
from tests.live.live_checks import check_revisions
from tests.solve.reference import PROBABILITIES, every_world, formulas, nearest_point


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_revisions_of_points_and_laws_end_where_scratch_begins(seed):
    assert check_revisions(seed, 1_000, every=250, terms=False) <= 1e-7


@pytest.mark.parametrize("seed", range(100, 103))
def test_conditionals_intervals_and_pins_come_and_go(seed):
    check_revisions(seed, 120, groups=4, every=20)


NAMES = ["v0", "v1", "v2", "v3"]
EVENTS = formulas(NAMES, 2)


class AgainstBruteForce(RuleBasedStateMachine):
    """After each step, the answer is the nearest mixture of all worlds that the laws allow."""

    @initialize()
    def begin(self):
        self.live = co.LivePanel(co.Panel.from_records([("A", "v0", 0.5)]), co.Exact(), background=False)
        self.forecasts = [("A", "v0")]
        self.laws = []

    def teardown(self):
        self.live.close()

    @rule(judge=st.sampled_from("AB"), event=EVENTS, p=PROBABILITIES, weight=st.sampled_from([1.0, 2.5]))
    def add(self, judge, event, p, weight):
        try:
            self.live.add(judge, event, p, weight=weight)
        except co.PanelError as error:
            assert "has already forecast" in str(error)
        else:
            self.forecasts.append((judge, event))

    @rule(choice=st.integers(0, 1_000), p=PROBABILITIES)
    def revise(self, choice, p):
        self.live.revise(*self.forecasts[choice % len(self.forecasts)], p)

    @rule(choice=st.integers(0, 1_000))
    def withdraw(self, choice):
        if len(self.forecasts) > 1:
            self.live.withdraw(*self.forecasts.pop(choice % len(self.forecasts)))

    @rule(law=EVENTS)
    def add_law(self, law):
        try:
            self.live.add_law(law)
        except co.PanelError as error:
            assert "contradict" in str(error) or "never be true" in str(error) or "a law already" in str(error)
        else:
            self.laws.append(law)

    @rule(choice=st.integers(0, 1_000))
    def drop_law(self, choice):
        if self.laws:
            self.live.drop_law(self.laws.pop(choice % len(self.laws)))

    @invariant()
    def the_answer_is_the_nearest_of_all(self):
        panel = self.live.panel()
        result = self.live.settle().result()
        merged = result.problem.merged
        worlds = every_world(panel)
        allowed = panel.events.evaluate(panel.laws.side, worlds).all(axis=1)
        truth = np.unique(panel.events.evaluate(merged.event, worlds[allowed]), axis=0).astype(float)
        nearest = nearest_point(truth, merged.weight, merged.mean)
        np.testing.assert_allclose(result.solution.value, result.problem.as_written(nearest), atol=1e-7)
        np.testing.assert_allclose(result.solution.value, co.aggregate(panel, co.Exact()).solution.value, atol=1e-7)
        assert co.verify(panel, result).problems == []


AgainstBruteForce.TestCase.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
test_random_revisions_against_brute_force = AgainstBruteForce.TestCase
