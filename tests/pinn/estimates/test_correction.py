"""What rows that took no part say of a correction."""

from types import SimpleNamespace

import numpy as np
import pytest

from pinn.estimates.correction import Correction, Witness, plausible

RNG = np.random.default_rng(0)
SMALL, NOISE = RNG.standard_normal((2, 400)) / 20
NOISE -= (NOISE @ SMALL) / (SMALL @ SMALL) * SMALL
BEFORE = 0.4 * SMALL + NOISE  # a part that is known, in what is not


def witness(change):
    return Witness(BEFORE, BEFORE + change)


def correction(ridge, change):
    return Correction(SimpleNamespace(ridge=ridge), np.zeros(1), witness(change), BEFORE + change)


def test_a_correction_is_confirmed_where_other_rows_ask_for_it():
    found = witness(-0.4 * SMALL)
    assert found.confirms and found.left == pytest.approx(
        np.linalg.norm(NOISE) / np.linalg.norm(BEFORE)
    )
    # b = -before.c/|c|^2 is 1, and uncertain by |before|/(|c| sqrt(rows))
    size = 0.4 * np.linalg.norm(SMALL)
    assert found.certainty == pytest.approx(size / np.linalg.norm(BEFORE) * 20)
    assert witness(-BEFORE).confirms and witness(-BEFORE).certainty == pytest.approx(20)


def test_chance_and_what_is_overdone_are_not_confirmed():
    chance = witness(0.4 * np.roll(SMALL, 7))
    assert not chance.confirms and abs(chance.certainty) < 4
    overdone = witness(-1.2 * SMALL)  # three times what there is
    assert overdone.certainty > 4 and not overdone.confirms
    assert not witness(0.4 * SMALL).confirms  # the wrong way
    for nothing in (0 * SMALL, np.nan * SMALL, np.inf * SMALL):
        assert not witness(nothing).confirms
    assert witness(np.nan * SMALL).left == np.inf
    assert Witness(np.zeros(0), np.zeros(0)).left == np.inf


def test_corrections_that_are_allowed_beside_the_best():
    little, best = correction(1e-1, -0.1 * SMALL), correction(1e-3, -0.4 * SMALL)
    alike = correction(1e-2, -0.35 * SMALL)
    more = correction(1e-5, -0.4 * SMALL + 0.5 * np.roll(SMALL, 11))
    chance = correction(1e-7, 9 * np.roll(SMALL, 11))
    assert more.left > 1.1 * best.left  # smaller, worse, and not by chance
    assert little.left < 1.1 * best.left
    found = plausible([little, alike, best, more, chance], best)
    assert found == [little, alike, best, more]
    clear = correction(1e-3, -BEFORE + 0.01 * SMALL)
    assert plausible([little, alike, clear], clear) == [clear]
