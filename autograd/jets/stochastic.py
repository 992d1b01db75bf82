"""Laplacians in many dimensions: unbiased estimates from a few random directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from .. import devices, modes
from ..random import Generator, default_generator
from ..tensor import Tensor
from .channels import Channels, Sum
from .sweep import read, sweep

Kind = Literal["rademacher", "gaussian", "coordinates"]


def laplacian_estimate(
    fn: Callable[[Tensor], Tensor],
    x: Tensor,
    generator: Generator | None,
    samples: int,
    kind: Kind = "rademacher",
) -> Tensor:
    """Return an unbiased estimate of sum_i d2 fn / dx_i^2 at each point, by one Taylor sweep.

    fn       maps (n, d) to a Tensor of n rows, each point by itself.
    x        points (n, d).
    samples  directions a point, drawn for each point independently; the sweep carries
             samples + 2 channels, whatever d is.
    The result has the shape of fn(x) and can be differentiated.  With H the Hessian at a point the
    variance of its estimate is

    - "rademacher"   2 sum_{i != j} H_ij^2 / samples      (mean of v^T H v, entries of v are +-1)
    - "gaussian"     2 |H|_F^2 / samples                  (entries of v are normal)
    - "coordinates"  d^2 (1 - samples / d) S^2 / samples  (d times the mean of `samples` distinct
                     H_jj; S^2 is the diagonal's variance with divisor d - 1; exact for samples = d)

    Raises ValueError for a shape, a kind or a number of samples that does not fit, and TraceError
    inside a recorded step.  Source: Hutchinson, Commun. Stat. Simul. Comput. 19 (1990) 433; Shi et
    al., Stochastic Taylor Derivative Estimator, NeurIPS 2024.
    """
    if x.ndim != 2:
        raise ValueError(f"expected points of shape (n, d), got {list(x.shape)}")
    modes.refuse_write("drawing random directions", "Use the Laplacian itself")
    source = (default_generator if generator is None else generator).numpy
    vectors = _directions(source, tuple(x.shape), samples, kind)
    scale = x.shape[1] / samples if kind == "coordinates" else 1 / samples
    total = Sum(tuple(((r, r), scale) for r in range(samples)))
    channels = Channels(tuple((r,) for r in range(samples)), (total,))
    directions = [Tensor(devices.put(v.astype(x.dtype), x.device)) for v in vectors]
    (found,) = sweep(fn, [x], channels, directions)
    return read(found, total, found[()])


def _directions(
    source: np.random.Generator, shape: tuple[int, ...], samples: int, kind: str
) -> np.ndarray:
    """Return directions (samples, n, d)."""
    n, d = shape
    if samples < 1 or (kind == "coordinates" and samples > d):
        limit = f" and at most the {d} coordinates" if kind == "coordinates" else ""
        raise ValueError(f"samples: expected at least 1{limit}, got {samples}")
    if kind == "rademacher":
        return source.integers(0, 2, (samples, n, d)) * 2.0 - 1.0
    if kind == "gaussian":
        return source.standard_normal((samples, n, d))
    if kind == "coordinates":
        chosen = source.permuted(np.tile(np.arange(d), (n, 1)), axis=1)[:, :samples]
        return np.eye(d)[chosen.T]
    raise ValueError(f"kind: expected rademacher, gaussian or coordinates, got {kind!r}")
