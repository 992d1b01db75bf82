"""Windows as columns, channels as places, and elements at the ends."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op

HOW = [
    {"kernel_size": 2},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 2), "dilation": (2, 1)},
]


def columns(x, kernel_size, dilation=1, padding=0, stride=1):
    """Windows of (n, c, h, w), place by place."""
    k, d, p, s = (
        value if isinstance(value, tuple) else (value, value)
        for value in (kernel_size, dilation, padding, stride)
    )
    x = np.pad(x, [(0, 0), (0, 0), (p[0], p[0]), (p[1], p[1])])
    ends = [x.shape[2 + way] - d[way] * (k[way] - 1) for way in range(2)]
    found = [
        [x[:, c, i + a * d[0], j + b * d[1]]
         for i in range(0, ends[0], s[0]) for j in range(0, ends[1], s[1])]
        for c in range(x.shape[1]) for a in range(k[0]) for b in range(k[1])
    ]  # fmt: skip
    return np.array(found).transpose(2, 0, 1)


@pytest.mark.parametrize("how", HOW)
def test_windows_as_columns(how):
    check_op(
        OpCase(
            "unfold", lambda x: F.unfold(x, **how), [((2, 2, 3, 4),)],
            reference=lambda x: columns(x, **how),
        )
    )  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_folding_is_the_transpose(how):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, 4, 5))
    wide = columns(x, **how)
    y = rng.normal(size=wide.shape)
    folded = F.fold(T.tensor(y), (4, 5), **how)
    np.testing.assert_allclose((folded.numpy() * x).sum(), (wide * y).sum(), rtol=1e-12)
    check_op(OpCase("fold", lambda y: F.fold(y, (4, 5), **how), [(wide[:1].shape,)]))
    layer = nn.Fold((4, 5), **how)
    assert T.equal(layer(T.tensor(y)), folded) and T.equal(layer(T.tensor(y[0])), folded[0])
    unfolding = nn.Unfold(**how)
    assert T.equal(unfolding(T.tensor(x))[0], unfolding(T.tensor(x[0])))


def test_channels_become_places_and_back():
    x = T.arange(2 * 8 * 3 * 2).reshape(2, 8, 3, 2)
    fine = nn.PixelShuffle(2)(x)
    assert fine.shape == (2, 2, 6, 4)
    for c, i, j, a, b in np.ndindex(2, 3, 2, 2, 2):
        assert fine[1, c, 2 * i + a, 2 * j + b] == x[1, 4 * c + 2 * a + b, i, j]
    assert T.equal(nn.PixelUnshuffle(2)(fine), x)
    assert T.equal(F.pixel_shuffle(x[0], 2), fine[0])
    for sizes in ((0, 8, 3, 2), (2, 0, 3, 2), (8, 0, 2)):
        none = F.pixel_shuffle(T.ones(sizes), 2)
        assert none.shape == (*sizes[:-3], sizes[-3] // 4, 2 * sizes[-2], 2 * sizes[-1])
        assert F.pixel_unshuffle(none, 2).shape == sizes
    shuffled = nn.ChannelShuffle(2)(x)
    assert shuffled[0, :, 0, 0].tolist() == x[0, [0, 4, 1, 5, 2, 6, 3, 7], 0, 0].tolist()


def test_a_dimension_becomes_several():
    x = T.rand(2, 6)
    assert T.equal(nn.Unflatten(1, (2, -1))(x), x.reshape(2, 2, 3))
    assert repr(nn.Unflatten(1, (2, 3))) == "Unflatten(dim=1, unflattened_size=(2, 3))"


def test_more_places():
    x = T.rand(1, 2, 3, 4)
    assert T.equal(nn.Upsample(scale_factor=2)(x), F.interpolate(x, scale_factor=2))
    ours = nn.UpsamplingBilinear2d((5, 6))(x)
    assert T.equal(ours, F.interpolate(x, (5, 6), mode="bilinear", align_corners=True))
    ours = nn.Upsample((2, 7), mode="bicubic", align_corners=True)(x)
    assert T.equal(ours, F.interpolate(x, (2, 7), mode="bicubic", align_corners=True))
    assert T.equal(nn.UpsamplingNearest2d(scale_factor=2)(x), nn.Upsample(scale_factor=2)(x))
    assert repr(nn.Upsample(size=5)) == "Upsample(size=5, mode='nearest')"


MODES = {
    "Constant": {"mode": "constant", "constant_values": 1.5}, "Zero": {"mode": "constant"},
    "Reflection": {"mode": "reflect"}, "Replication": {"mode": "edge"},
    "Circular": {"mode": "wrap"},
}  # fmt: skip


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_elements_at_the_ends(name, dims):
    kind = getattr(nn, f"{name}Pad{dims}d")
    more = (1.5,) if name == "Constant" else ()
    x = T.rand(2, 1, *(3,) * dims)
    counts = tuple(range(1, 2 * dims + 1))
    counts = tuple(min(count, 2) for count in counts)
    widths = [(0, 0), (0, 0), *zip(counts[::2], counts[1::2], strict=True)]
    widths[2:] = widths[:1:-1]
    expected = np.pad(x.numpy(), widths, **MODES[name])
    np.testing.assert_array_equal(kind(counts, *more)(x).numpy(), expected)
    assert kind(1, *more)(x).shape == (2, 1, *(5,) * dims)
    with pytest.raises(ValueError, match=f"one number or {2 * dims} of them"):
        kind((1,), *more)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: F.unfold(T.ones(2, 3), 2), "3D or 4D"),
        (lambda: F.unfold(T.ones(1, 2, 3, 3), 4), "at least one each way"),
        (lambda: F.fold(T.ones(4), 2, 2), "2D or 3D"),
        (lambda: F.fold(T.ones(4, 2), 2, 2), r"shape \[n, c \* 4, 1\]"),
        (lambda: F.pixel_shuffle(T.ones(6, 2, 2), 2), "square of upscale_factor=2"),
        (lambda: F.pixel_unshuffle(T.ones(6, 2, 3), 2), "divisible by downscale_factor=2"),
        (lambda: F.channel_shuffle(T.ones(1, 6, 2), 4), "divisible by groups"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()
