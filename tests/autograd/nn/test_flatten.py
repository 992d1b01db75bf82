"""Several dimensions as one."""

import autograd as T
from autograd import nn


def test_dimensions_are_made_one():
    x = T.rand(2, 3, 4, 5)
    assert nn.Flatten()(x).shape == (2, 60)
    assert nn.Flatten(0, 1)(x).shape == (6, 4, 5)
    assert nn.Sequential(nn.Flatten(), nn.Linear(60, 1))(x).shape == (2, 1)
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
