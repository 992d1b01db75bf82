"""Functions through values at scattered points: nearest value, linear on triangles, a spline."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.devices import CPU, device_of, put

# The spline solves a dense system of so many equations, and each evaluation takes as many terms.
MOST_POINTS = 4000
MOST_ORDER = 2


class ScatteredFunction:
    """What functions of values (n,) at points (n, d) share: points as matrices, and bounds.

    Computed on the CPU, whatever the device: the points are searched by scipy's structures. Away
    from the points, `inside` says whether a place is between them.
    """

    def __init__(self, points: np.ndarray, values: np.ndarray) -> None:
        self.points = points
        self.table = values
        self.bounds = tuple(zip(points.min(axis=0), points.max(axis=0), strict=True))

    def values(self, xp: Any, xs: tuple[Any, ...], orders: tuple[int, ...]) -> Any:
        """Return a partial derivative at arrays that broadcast, in their shape and dtype."""
        xs = xp.broadcast_arrays(*xs)
        columns = [put(x, CPU).astype(np.float64).reshape(-1) for x in xs]
        found = self.at(np.stack(columns, axis=1), orders)
        return put(found.reshape(xs[0].shape).astype(xs[0].dtype), device_of(xs[0]))

    def at(self, places: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        """Return a partial derivative at places (m, d), (m,)."""
        raise NotImplementedError


class NearestFunction(ScatteredFunction):
    """The value at the nearest point; its derivatives are 0."""

    def __init__(self, points: np.ndarray, values: np.ndarray) -> None:
        super().__init__(points, values)
        from scipy.spatial import cKDTree

        self._tree = cKDTree(points)

    def at(self, places: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        if any(orders):
            return np.zeros(len(places))
        return self.table[self._tree.query(places)[1]]


class LinearFunction(ScatteredFunction):
    """Linear on the simplices of the Delaunay triangulation; its slope is that of the simplex.

    Outside of the points' hull the value is that at the nearest point of the simplices' corners.
    """

    def __init__(self, points: np.ndarray, values: np.ndarray) -> None:
        from scipy.spatial import Delaunay, QhullError

        super().__init__(points, values)
        try:
            self._mesh = Delaunay(points)
        except QhullError as error:
            raise ValueError(
                "the points span no triangles (they lie on a line, or are too few); give more "
                "points, or fewer coordinates"
            ) from error
        corners = points[self._mesh.simplices]
        edges = corners[:, 1:] - corners[:, :1]
        rises = values[self._mesh.simplices]
        self._slopes = np.linalg.solve(edges, (rises[:, 1:] - rises[:, :1])[:, :, None])[:, :, 0]
        self._first = self._mesh.simplices[:, 0]
        self._outside = NearestFunction(points, values)

    def inside(self, places: np.ndarray) -> np.ndarray:
        """Return whether places (m, d) are in the hull of the points, up to rounding, (m,)."""
        return self._mesh.find_simplex(places, tol=1e-9) >= 0

    def at(self, places: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        total = sum(orders)
        if total > 1:
            return np.zeros(len(places))
        simplex = self._mesh.find_simplex(places, tol=1e-9)
        slopes = self._slopes[simplex]
        if total == 1:
            return np.where(simplex >= 0, slopes[:, orders.index(1)], 0.0)
        first = self._first[simplex]
        linear = self.table[first] + np.einsum("md,md->m", slopes, places - self.points[first])
        return np.where(simplex >= 0, linear, self._outside.at(places, orders))


class SplineFunction(ScatteredFunction):
    """The polyharmonic spline sum_i w_i r_i^3 + linear polynomial through all values.

    In one dimension it is the natural cubic spline. Twice continuously differentiable; derivatives
    go up to order 2. Source: Wahba, Spline Models for Observational Data, 1990, section 2.4.
    """

    def __init__(self, points: np.ndarray, values: np.ndarray) -> None:
        if len(points) > MOST_POINTS:
            raise ValueError(
                f"a spline through scattered points takes {MOST_POINTS} of them at most, got "
                f"{len(points)}; take method linear, or put them on a grid"
            )
        super().__init__(points, values)
        n, d = points.shape
        self._middle = points.mean(axis=0)
        self._width = float(np.ptp(points, axis=0).max()) or 1.0
        self._scaled = (points - self._middle) / self._width
        system = np.zeros((n + d + 1, n + d + 1))
        distances = np.linalg.norm(self._scaled[:, None] - self._scaled, axis=2)
        system[:n, :n] = distances**3
        system[:n, n:] = np.column_stack([np.ones(n), self._scaled])
        system[n:, :n] = system[:n, n:].T
        try:
            solved = np.linalg.solve(system, np.concatenate([values, np.zeros(d + 1)]))
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "no spline goes through the points: they lie on a line or plane; give fewer "
                "coordinates"
            ) from error
        self._weights, self._polynomial = solved[:n], solved[n:]

    def at(self, places: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        if sum(orders) > MOST_ORDER:
            raise ValueError(
                f"a spline through scattered points has derivatives up to order {MOST_ORDER}, got "
                f"{sum(orders)}; put the values on a grid"
            )
        found = np.empty(len(places))
        step = max(1, 2_000_000 // len(self.points))
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            found[part] = self._part((places[part] - self._middle) / self._width, orders)
        return found / self._width ** sum(orders)

    def _part(self, places: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        steps = places[:, None] - self._scaled
        r = np.sqrt(np.einsum("mnd,mnd->mn", steps, steps))
        along = [k for k, order in enumerate(orders) for _ in range(order)]
        if not along:
            return r**3 @ self._weights + self._polynomial[0] + places @ self._polynomial[1:]
        if len(along) == 1:
            slope = 3 * r * steps[:, :, along[0]]
            return slope @ self._weights + self._polynomial[1 + along[0]]
        one, other = (steps[:, :, k] for k in along)
        curvature = 3 * np.divide(one * other, r, out=np.zeros_like(r), where=r > 0)
        if along[0] == along[1]:
            curvature += 3 * r
        return curvature @ self._weights
