"""Burgers' equation from -sin(pi x), by the Cole-Hopf transformation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pinn.problem.references.reference import Constants, Points, Reference, require

# numpy's Gauss-Hermite weights underflow above about 370 nodes.
_MOST_NODES = 350
# Integrand values held at once: 1 MiB an array, so that a chunk stays in cache.
_CHUNK_VALUES = 2**17
# Two node counts must agree to this on a probe of the points asked for.
_AGREEMENT = 1e-10


def cole_hopf(x, t, nu: float, nodes: int = 200) -> np.ndarray:
    """Solve u_t + u u_x = nu u_xx, u(x, 0) = -sin(pi x), u(-1, t) = u(1, t) = 0.

    This formula answers that one problem only: the initial condition and the boundary values
    are built in (so is the period 2 in x).

    x, t: arrays of mutually broadcastable shapes, t >= 0. nu > 0. nodes: Gauss-Hermite nodes,
    2 to 350; 200 give 3e-15 for nu = 0.01/pi, 0 <= t <= 2. Returns a float64 array of the
    broadcast shape. The memory used beyond the arrays themselves does not grow with the points.

    With y = x - 2 sqrt(nu t) zeta, u is the mean of -sin(pi y) under the weights
    exp(-cos(pi y) / (2 pi nu) - zeta^2), which are formed as a log-sum-exp: the exponent alone
    would overflow below nu = 2e-4.

    Raises ValueError for a wrong argument, and where the quadrature has not converged (another
    node count disagrees by more than 1e-10), which happens for small nu or large t.

    Source: Cole (1951), Hopf (1950); quadrature as in Basdevant et al., Computers & Fluids 14
    (1986) 23-41.
    """
    x, t = np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64)
    nu = float(nu)
    if not (np.isfinite(nu) and nu > 0):
        raise ValueError(f"cole_hopf: nu must be a positive number, got {nu}")
    if not 2 <= nodes <= _MOST_NODES:
        raise ValueError(f"cole_hopf: nodes must be 2 to {_MOST_NODES}, got {nodes}")
    if not (np.isfinite(x).all() and np.isfinite(t).all()):
        raise ValueError("cole_hopf: x and t must be finite, got nan or inf")
    if (t < 0).any():
        raise ValueError(f"cole_hopf: t must be at least 0, got {t.min()}")
    x, t = np.broadcast_arrays(x, t)
    shape = x.shape
    x, t = x.ravel(), t.ravel()
    u = -np.sin(np.pi * x)  # what holds at t = 0; the rest is overwritten
    later = np.flatnonzero(t)
    if later.size:
        _check_converged(t[later], nu, nodes)
    chunk = max(1, _CHUNK_VALUES // nodes)
    for start in range(0, later.size, chunk):
        part = later[start : start + chunk]
        u[part] = _quadrature(x[part], t[part], nu, nodes)
    return u.reshape(shape)


def _quadrature(x: np.ndarray, t: np.ndarray, nu: float, nodes: int) -> np.ndarray:
    """Return u at points with t > 0; x, t of shape (n,)."""
    zeta, log_weight = _gauss_hermite(nodes)
    angle = np.pi * (x[:, None] - 2 * np.sqrt(nu * t)[:, None] * zeta)
    weight = np.cos(angle)
    weight *= -1 / (2 * np.pi * nu)
    weight += log_weight
    weight -= weight.max(axis=1, keepdims=True)
    np.exp(weight, out=weight)
    np.sin(angle, out=angle)
    angle *= weight
    return -angle.sum(axis=1) / weight.sum(axis=1)


@lru_cache(maxsize=8)
def _gauss_hermite(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and log weights for the weight function exp(-zeta^2)."""
    zeta, weight = np.polynomial.hermite.hermgauss(nodes)
    log_weight = np.log(weight)
    zeta.flags.writeable = log_weight.flags.writeable = False
    return zeta, log_weight


def _check_converged(t: np.ndarray, nu: float, nodes: int) -> None:
    """Raise ValueError unless another node count agrees at nine of the times asked for."""
    times = np.unique(np.quantile(t, np.linspace(0, 1, 9), method="nearest"))
    places = np.linspace(0, 1, 17) ** 3  # dense at the shock; u is odd in x
    t, x = (a.ravel() for a in np.meshgrid(times, places, indexing="ij"))
    other = nodes + 50 if nodes + 50 <= _MOST_NODES else nodes - 50
    gap = np.abs(_quadrature(x, t, nu, nodes) - _quadrature(x, t, nu, other))
    worst = int(gap.argmax())
    if gap[worst] > _AGREEMENT:
        raise ValueError(
            f"cole_hopf: the quadrature has not converged for nu={nu:.6g} at t={t[worst]:.6g}: "
            f"{nodes} and {other} nodes differ by {gap[worst]:.1e}, expected {_AGREEMENT:.0e}; "
            f"give more nodes (at most {_MOST_NODES}), a larger nu or a shorter time"
        )


def _evaluate(points: Points, constants: Constants) -> dict[str, np.ndarray]:
    require("cole-hopf", "coordinates", ("x", "t"), points)
    require("cole-hopf", "constants", ("nu",), constants)
    return {"u": cole_hopf(points["x"], points["t"], constants["nu"])}


REFERENCE = Reference(
    name="cole-hopf",
    unknowns=("u",),
    coordinates=("x", "t"),
    constants=("nu",),
    source=(
        "u_t + u u_x = nu u_xx on -1 <= x <= 1 with u(x, 0) = -sin(pi x) and u = 0 at both ends, "
        "and no other initial or boundary condition; Cole-Hopf transformation, 200 Gauss-Hermite "
        "nodes in log-sum-exp form (Cole 1951, Hopf 1950; Basdevant et al. 1986)"
    ),
    evaluate=_evaluate,
)
