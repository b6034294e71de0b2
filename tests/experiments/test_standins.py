import numpy as np

from experiments.published import SETS
from experiments.standins import fit, fit_noise
from experiments.trials import curve

HSTN = SETS[-1]


def test_the_fit_meets_both_published_figures_of_raw_forecasts():
    found = fit(HSTN, 4)
    np.testing.assert_allclose(found.raw(4).mean(axis=0), [0.318, 0.129], atol=2e-3)


def test_the_fit_of_noise_alone_meets_the_brier_score():
    found = fit_noise(HSTN, 4)
    assert found.conservatism == 0
    np.testing.assert_allclose(found.raw(4)[:, 0].mean(), 0.318, atol=2e-3)


def test_a_stand_in_has_the_size_of_its_data_set():
    for published in SETS:
        panel = fit_noise(published, 1).panel(0)
        assert len(panel.judges) == published.judges
        assert len(panel) == published.forecasts
        assert len(panel.events.variables) == published.variables


def test_the_pooled_sum_never_rises_from_sweep_to_sweep():
    panel = fit_noise(HSTN, 1).panel(0)
    for alone in (True, False):
        found = curve("HSTN", panel, alone=alone)
        assert found.rises[1] < 1e-9
        assert found.mean[-1] < found.mean[0]
