"""Formulas that are compared at points of their own, or up to a constant."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.case import Reference


@cache
def kovasznay() -> Reference:
    """Kovasznay's flow of viscosity 1/20 on [-0.5, 1] x [-0.5, 1.5]."""
    x, y = np.meshgrid(np.linspace(-0.5, 1, 76), np.linspace(-0.5, 1.5, 101), indexing="ij")
    return Reference({"x": x.ravel(), "y": y.ravel()}, flow(x.ravel(), y.ravel()), 0.0, "formula")


def flow(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return u, v and p of that flow (Kovasznay, Proc. Camb. Phil. Soc. 44 (1948) 58)."""
    m = 10 - np.sqrt(100 + 4 * np.pi**2)
    wake = np.exp(m * x)
    return {
        "u": 1 - wake * np.cos(2 * np.pi * y), "v": m / (2 * np.pi) * wake * np.sin(2 * np.pi * y),
        "p": (1 - wake**2) / 2,
    }


@cache
def squares() -> Reference:
    """|x|^2, whose Laplacian is 200, in the unit cube of a hundred dimensions."""
    points = np.random.default_rng(0).random((2000, 100))
    columns = {f"x{i + 1}": column for i, column in enumerate(points.T)}
    return Reference(columns, {"u": (points**2).sum(axis=1)}, 0.0, "formula")
