"""Texts that many messages share."""

import pytest

from pinn.text import sum_text


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ([(1, "x")], "x"),
        ([(-1, "y"), (1, "")], "-y + 1"),
        ([(1, "'a'"), (-2, "'b'"), (0.5, "'c'")], "'a' - 2*'b' + 0.5*'c'"),
        ([(-1 / 3, "x"), (-0.5, "")], "-0.3333*x - 0.5"),
    ],
)
def test_a_sum_is_told_as_it_is_written(terms, text):
    assert sum_text(terms) == text
