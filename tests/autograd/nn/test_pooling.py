"""Layers of pools are their functions, and are shown as PyTorch shows them."""

import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F


@pytest.mark.parametrize(
    ("layer", "function", "shown"),
    [
        (
            nn.MaxPool1d(3, 2, 1, ceil_mode=True),
            lambda x: F.max_pool1d(x[0], 3, 2, 1, 1, True),
            "MaxPool1d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=True)",
        ),
        (
            nn.MaxPool2d((2, 3)),
            lambda x: F.max_pool2d(x, (2, 3)),
            "MaxPool2d(kernel_size=(2, 3), stride=(2, 3), padding=0, dilation=1, ceil_mode=False)",
        ),
        (
            nn.AvgPool1d(3, 2, 1, count_include_pad=False),
            lambda x: F.avg_pool1d(x[0], 3, 2, 1, False, False),
            "AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))",
        ),
        (
            nn.AvgPool2d(2, divisor_override=3),
            lambda x: F.avg_pool2d(x, 2, divisor_override=3),
            "AvgPool2d(kernel_size=2, stride=2, padding=0)",
        ),
    ],
)
def test_a_layer_is_its_function(layer, function, shown):
    x = T.rand(2, 3, 8, 7)
    given = x[0] if "1d" in shown else x
    assert T.equal(layer(given), function(x)) and repr(layer) == shown


def test_positions_are_returned_where_asked_for():
    values, places = nn.MaxPool1d(2, return_indices=True)(T.tensor([[[1.0, 3.0, 5.0, 4.0]]]))
    assert values.tolist() == [[[3.0, 5.0]]] and places.tolist() == [[[1, 2]]]


def test_layers_of_volumes_call_their_functions():
    x = T.rand(2, 3, 4, 4, 4)
    for name in ("max_pool3d", "avg_pool3d"):
        layer = nn.MaxPool3d(2) if name == "max_pool3d" else nn.AvgPool3d(2)
        assert T.equal(layer(x), getattr(nn.functional, name)(x, 2))
