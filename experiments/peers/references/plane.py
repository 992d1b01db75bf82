"""Linear equations and flows in the plane, by quadratic finite elements (scikit-fem)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu
from skfem import (
    Basis,
    BilinearForm,
    ElementTriP1,
    ElementTriP2,
    ElementVector,
    FacetBasis,
    LinearForm,
    condense,
    solve,
)
from skfem.helpers import ddot, div, dot, grad

from experiments.case import Reference
from experiments.peers.references.field import Located
from experiments.peers.references.meshes import Circle, plane

_POINTS = 4000
_METHOD = "quadratic finite elements"


@dataclass(frozen=True)
class Region:
    """A polygon without some disks. fine, scale: where the mesh is finer (see meshes.plane)."""

    corners: Sequence[tuple[float, float]]
    holes: Sequence[Circle] = ()
    fine: Mapping[tuple[float, float], float] | None = None
    scale: float = 1.0

    def finer(self, factor: float) -> Region:
        """Return the region with its mesh so many times finer beside circles and points."""
        return replace(self, scale=self.scale / factor)

    def mesh(self, size: float):
        """Return a triangulation with edges of about this length."""
        return plane(self.corners, size, self.holes, self.fine, self.scale)

    def points(self, seed: int = 0, n: int = _POINTS) -> np.ndarray:
        """Return uniform points inside, (n, 2), a thousandth of the size away from the circles."""
        from matplotlib.path import Path

        corners = np.array(self.corners)
        low, high = corners.min(axis=0), corners.max(axis=0)
        edge = Path(np.vstack([corners, corners[:1]]))
        points = low + (high - low) * np.random.default_rng(seed).random((8 * n, 2))
        inside = edge.contains_points(points)
        for x, y, r in self.holes:
            inside &= np.hypot(*(points - (x, y)).T) > r * (1 + 1e-3)
        return points[inside][:n]

    def on_hole(self, x: np.ndarray) -> np.ndarray:
        """Return where points of the boundary, (2, ...), lie on a circle."""
        found = np.zeros(x.shape[1:], bool)
        for cx, cy, r in self.holes:
            found |= np.abs(np.hypot(x[0] - cx, x[1] - cy) - r) < 1e-3 * r
        return found


def agreed(
    region: Region,
    sizes: tuple[float, float],
    compute: Callable[[Region, float, np.ndarray], dict[str, np.ndarray]],
    coordinates: tuple[str, str] = ("x", "y"),
    method: str = _METHOD,
) -> Reference:
    """Compute values at points of the region on two meshes and compare them.

    compute: (region, size, points) -> unknown -> values. The finer ones are returned; their mesh
    is finer everywhere, beside circles and special points too.
    """
    points = region.points()
    coarse, fine = (compute(region.finer(sizes[0] / size), size, points) for size in sizes)
    differences = [
        np.linalg.norm(coarse[name] - fine[name]) / np.linalg.norm(fine[name]) for name in fine
    ]
    columns = dict(zip(coordinates, points.T, strict=True))
    return Reference(columns, fine, float(max(differences)), method)


Function = Callable[[np.ndarray], np.ndarray]
"""Points (2, ...) -> values (...)."""


def elliptic(
    mass: Function | float = 0.0,
    source: Function | float = 0.0,
    fixed: Callable[[Region, np.ndarray], np.ndarray] | None = None,
    robin: Callable[[Region, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
    stiffness: Function | float = 1.0,
) -> Callable[[Region, float, np.ndarray], dict[str, np.ndarray]]:
    """Return a solver of -div(k grad u) + c u = f, k the stiffness, c the mass, f the source.

    fixed: values on the boundary, nan where the flux is given instead: k dn(u) = g - h u, with
    robin: points -> (h, g) there. Both see (region, points of the boundary).
    """

    def compute(region: Region, size: float, points: np.ndarray) -> dict[str, np.ndarray]:
        basis = Basis(region.mesh(size), ElementTriP2(), intorder=6)
        a = BilinearForm(
            lambda u, v, w: _at(stiffness, w.x) * dot(grad(u), grad(v)) + _at(mass, w.x) * u * v
        ).assemble(basis)
        b = LinearForm(lambda v, w: _at(source, w.x) * v).assemble(basis)
        if robin is not None:
            edge = FacetBasis(basis.mesh, basis.elem, intorder=6)
            a += BilinearForm(lambda u, v, w: robin(region, w.x)[0] * u * v).assemble(edge)
            b += LinearForm(lambda v, w: robin(region, w.x)[1] * v).assemble(edge)
        u, held = np.zeros(basis.N), np.array([], int)
        if fixed is not None:
            dofs = basis.get_dofs(basis.mesh.boundary_facets()).all()
            values = fixed(region, basis.doflocs[:, dofs])
            held = dofs[~np.isnan(values)]
            u[held] = values[~np.isnan(values)]
        found = solve(*condense(a, b, x=u, D=held)) if len(held) else splu(a.tocsc()).solve(b)
        return {"u": Located(basis, points)(found)}

    return compute


def _at(value: Function | float, x: np.ndarray) -> np.ndarray | float:
    return value(x) if callable(value) else value


def scattering(k: float, radius: float) -> Callable:
    """Return a solver of lap u + k^2 u = 0 with the flux of F9 on its circle and sides, complex."""

    def compute(region: Region, size: float, points: np.ndarray) -> dict[str, np.ndarray]:
        basis = Basis(region.mesh(size), ElementTriP2(), intorder=6)
        edge = FacetBasis(basis.mesh, basis.elem, intorder=6)
        a = BilinearForm(lambda u, v, w: dot(grad(u), grad(v)) - k**2 * u * v).assemble(basis)
        absorbing = BilinearForm(
            lambda u, v, w: np.where(region.on_hole(w.x), 0, k) * u * v
        ).assemble(edge)
        flux = [
            LinearForm(lambda v, w, part=part: np.where(
                region.on_hole(w.x), k * part(k * w.x[0]) * w.n[0], 0) * v).assemble(edge)
            for part in (np.sin, lambda s: -np.cos(s))
        ]
        system = (a - 1j * absorbing).tocsc()
        found = splu(system).solve(flux[0] + 1j * flux[1])
        located = Located(basis, points)
        return {"a": located(found.real.copy()), "b": located(found.imag.copy())}

    return compute


def heat(
    end: float,
    steps: int,
    kept: int,
    robin: Callable[[Region, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> Callable[[Region, float, np.ndarray], np.ndarray]:
    """Return a solver of u_t = lap u, u = 0 at the start, with the flux of `elliptic`.

    Two-stage DIRK of order 3 (L-stable: Alexander, SIAM J. Numer. Anal. 14 (1977) 1006, of order 2
    with gamma = 1 - 1/sqrt 2). Gives (kept, n) values at equal times up to the end.
    """

    def compute(region: Region, size: float, points: np.ndarray) -> np.ndarray:
        basis = Basis(region.mesh(size), ElementTriP2(), intorder=6)
        edge = FacetBasis(basis.mesh, basis.elem, intorder=6)
        m = BilinearForm(lambda u, v, w: u * v).assemble(basis)
        a = BilinearForm(lambda u, v, w: dot(grad(u), grad(v))).assemble(basis)
        a += BilinearForm(lambda u, v, w: robin(region, w.x)[0] * u * v).assemble(edge)
        b = LinearForm(lambda v, w: robin(region, w.x)[1] * v).assemble(edge)
        located = Located(basis, points)
        # Steps that grow from a small first one: the flux is switched on at once.
        times = end * np.linspace(0, 1, steps + 1) ** 2
        shown = np.linspace(0, end, kept + 1)[1:]
        u, rows, old = np.zeros(basis.N), [], None
        gamma = 1 - 1 / np.sqrt(2)
        stops = np.unique(np.concatenate([times, shown]))
        for before, now in zip(stops[:-1], stops[1:], strict=True):
            h = now - before
            if old is None or abs(h / old - 1) > 1e-12:
                factor, old = splu((m + gamma * h * a).tocsc()), h
            first = factor.solve(b - a @ u)
            second = factor.solve(b - a @ (u + (1 - gamma) * h * first))
            u = u + h * ((1 - gamma) * first + gamma * second)
            if np.isclose(shown, now, rtol=0, atol=1e-12 * end).any():
                rows.append(located(u))
        return np.array(rows)

    return compute


def flow(
    nu: float, velocity: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], pin: bool = False
) -> Callable[[Region, float, np.ndarray], dict[str, np.ndarray]]:
    """Return a solver of steady Navier-Stokes flow: Taylor-Hood elements, Newton's method.

    velocity: points of the boundary -> (u, v), nan where the flow leaves; there it is free of
    traction, nu dn(u) = p n. pin: whether nothing leaves; p is then given without its mean.
    """

    def compute(region: Region, size: float, points: np.ndarray) -> dict[str, np.ndarray]:
        mesh = region.mesh(size)
        basis = Basis(mesh, ElementVector(ElementTriP2()), intorder=6)
        pressure = basis.with_element(ElementTriP1())
        x = basis.doflocs
        dofs = basis.get_dofs(mesh.boundary_facets()).all()
        parts = velocity(x[:, dofs])
        # Of each node's two numbers the first is along x.
        along = np.zeros(basis.N, int)
        along[basis.get_dofs(mesh.boundary_facets()).all(["u^2"])] = 1
        given = np.where(along[dofs] == 0, parts[0], parts[1])
        held = dofs[~np.isnan(given)]
        start = np.zeros(basis.N)
        start[held] = given[~np.isnan(given)]
        if pin:
            held = np.append(held, basis.N + np.argmin(np.hypot(*pressure.doflocs)))

        viscous = BilinearForm(lambda u, v, w: nu * ddot(grad(u), grad(v))).assemble(basis)

        gradient = BilinearForm(lambda p, v, w: -p * div(v)).assemble(pressure, basis)
        state = np.concatenate([start, np.zeros(pressure.N)])
        free = np.setdiff1d(np.arange(len(state)), held)
        for _ in range(20):
            u = basis.interpolate(state[: basis.N])
            convection = BilinearForm(lambda du, v, w, u=u: dot(
                _times(grad(u), du) + _times(grad(du), u), v)).assemble(basis)
            inertia = LinearForm(lambda v, w, u=u: dot(_times(grad(u), u), v)).assemble(basis)
            matrix = sparse.bmat([[viscous + convection, gradient], [gradient.T, None]]).tocsc()
            residual = np.concatenate([
                viscous @ state[: basis.N] + inertia + gradient @ state[basis.N :],
                gradient.T @ state[: basis.N],
            ])
            change = splu(matrix[free][:, free]).solve(-residual[free])
            state[free] += change
            if np.abs(change).max() < 1e-10 * np.abs(state).max():
                break
        else:
            raise RuntimeError("Newton's method did not settle in 20 steps")
        scalar = Basis(mesh, ElementTriP2(), intorder=6)
        located = Located(scalar, points)
        p = Located(pressure, points)(state[basis.N :])
        return {
            "u": located(_component(basis, scalar, state, 0)),
            "v": located(_component(basis, scalar, state, 1)),
            "p": p - p.mean() if pin else p,
        }

    return compute


def _times(gradient: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.stack([gradient[i][0] * u[0] + gradient[i][1] * u[1] for i in range(2)])


def _component(basis: Basis, scalar: Basis, state: np.ndarray, i: int) -> np.ndarray:
    """Return one component's degrees of freedom in the numbering of the scalar elements."""
    values = np.empty(scalar.N)
    values[scalar.element_dofs] = state[basis.element_dofs[i::2]]
    return values
