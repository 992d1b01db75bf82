"""Functions of points, compiled, beside their eager runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import autograd as T

COUNT = 101


def points(count: int = COUNT) -> T.Tensor:
    """(count, 4), all numbers different."""
    numbers = np.random.default_rng(count).uniform(0.2, 0.9, (count, 4))
    return T.tensor(numbers, requires_grad=True)


def matrices(x: T.Tensor) -> T.Tensor:
    """A positive definite matrix of each point, (n, 2, 2)."""
    return T.stack([x[:, 0] + 2, x[:, 1], x[:, 1], 3 - x[:, 2]], dim=1).reshape(-1, 2, 2)


def check_as_eager(
    function: Callable[[T.Tensor], T.Tensor],
    parameters: Sequence[T.Tensor] = (),
    executor: str = "numpy",
) -> None:
    """Compare rows a point, a loss of them, and one of their slopes, with gradients."""
    _compare(function, [points(), *parameters], executor)
    if not function(points()).requires_grad:
        return

    def of_slopes(x: T.Tensor) -> T.Tensor:
        (slope,) = T.grad(T.sin(function(x)).sum(), x, create_graph=True)
        return (slope**2).sum()

    for loss in (lambda x: T.sin(function(x)).mean(), of_slopes):
        _compare(loss, [points(), *parameters], executor)


def check_sums_as_eager(function: Callable[[T.Tensor], T.Tensor]) -> None:
    """Compare sums over points, and the gradient of something that is made of them."""
    _compare(function, [points()], "numpy")


def _compare(function: Callable, targets: Sequence[T.Tensor], executor: str) -> None:
    compiled = T.compile(function, points="x", executor=executor)
    expected, found = function(targets[0]), compiled(targets[0])
    assert found.dtype == expected.dtype
    _close(found.detach(), expected.detach())
    if expected.requires_grad:
        pairs = [
            T.grad(T.sin(one).sum(), targets, allow_unused=True, materialize_grads=True)
            for one in (found, expected)
        ]
        for one, other in zip(*pairs, strict=True):
            _close(one, other)


def _close(found: T.Tensor, expected: T.Tensor) -> None:
    scale = float(expected.abs().max()) if expected.dtype.kind == "f" else 0.0
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-11, atol=1e-12 * scale)


def refuses(function: Callable, said: str) -> None:
    """Check that a function of x is refused in these words."""
    with pytest.raises(T.MixesPoints, match=said):
        T.compile(function, points="x")(points())
