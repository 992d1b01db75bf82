"""Low-rank approximations of symmetric matrices that are known by their products alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.devices import Device, put

Product = Callable[[Any], Any]
"""A vector (size,) -> the matrix times it, where that lies."""


@dataclass(frozen=True)
class Nystrom:
    """U diag(values) U', close to a positive semidefinite matrix of few large eigenvalues.

    vectors: U, (size, rank) with orthonormal columns. values: (rank,) numbers >= 0, largest first.
    """

    vectors: Any
    values: Any

    def placed(self, device: Device) -> Nystrom:
        """Return it for vectors of a device; itself where it is there."""
        return Nystrom(put(self.vectors, device), put(self.values, device))

    def solve(self, vector: Any, damping: float) -> Any:
        """Return about inverse(A + damping I) times a vector (size,), for damping > 0.

        Beyond U it stands for the least of the values: with it as a preconditioner the eigenvalues
        of A + damping I are brought together to about (least + damping) / damping.
        """
        inside = self.vectors.T @ vector
        least = self.values[-1] + damping
        weights = 1 / (self.values + damping) - 1 / least
        return vector / least + self.vectors @ (weights * inside)


def nystrom(product: Product, size: int, rank: int, rng: np.random.Generator) -> Nystrom:
    """Approximate a symmetric matrix of `size` by its products with `rank` random vectors.

    A matrix that is not positive semidefinite is shifted first, by twice what its least Ritz value
    lacks: where it was negative the values are then 0. rank: at most size counts.

    Frangella, Tropp and Udell, SIAM J. Matrix Anal. Appl. 44 (2023) 718 (arXiv 2110.02820),
    algorithm 2.1; with a shift as in Rathore et al., ICML 2024 (arXiv 2402.01868).
    """
    basis, _ = np.linalg.qr(rng.standard_normal((size, min(rank, size))))
    image = np.stack([product(column) for column in basis.T], axis=1)
    # So small a shift changes nothing that can be told from rounding.
    shift = np.sqrt(size) * np.spacing(np.linalg.norm(image, 2))
    ritz = np.linalg.eigvalsh(_symmetric(basis.T @ image))
    if ritz[0] + shift <= 0:
        shift -= 2 * ritz[0]
    image = image + shift * basis
    # A + shift I is about image inverse(basis' image) image' = (image V D^-1/2)(image V D^-1/2)'.
    ritz, axes = np.linalg.eigh(_symmetric(basis.T @ image))
    root = image @ (axes / np.sqrt(ritz))
    vectors, singular, _ = np.linalg.svd(root, full_matrices=False)
    # Rows after rows, as they come back from a file: products then have the same bits.
    return Nystrom(np.ascontiguousarray(vectors), np.maximum(singular**2 - shift, 0.0))


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2
