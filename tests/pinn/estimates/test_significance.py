"""Which correction is told: one that stands out of chance, and on which others have to agree."""

from types import SimpleNamespace

import numpy as np
import pytest

from pinn.estimates.correction import Correction, Witness
from pinn.estimates.significance import APART, is_distinct, most_distinct, neighbours

ROWS = Witness(np.ones(4), np.ones(4))


def tried(*chances):
    """Corrections of ridges 1e-1, 1e-3, ..., and what share of each is chance."""
    found = [Correction(SimpleNamespace(ridge=10.0 ** -(1 + 2 * k)), np.zeros(1), ROWS, np.ones(4))
             for k in range(len(chances))]  # fmt: skip
    return found, dict(zip(found, chances, strict=True))


@pytest.mark.parametrize(("chances", "first", "told"), [
    ([3.6, 1.5, 2.0, 3.5, 1.6, 0.64], 0, 5),  # the first one is chance
    ([0.77, 0.8, 0.1, 0.04, 0.04, 0.04], 0, 5),  # far less of it: of the smallest ridge
    ([0.7, 0.9, 0.9, 0.8, 0.66, 0.8], 0, 0),  # not far less
    ([2.0, 1.5, 1.1, 1.2, 1.3, 1.4], 1, 1),  # all are chance
    ([0.1, 0.2, 0.8, 1.5, 2.0, 3.0], 2, 2),  # a larger ridge is no better for it
    ([0.9, 0.9, 0.9, 0.9, 0.9, 0.01], 5, 5),
])  # fmt: skip
def test_what_stands_out_of_chance_is_told_before_what_leaves_least(chances, first, told):
    found, chance = tried(*chances)
    order = [found[first], *(one for one in found if one is not found[first])]
    assert most_distinct(order, chance) is found[told]


def test_as_large_have_to_be_the_next_larger_ridge_and_smaller_ones_that_are_not_chance():
    found, chance = tried(0.1, 0.1, 0.2, 0.3, 2.0, 0.5)
    assert list(neighbours(found[2], found, chance)) == [found[1], found[3], found[5]]
    assert list(neighbours(found[0], found, chance)) == [found[1], found[2], found[3], found[5]]
    assert list(neighbours(found[5], found, chance)) == [found[4]]


def test_an_error_beside_chance_is_a_third_of_what_is_found_or_more():
    share = np.sqrt(1 - 1 / APART**2)
    assert is_distinct(0.999 * share) and not is_distinct(1.001 * share)
    assert not is_distinct(np.inf) and not is_distinct(np.nan)
