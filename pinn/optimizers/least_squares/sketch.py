"""Random sketches: fewer rows by sums with random signs, fewer columns by a cosine transform."""

from __future__ import annotations

from typing import Any

import numpy as np


class CountSketch:
    """C, (sketched, rows): each row of a matrix is added to `hashes` of the sketch's, at random.

    Each with a random sign and 1/sqrt(hashes), so that E[C^T C] = 1. Rows are added in parts: what
    they come from is never held as a whole. Where there are no more rows than the sketch would
    have, C is the identity. Charikar, Chen and Farach-Colton 2002; several hashes: Nelson and
    Nguyen 2013.
    """

    def __init__(
        self, rows: int, sketched: int, hashes: int, rng: np.random.Generator
    ) -> None:
        from scipy.sparse import csc_array, eye_array

        if sketched >= rows:
            self._matrix = csc_array(eye_array(rows))
            return
        targets = rng.integers(sketched, size=rows * hashes)
        signs = rng.choice([-1.0, 1.0], size=rows * hashes) / np.sqrt(hashes)
        starts = np.arange(0, rows * hashes + 1, hashes)
        self._matrix = csc_array((signs, targets, starts), shape=(sketched, rows))

    @property
    def sketched(self) -> int:
        """The number of rows of the sketch."""
        return self._matrix.shape[0]

    def by_rows(self) -> Any:
        """Return it as a sparse matrix, row after row."""
        return self._matrix.tocsr()

    def part(self, start: int, rows: np.ndarray) -> np.ndarray:
        """Return what some rows (n, ...), numbered from `start`, add to the sketch of all."""
        return self._matrix[:, start : start + len(rows)] @ rows


class CosineSketch:
    """Omega, (size, sketched): some columns, at random, of a cosine transform of shuffled signs.

    Its columns are orthonormal: A Omega is A with random signs on its columns, which are shuffled,
    transformed by the orthonormal DCT-II and drawn from without repetition. With as many columns as
    numbers it is orthogonal, and the identity is taken (`is_identity`). signs, order: (size,);
    drawn: (sketched,), of these columns. Ailon and Chazelle 2009; Tropp 2011.
    """

    def __init__(self, size: int, sketched: int, rng: np.random.Generator) -> None:
        self.size = size
        self.is_identity = sketched >= size
        if self.is_identity:
            return
        self.signs = rng.choice([-1.0, 1.0], size=size)
        self.order = rng.permutation(size)
        self.drawn = np.sort(rng.permutation(size)[:sketched])

    def columns(self, matrix: np.ndarray) -> np.ndarray:
        """Return A Omega, (rows, sketched), of a matrix A (rows, size)."""
        from scipy.fft import dct

        if self.is_identity:
            return matrix
        mixed = dct((matrix * self.signs)[:, self.order], type=2, norm="ortho", axis=1)
        return mixed[:, self.drawn]

    def back(self, vector: np.ndarray) -> np.ndarray:
        """Return Omega v, (size,), of a vector v (sketched,)."""
        from scipy.fft import idct

        if self.is_identity:
            return vector
        spread = np.zeros(self.size)
        spread[self.drawn] = vector
        found = np.empty(self.size)
        found[self.order] = idct(spread, type=2, norm="ortho")
        return found * self.signs
