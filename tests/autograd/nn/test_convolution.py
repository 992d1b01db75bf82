"""Layers of convolutions: shapes, initial values, padding, what is shown."""

import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F


def seeded():
    return T.Generator().manual_seed(0)


@pytest.mark.parametrize(
    ("layer", "shape", "inputs"),
    [
        (nn.Conv1d(4, 6, 3, groups=2, generator=seeded()), (6, 2, 3), 6),
        (nn.Conv2d(4, 6, (3, 5), generator=seeded()), (6, 4, 3, 5), 60),
        (nn.Conv3d(2, 6, 3, generator=seeded()), (6, 2, 3, 3, 3), 54),
        (nn.ConvTranspose1d(4, 6, 5, generator=seeded()), (4, 6, 5), 30),
        (nn.ConvTranspose2d(4, 6, 3, groups=2, generator=seeded()), (4, 3, 3, 3), 27),
    ],
)
def test_initial_values_are_uniform_by_the_number_of_terms(layer, shape, inputs):
    bound = inputs**-0.5
    assert layer.weight.shape == shape and layer.bias.shape == (6,)
    for values in (layer.weight, layer.bias):
        assert 0.5 * bound < abs(values).max().item() <= bound


def test_a_layer_is_its_function():
    x = T.rand(2, 4, 9, 7)
    layer = nn.Conv2d(4, 6, 3, (2, 1), 1, (1, 2), 2)
    expected = F.conv2d(x, layer.weight, layer.bias, (2, 1), 1, (1, 2), 2)
    assert T.equal(layer(x), expected)
    turned = nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, 2, False, (1, 2))
    expected = F.conv_transpose2d(x, turned.weight, None, 2, 1, 1, 2, (1, 2))
    assert T.equal(turned(x), expected) and turned.bias is None
    assert nn.Conv3d(2, 3, 2)(T.rand(1, 2, 3, 4, 5)).shape == (1, 3, 2, 3, 4)
    assert nn.ConvTranspose1d(2, 3, 2)(T.rand(1, 2, 3)).shape == (1, 3, 4)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [(1, 2), "same"])
def test_other_padding_is_put_around_the_input(mode, padding):
    x = T.rand(2, 4, 6, 7)
    layer = nn.Conv2d(4, 3, (3, 4), padding=padding, padding_mode=mode)
    counts = (2, 2, 1, 1) if padding != "same" else (1, 2, 1, 1)
    expected = F.conv2d(F.pad(x, counts, mode=mode), layer.weight, layer.bias)
    assert T.equal(layer(x), expected)
    assert nn.Conv2d(4, 3, 3, padding="valid", padding_mode=mode)(x).shape == (2, 3, 4, 5)


def test_the_transpose_finds_the_padding_of_a_wanted_size():
    layer, x = nn.ConvTranspose1d(2, 3, 3, stride=3, padding=1), T.rand(1, 2, 5)
    for size in (13, 14, 15):
        for asked in ([size], [1, 3, size]):
            assert layer(x, output_size=asked).shape == (1, 3, size)
    with pytest.raises(ValueError, match=r"valid sizes range from \[13\] to \[15\]"):
        layer(x, output_size=[16])
    with pytest.raises(ValueError, match="output_size must have 1 elements"):
        layer(x, output_size=[3, 13])


def test_what_is_shown():
    assert repr(nn.Conv2d(3, 4, 3, padding=1, dilation=2, bias=False, padding_mode="reflect")) == (
        "Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), "
        "bias=False, padding_mode=reflect)"
    )
    assert repr(nn.ConvTranspose1d(4, 4, 3, 2, output_padding=1, groups=2)) == (
        "ConvTranspose1d(4, 4, kernel_size=(3,), stride=(2,), output_padding=(1,), groups=2)"
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.Conv1d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.Conv1d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda: nn.Conv1d(4, 3, 3, groups=0), "groups must be a positive integer"),
        (lambda: nn.Conv1d(3, 4, 3, padding="full"), "Invalid padding string 'full'"),
        (lambda: nn.Conv1d(3, 4, 3, 2, padding="same"), "not supported for strided"),
        (lambda: nn.Conv1d(3, 4, 3, padding_mode="odd"), "padding_mode must be one of"),
        (lambda: nn.ConvTranspose1d(3, 4, 3, padding_mode="reflect"), "must be one of"),
    ],
)
def test_bad_arguments_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_transpose_of_volumes_has_the_size_that_is_asked_for():
    layer = nn.ConvTranspose3d(2, 3, 2, stride=2)
    x = T.rand(1, 2, 2, 2, 2)
    assert T.equal(
        layer(x), nn.functional.conv_transpose3d(x, layer.weight, layer.bias, stride=2)
    )
    assert layer(x, output_size=(5, 4, 5)).shape == (1, 3, 5, 4, 5)
