"""Make the tables of the problems: measurements of known solutions, random coefficients.

    python -m experiments.peers.measurements

The files of experiments/peers/data and configs/data are written by this program and by nothing
else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.integrate import solve_bvp, solve_ivp

FOLDER = Path(__file__).parent / "data"
SHIPPED = Path(__file__).resolve().parents[2] / "configs" / "data"


def lorenz(times: np.ndarray, forced: bool = False) -> dict[str, np.ndarray]:
    """Return a, b, c of Lorenz' equations with 10, 15, 8/3 from (-8, 7, 27)."""

    def rate(t: float, s: np.ndarray) -> tuple[float, float, float]:
        force = 10 * np.sin(2 * np.pi * t) if forced else 0.0
        return 10 * (s[1] - s[0]), s[0] * (15 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2] + force

    found = solve_ivp(rate, (0, 3), (-8, 7, 27), "DOP853", times, rtol=1e-12, atol=1e-12)
    return dict(zip("abc", found.y, strict=True))


def vortices(x: np.ndarray, y: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """Return u, v, p of decaying vortices that drift with the speed 1, viscosity 0.01.

    Taylor and Green's solution of the Navier-Stokes equations in a moving frame.
    """
    fall, k = np.exp(-2 * 0.01 * np.pi**2 * t), np.pi
    x, y = k * (x - t), k * y
    return {
        "u": 1 - np.cos(x) * np.sin(y) * fall, "v": np.sin(x) * np.cos(y) * fall,
        "p": -(np.cos(2 * x) + np.cos(2 * y)) / 4 * fall**2,
    }


def reaction_rate(x: np.ndarray) -> np.ndarray:
    """Return the k(x) that is to be found in 0.01 u'' - k u = sin(2 pi x)."""
    return 0.1 + np.exp(-((x - 0.5) ** 2) / (2 * 0.15**2))


def reaction(x: np.ndarray) -> np.ndarray:
    """Return u of 0.01 u'' - k u = sin(2 pi x), u(0) = u(1) = 0."""

    def rate(x: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.stack([s[1], 100 * (np.sin(2 * np.pi * x) + reaction_rate(x) * s[0])])

    grid = np.linspace(0, 1, 200)
    found = solve_bvp(
        rate, lambda a, b: np.array([a[0], b[0]]), grid, np.zeros((2, 200)), tol=1e-10,
        max_nodes=100_000,
    )
    return found.sol(x)[0]


def two_reactants(cells: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, t and (2, x, t) of a_t = 2e-3 a_xx - 0.1 a b^2, b_t = 2e-3 b_xx - 0.2 a b^2.

    Central differences of order 2 on `cells` cells, BDF in time.
    """
    x = np.linspace(0, 1, cells + 1)
    t = np.linspace(0, 10, 51)
    start = np.exp(-20 * x[1:-1])

    def rate(_: float, s: np.ndarray) -> np.ndarray:
        a, b = np.pad(s.reshape(2, -1), ((0, 0), (1, 1)))
        a[0] = b[0] = 1
        second = [(w[2:] - 2 * w[1:-1] + w[:-2]) * cells**2 for w in (a, b)]
        eaten = 0.1 * a[1:-1] * b[1:-1] ** 2
        return np.concatenate([2e-3 * second[0] - eaten, 2e-3 * second[1] - 2 * eaten])

    found = solve_ivp(
        rate, (0, 10), np.tile(start, 2), "BDF", t, rtol=1e-8, atol=1e-10,
    )
    inside = found.y.reshape(2, cells - 1, len(t))
    values = np.pad(inside, ((0, 0), (1, 1), (0, 0)))
    values[:, 0] = 1
    return x, t, values


def blocks() -> dict[str, np.ndarray]:
    """Return a, c0 and c1 of 5 x 5 blocks, (5, 5) each, and the blocks' centers x and y.

    a is 0.29 (82.6/0.29)^q with q uniform in [0, 1], c0 and c1 are uniform in [0, 10].
    """
    rng = np.random.default_rng(6)
    x, y = np.meshgrid(np.linspace(-8, 8, 5), np.linspace(-8, 8, 5), indexing="ij")
    a = 0.29 * (82.6 / 0.29) ** rng.random((5, 5))
    return {"x": x, "y": y, "a": a, "c0": 10 * rng.random((5, 5)), "c1": 10 * rng.random((5, 5))}


def diffusivity(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return exp(g) in the unit square, g the sum of normal numbers times cos(i pi x) cos(j pi y).

    i and j go from 0 to 4, and the numbers have the standard deviation exp(-(i^2 + j^2)/16)/2.
    """
    i, j = np.meshgrid(np.arange(5), np.arange(5), indexing="ij")
    numbers = np.random.default_rng(7).standard_normal((5, 5)) * np.exp(-(i**2 + j**2) / 16) / 2
    return np.exp(sum(
        numbers[i, j] * np.cos(i * np.pi * x) * np.cos(j * np.pi * y)
        for i in range(5) for j in range(5)
    ))  # fmt: skip


def media() -> np.ndarray:
    """Return the numbers of the field whose sign tells two media apart, (3, 3), three digits each.

    The field is the sum over i, j of a cos(i pi (x + 1)/2) cos(j pi (y + 1)/2) with normal a, but
    for the mean, which is 0.
    """
    numbers = np.random.default_rng(15).standard_normal((3, 3)).round(3)
    numbers[0, 0] = 0
    return numbers


def waves() -> np.ndarray:
    """Return the amplitudes and phases of the waves that start Burgers' equations, (2, 4, 4, 2).

    u and v are the sums over i, j of a sin(pi/2 (i x + j y) + b): a is normal, 0 for i = j = 0, and
    such that the sum of its sizes is 0.5; b is uniform in [0, 2 pi]. Both have three digits.
    """
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 4, 4)), 2 * np.pi * rng.random((2, 4, 4))
    a[:, 0, 0] = 0
    a *= 0.5 / np.abs(a).sum(axis=(1, 2), keepdims=True)
    return np.stack([a, b], axis=-1).round(3)


def write(name: str, columns: Mapping[str, np.ndarray], folder: Path = FOLDER) -> None:
    """Write a table with a header, ten digits a number."""
    rows = np.column_stack([np.ravel(column) for column in columns.values()])
    np.savetxt(
        folder / f"{name}.csv", rows, fmt="%.10g", delimiter=",", header=",".join(columns),
        comments="",
    )


def main() -> None:
    """Write all tables."""
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    t = np.linspace(0, 3, 25)
    write("lorenz", {"t": t, **lorenz(t)})
    t = np.linspace(0, 3, 200)
    write("lorenz", {"t": t, **lorenz(t, forced=True)}, SHIPPED)
    t = np.linspace(0, 3, 121)
    write("force", {"t": t, "g": 10 * np.sin(2 * np.pi * t)}, SHIPPED)

    x, y, t = (low + (high - low) * rng.random(7000) for low, high in ((1, 8), (-2, 2), (0, 7)))
    flow = vortices(x, y, t)
    write("vortices", {"x": x, "y": y, "t": t, "u": flow["u"], "v": flow["v"]})

    x = np.arange(1, 6) / 6
    write("channel", {"x": x, "u": 1 - np.cosh(20 * (x - 0.5)) / np.cosh(10)})
    x = np.linspace(-1, 1, 10)
    write("diffusion", {"x": x, "t": np.ones(10), "u": np.exp(-1) * np.sin(np.pi * x)}, SHIPPED)
    x = np.linspace(0, 1, 100)
    write("reaction", {"x": x, "u": reaction(x)}, SHIPPED)
    x = np.linspace(-1, 1, 100)
    write("sine", {"x": x, "u": np.sin(np.pi * x)})
    x = np.linspace(-1, 1, 10_000)
    write("source", {"x": x, "u": np.sin(np.pi * x)}, SHIPPED)
    x = np.linspace(-1, 1, 22)[1:-1]
    write("fractional_line", {"x": x, "u": x * (1 - x**2) ** 0.9})
    r, angle = np.sqrt(rng.random(30)), 2 * np.pi * rng.random(30)
    write("fractional_disk",
          {"x": r * np.cos(angle), "y": r * np.sin(angle), "u": (1 - r**2) ** 1.9})

    x, t, values = two_reactants()
    x, t = np.meshgrid(x[::8], t, indexing="ij")
    write("two_reactants", {"x": x, "t": t, "a": values[0, ::8], "b": values[1, ::8]})

    x, y = np.meshgrid(np.linspace(0, 1, 50), np.linspace(0, 1, 50), indexing="ij")
    u = np.sin(np.pi * x) * np.sin(np.pi * y)
    noise = 0.1 * rng.standard_normal(u.shape)
    write("conductivity", {"x": x, "y": y, "u": u + noise}, SHIPPED)
    x, y, t = 2 * rng.random(2500) - 1, 2 * rng.random(2500) - 1, rng.random(2500)
    u = np.exp(-t) * np.sin(np.pi * x) * np.sin(np.pi * y)
    write("inverse_heat", {"x": x, "y": y, "t": t, "u": u + 0.1 * rng.standard_normal(2500)})
    write("blocks", blocks())
    x, y = np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 61), indexing="ij")
    write("diffusivity", {"x": x, "y": y, "a": diffusivity(x, y)})


if __name__ == "__main__":
    main()
