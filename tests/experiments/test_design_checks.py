"""Panels left out in turn, and the options that are compared."""

from collections import Counter

import numpy as np
import pytest

import coherently as co
from coherently.scoring.tuning.learned_recipe import FoldOptions, Kitchen
from coherently.solve import Budget, Pool
from coherently.solve.methods import recipe
from coherently.solve.methods.judge_noise import noise_share
from experiments import design_checks
from experiments.evaluation.sources import Source
from experiments.simulated_judges import KINDS, Kind, drawn


def test_a_panel_has_no_say_in_what_it_is_scored_by():
    """The first option is best on one family only, which is why the mean of all is for it."""
    changes = np.array([[-0.9, -0.9, 0.0, 0.0], [-0.1, -0.1, -0.1, -0.1]])
    assert design_checks.left_out_in_turn(changes, ["a", "a", "b", "c"]) == [1, 1, 0, 0]
    assert design_checks.left_out_in_turn(changes, ["a", "b", "c", "d"]) == [0, 0, 0, 0]


def test_the_report_says_what_is_chosen_and_what_that_costs():
    options = [design_checks.Option("size", "1"), design_checks.Option("size", "2", is_present=True)]
    sources = [Source(name, "", "") for name in "abc"]
    said = design_checks.report(options, np.array([[-0.9, 0.1, 0.1], [-0.1, -0.1, -0.1]]), sources)
    assert "1: -23.33, +10.0, **2**: -10.00, -10.0" in said
    assert "| 2 (1), 1 (2) | +3.33 | -10.00 |" in said


@pytest.mark.parametrize("options", [design_checks.default_options, design_checks.tuned_options])
def test_one_option_of_each_choice_is_that_of_the_package(options):
    every = list(options())
    present = Counter(option.choice for option in every if option.is_present)
    assert present == dict.fromkeys(dict.fromkeys(option.choice for option in every), 1)


def test_constants_are_put_in_and_taken_out():
    option = next(option for option in design_checks.default_options() if option.name == "1.5")
    before = recipe.BOLD
    with option.put_in():
        assert recipe.BOLD == 1.5
    assert before == recipe.BOLD


def test_the_present_options_are_the_package():
    kitchen = Kitchen.of(drawn(KINDS[2], 0), FoldOptions("components"), 60.0, Budget())
    share = noise_share(kitchen.problem, co.Exact())
    now = [option for option in design_checks.default_options() if option.is_present]
    lost = [kitchen.blocks.loss(kitchen.value(one)).sum() for one in (co.Recipe(), Pool("linear"))]
    for option in now:
        assert design_checks.default_change(kitchen, option, share) == pytest.approx(lost[0] / lost[1] - 1, abs=1e-3)
    for option in design_checks.tuned_options():
        if option.is_present:
            assert np.isfinite(design_checks.tuned_change(kitchen, option, share))


def test_simulated_judges_err_as_they_are_told():
    """Without noise, views and shocks all judges say the same, and are coherent but for what is shared."""
    calm = drawn(Kind("calm", judges=3, groups=4, noise=0.0, view=0.0), 1)
    assert np.ptp(co.individual(calm, co.Exact()).probability - calm.probability) < 1e-9
    biased = drawn(Kind("biased", judges=3, groups=4, noise=0.0, view=0.0, bias=0.7), 1)
    assert np.all(biased.probability > calm.probability)
    bold = drawn(Kind("bold", judges=3, groups=4, noise=0.0, view=0.0, slope=1.6), 1)
    single = np.char.find(np.array(bold.written.text)[bold.event_index], "&") < 0
    assert np.all(np.abs(bold.probability - 0.5)[single] > np.abs(calm.probability - 0.5)[single])
