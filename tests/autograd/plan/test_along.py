"""What goes along other dimensions than the points' keeps them apart."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from tests.autograd.plan.over_points import (
    check_as_eager,
    check_sums_as_eager,
    matrices,
    refuses,
)

A = T.tensor(np.random.default_rng(1).uniform(0.3, 1.2, (4, 4)), requires_grad=True)
W = T.tensor([0.3, 1.1, 0.7, 0.5], dtype=T.float64, requires_grad=True)
KNOTS = T.tensor(np.linspace(0, 1, 9))

APART = {
    "sort": lambda x: T.sort(x, 1, True).values,
    "argsort": lambda x: T.argsort(x, 1),
    "topk": lambda x: T.topk(x, 2, 1).values,
    "median": lambda x: x.median(1).values,
    "quantile": lambda x: T.quantile(x, 0.3, 1),
    "several quantiles": lambda x: T.quantile(x, T.tensor([0.2, 0.7], dtype=T.float64), 1).T,
    "max and where": lambda x: x.max(1).values * x.max(1).indices,
    "amax": lambda x: x.amax(1),
    "prod": lambda x: x.prod(1),
    "cumprod": lambda x: x.cumprod(1),
    "cumsum of matrices": lambda x: matrices(x).cumsum(-1),
    "diff": lambda x: T.diff(x, dim=1),
    "trapezoid": lambda x: T.trapezoid(x, W, dim=1),
    "roll": lambda x: T.roll(x, 1, 1),
    "roll of matrices": lambda x: T.roll(matrices(x), (1, 1), (1, 2)),
    "flip": lambda x: T.flip(x, (1,)),
    "tile": lambda x: T.tile(x, (2,)),
    "repeat before": lambda x: x.repeat(3, 1, 2).sum(0),
    "repeat_interleave": lambda x: T.repeat_interleave(x, 2, 1),
    "padded by reflection": lambda x: T.pad(x, (1, 2), mode="reflect"),
    "padded with a number": lambda x: T.pad(x, (1, 2), value=3.0),
    "diag_embed": lambda x: T.diag_embed(x),
    "diagonal": lambda x: T.diagonal(matrices(x), dim1=1, dim2=2),
    "trace": lambda x: T.einsum("nii->n", matrices(x)),
    "tril": lambda x: T.tril(matrices(x)),
    "triu": lambda x: T.triu(matrices(x), 1),
    "cross": lambda x: T.linalg.cross(x[:, :3], W[None, 1:]),
    "norm": lambda x: x.norm(dim=1),
    "largest moduli": lambda x: T.linalg.vector_norm(x, np.inf, 1),
    "matrix norms": lambda x: T.linalg.matrix_norm(matrices(x), 2),
    "outer": lambda x: T.einsum("ni,nj->nij", x, x),
    "weights of rows": lambda x: T.einsum("jnk,kl->njl", x.reshape(-1, 2, 2).permute(1, 0, 2),
                                          A[:2, :2]),
    "pinv": lambda x: T.linalg.pinv(matrices(x)),
    "lstsq": lambda x: T.linalg.lstsq(T.cat([matrices(x), matrices(x * x)], 1),
                                      T.cat([x, x * x], 1).reshape(-1, 4, 2)).solution,
    "one matrix for all": lambda x: T.linalg.solve(A[:2, :2] + 2 * T.eye(2), matrices(x)),
    "cholesky": lambda x: T.linalg.cholesky(matrices(x)),
    "eigh": lambda x: T.linalg.eigvalsh(matrices(x) + matrices(x).mT),
    "singular values": lambda x: T.linalg.svdvals(matrices(x)),
    "triangular": lambda x: T.linalg.qr(matrices(x)).R ** 2,
    "matrix_exp": lambda x: T.linalg.matrix_exp(matrices(x)),
    "spectrum": lambda x: T.fft.fft(x, dim=1).abs(),
    "half a spectrum": lambda x: T.fft.irfft(T.fft.rfft(x, dim=1) * W[0], 4, dim=1),
    "convolution": lambda x: T.nn.functional.conv1d(x[:, None], W[None, None, 1:], padding=1),
    "transposed convolution": lambda x: T.nn.functional.conv_transpose1d(x[:, None], W[None, None]),
    "means of windows": lambda x: T.nn.functional.avg_pool1d(x[:, None], 2),
    "maxima of windows": lambda x: T.nn.functional.max_pool1d(x[:, None], 3, 1),
    "searchsorted": lambda x: T.searchsorted(KNOTS, x),
    "bucketize": lambda x: T.bucketize(x, KNOTS, right=True),
    "searchsorted in rows": lambda x: T.searchsorted(T.sort(x, 1).values, 0.9 * x),
    "pairs": lambda x: T.view_as_real(T.complex(x, x * x)),
    "numbers of pairs": lambda x: T.view_as_complex(x.reshape(-1, 2, 2)).abs(),
    "points in the middle": lambda x: T.roll(x.T[None], 1, 1)[0].T,
    "several numbers of each": lambda x: x.reshape(-1, 2).cumsum(1).reshape(-1, 4),
    "each divided by their number": lambda x: T.roll(x / len(x), 1, 1) * len(x),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_along_other_dimensions_points_stay_apart(short_chunks, name):
    check_as_eager(APART[name], [W, A])


@pytest.mark.parametrize("name", ["roll", "flip", "tile", "tril", "diag_embed", "diagonal", "sort"])
def test_so_they_do_in_tiles(short_chunks, name):
    check_as_eager(APART[name], [W, A], "llvm")


MEET = {
    "sort": lambda x: T.sort(x, 0).values,
    "topk": lambda x: T.topk(x, 3, 0).values,
    "median": lambda x: x.median(0).values,
    "median of all": lambda x: x.median(),
    "quantile": lambda x: T.quantile(x, 0.5),
    "roll": lambda x: T.roll(x, 1, 0),
    "roll of both": lambda x: T.roll(x, (1, 1), (0, 1)),
    "roll as far as there were recorded": lambda x: T.roll(x, 10, 0),
    "roll of all": lambda x: T.roll(x, 1),
    "flip": lambda x: T.flip(x, (0, 1)),
    "cumprod": lambda x: x.cumprod(0),
    "running sums of ones": lambda x: x * T.ones_like(x).cumsum(0),
    "the prod": lambda x: x.prod(),
    "softmax": lambda x: T.softmax(x, 0),
    "std": lambda x: x.std(),
    "norm": lambda x: x.norm(),
    "tile": lambda x: x.repeat(2, 1),
    "tril": lambda x: T.tril(x),
    "diagonal": lambda x: x.diagonal(),
    "diag": lambda x: T.diag(x[:, 0]),
    "pinv": lambda x: T.linalg.pinv(x),
    "searchsorted": lambda x: T.searchsorted(T.sort(x[:, 0]).values, x[:, 1]),
    "searchsorted among sums": lambda x: T.searchsorted(x[:, 0].cumsum(0), W),
    "softmax of a mean": lambda x: T.softmax(x.mean(0), 0),
    "median of a sum": lambda x: x.sum(0).median(),
    "other numbers of each": lambda x: x.T.reshape(-1) * x.reshape(-1),
}  # fmt: skip


@pytest.mark.parametrize("name", MEET)
def test_along_their_own_they_meet(name):
    refuses(MEET[name], "lets points meet|takes the points apart|neither a row|not linear|of all "
            "points|pairs each point")


def test_what_takes_the_points_apart_is_refused_in_words():
    refuses(lambda x: sum(T.unbind(x, 0)), "takes the points apart")
    refuses(lambda x: T.split(x, 5)[0], "takes the points apart")


OF_SUMS = {
    "flip": lambda x: T.flip(x.sum(0), (0,)),
    "running": lambda x: x.sum(0).cumsum(0),
    "roll": lambda x: T.roll(x.mean(0), 1, 0),
    "tile": lambda x: x.sum(0).repeat(2),
    "diagonal": lambda x: (x.T @ x).diagonal(),
    "trace": lambda x: T.trace(x.T @ x / len(x)),
    "diag": lambda x: T.diag(x.mean(0)),
    "padded": lambda x: T.pad(x.sum(0), (1, 1)),
    "chosen": lambda x: x.sum(0)[[1, 0, 1]],
    "counted": lambda x: T.count_nonzero(x > 0.5, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SUMS)
def test_what_is_linear_in_sums_is_a_sum(short_chunks, name):
    check_sums_as_eager(OF_SUMS[name])
