"""Out-of-fold gains where the truth is known: a slice of the campaign."""

import numpy as np
import pytest

from tests.scoring.gain_checks import LEAKING, SETTINGS, check_gain, drawn


@pytest.mark.parametrize("number", [0, 2, 3, LEAKING])
def test_gains_are_what_is_true(number):
    check_gain(number, 12)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_panels_have_the_outcomes_that_are_told(setting):
    """Outcomes are as often true as they are expected to be, in the mean over events and draws."""
    apart = []
    for seed in range(40):
        panel, expected = drawn(setting, np.random.default_rng(seed))
        truth = panel.written.outcome - np.array([expected[text] for text in panel.written.text])
        apart.append(truth.mean())
    assert abs(np.mean(apart)) < 4 * np.std(apart, ddof=1) / np.sqrt(40) + 1e-12
