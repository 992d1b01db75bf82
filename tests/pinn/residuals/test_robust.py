"""What noise may bring of the rows by which a fit is judged."""

import numpy as np
import pytest

from pinn.residuals import Judged


def test_noise_brings_more_than_the_bound_as_seldom_as_its_deviations_say():
    rng = np.random.default_rng(0)
    sets = [Judged(0.2 * rng.standard_normal(400)) for _ in range(2000)]
    for deviations, share in ((0.0, 0.5), (1.0, 0.16), (2.0, 0.025)):
        beyond = [one.rms**2 > one.most_of_noise(0.2, deviations) for one in sets]
        assert np.mean(beyond) == pytest.approx(share, abs=0.02)
    assert Judged(np.ones(8)).most_of_noise(2.0, 1.0) == pytest.approx(4 * (1 + np.sqrt(2 / 8)))
