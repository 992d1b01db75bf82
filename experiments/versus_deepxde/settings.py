"""The settings of DeepXDE's own examples, written with its public interface: by name of the row.

Networks, points, optimisers and steps are those that its documentation gives; single precision and
Hammersley's points are its defaults. DeepXDE is imported here and in `theirs` alone, with PyTorch.
"""

from __future__ import annotations

import os

os.environ["DDE_BACKEND"] = "pytorch"  # read when deepxde is imported

import deepxde as dde
import numpy as np
import torch

from experiments.peers.measurements import FOLDER
from experiments.versus_deepxde.setting import LBFGS, Adam, Setting

hessian, jacobian = dde.grad.hessian, dde.grad.jacobian
_PI = np.pi


def _everywhere(_: np.ndarray, on_boundary: bool) -> bool:
    return on_boundary


def _zero(x: np.ndarray) -> np.ndarray:
    return np.zeros((len(x), 1))


def _at(value: float, axis: int = 0):
    """Return DeepXDE's test for the side where a coordinate has a value."""
    return lambda x, on_boundary: on_boundary and np.isclose(x[axis], value)


def _in_time(low: float, high: float, end: float) -> dde.geometry.GeometryXTime:
    interval, time = dde.geometry.Interval(low, high), dde.geometry.TimeDomain(0, end)
    return dde.geometry.GeometryXTime(interval, time)


def _network(
    inputs: int, depth: int, width: int, outputs: int = 1, activation: str = "tanh",
    start: str = "uniform",
) -> dde.nn.FNN:
    """Return a plain network; start: of Glorot's two, normal or uniform."""
    return dde.nn.FNN([inputs, *[width] * depth, outputs], activation, f"Glorot {start}")


def allen_cahn() -> Setting:
    """u_t = 0.001 u_xx + 5 (u - u^3), start and ends built in."""

    def pde(x, u):
        return jacobian(u, x, j=1) - 1e-3 * hessian(u, x) - 5 * (u - u**3)

    def built_in(x, n):
        s, t = x[:, :1], x[:, 1:]
        return s**2 * torch.cos(_PI * s) + t * (1 - s**2) * n

    data = dde.data.TimePDE(
        _in_time(-1, 1, 1), pde, [], num_domain=8000, num_boundary=400, num_initial=800
    )
    net = _network(2, 3, 20, start="normal")
    net.apply_output_transform(built_in)
    return Setting(data, net, ("x", "t"), ("u",), [Adam(40_000), LBFGS()])


def burgers() -> Setting:
    """u_t + u u_x = (0.01/pi) u_xx from -sin(pi x), 0 at the ends."""

    def pde(x, u):
        return jacobian(u, x, j=1) + u * jacobian(u, x, j=0) - 0.01 / _PI * hessian(u, x)

    domain = _in_time(-1, 1, 0.99)
    conditions = [
        dde.icbc.DirichletBC(domain, _zero, _everywhere),
        dde.icbc.IC(domain, lambda x: -np.sin(_PI * x[:, :1]), lambda _, initial: initial),
    ]
    data = dde.data.TimePDE(
        domain, pde, conditions, num_domain=2540, num_boundary=80, num_initial=160
    )
    net = _network(2, 3, 20, start="normal")
    return Setting(data, net, ("x", "t"), ("u",), [Adam(15_000), LBFGS()])


def euler_beam() -> Setting:
    """u'''' = -1, clamped at 0 and free at 1."""

    def second(x, u):
        return hessian(u, x)

    def pde(x, u):
        return hessian(second(x, u), x) + 1

    beam = dde.geometry.Interval(0, 1)
    conditions = [
        dde.icbc.DirichletBC(beam, _zero, _at(0)),
        dde.icbc.NeumannBC(beam, _zero, _at(0)),
        dde.icbc.OperatorBC(beam, lambda x, u, _: second(x, u), _at(1)),
        dde.icbc.OperatorBC(beam, lambda x, u, _: jacobian(second(x, u), x), _at(1)),
    ]
    data = dde.data.PDE(beam, pde, conditions, num_domain=10, num_boundary=2)
    return Setting(data, _network(1, 3, 20), ("x",), ("u",), [Adam(10_000)])


def helmholtz() -> Setting:
    """-lap u - k^2 u = k^2 sin(kx) sin(ky), k = 4 pi, on the unit square, sides built in."""
    k = 4 * _PI

    def pde(x, u):
        source = k**2 * torch.sin(k * x[:, :1]) * torch.sin(k * x[:, 1:])
        return -hessian(u, x, i=0, j=0) - hessian(u, x, i=1, j=1) - k**2 * u - source

    square = dde.geometry.Rectangle([0, 0], [1, 1])
    data = dde.data.PDE(square, pde, [], num_domain=400, num_boundary=80)
    net = _network(2, 3, 150, activation="sin")
    net.apply_output_transform(
        lambda x, n: x[:, :1] * (1 - x[:, :1]) * x[:, 1:] * (1 - x[:, 1:]) * n
    )
    return Setting(data, net, ("x", "y"), ("u",), [Adam(5_000)])


def helmholtz_hole() -> Setting:
    """-lap u - k^2 u = k^2 sin(kx) sin(ky), k = 2 pi, on a square with a round hole."""
    k = 2 * _PI

    def pde(x, u):
        source = k**2 * torch.sin(k * x[:, :1]) * torch.sin(k * x[:, 1:])
        return -hessian(u, x, i=0, j=0) - hessian(u, x, i=1, j=1) - k**2 * u - source

    square = dde.geometry.Rectangle([-0.5, -0.5], [0.5, 0.5])
    hole = dde.geometry.Disk([0, 0], 0.25)
    domain = dde.geometry.CSGDifference(square, hole)

    def flux(x):
        s, c = np.sin(k * x), np.cos(k * x)
        slope = k * np.stack([c[:, 0] * s[:, 1], s[:, 0] * c[:, 1]], axis=1)
        return np.sum(slope * domain.boundary_normal(x), axis=1, keepdims=True)

    conditions = [
        dde.icbc.NeumannBC(domain, flux, lambda x, on: on and hole.on_boundary(x)),
        dde.icbc.DirichletBC(domain, _zero, lambda x, on: on and square.on_boundary(x)),
    ]
    data = dde.data.PDE(domain, pde, conditions, num_domain=225, num_boundary=240)
    net = _network(2, 3, 350, activation="sin")
    return Setting(data, net, ("x", "y"), ("u",), [Adam(5_000)], weights=[1, 10, 100])


def klein_gordon() -> Setting:
    """u_tt - u_xx + u^2 = x^2 cos^2 t - x cos t up to t = 10."""

    def exact(x):
        return x[:, :1] * np.cos(x[:, 1:])

    def pde(x, u):
        wave = x[:, :1] * torch.cos(x[:, 1:])
        return hessian(u, x, i=1, j=1) - hessian(u, x, i=0, j=0) + u**2 + wave - wave**2

    domain = _in_time(-1, 1, 10)
    conditions = [
        dde.icbc.DirichletBC(domain, exact, _everywhere),
        dde.icbc.IC(domain, exact, lambda _, initial: initial),
        dde.icbc.OperatorBC(
            domain, lambda x, u, _: jacobian(u, x, j=1), lambda x, _: np.isclose(x[1], 0)
        ),
    ]
    data = dde.data.TimePDE(
        domain, pde, conditions, num_domain=30_000, num_boundary=1500, num_initial=1500
    )
    stages = [Adam(20_000, decay=("inverse time", 3000, 0.9)), LBFGS()]
    return Setting(data, _network(2, 2, 40, start="normal"), ("x", "t"), ("u",), stages)


def kovasznay() -> Setting:
    """Steady Navier-Stokes, Re = 20, velocities on all sides and the pressure on the right one."""
    nu = 1 / 20
    m = 1 / (2 * nu) - np.sqrt(1 / (4 * nu**2) + 4 * _PI**2)

    def pde(x, w):
        u, v = w[:, 0:1], w[:, 1:2]

        def slope(i, j):
            return jacobian(w, x, i=i, j=j)

        def bent(i):
            return hessian(w, x, component=i, i=0, j=0) + hessian(w, x, component=i, i=1, j=1)

        return [
            u * slope(0, 0) + v * slope(0, 1) + slope(2, 0) - nu * bent(0),
            u * slope(1, 0) + v * slope(1, 1) + slope(2, 1) - nu * bent(1),
            slope(0, 0) + slope(1, 1),
        ]

    def u(x):
        return 1 - np.exp(m * x[:, :1]) * np.cos(2 * _PI * x[:, 1:])

    def v(x):
        return m / (2 * _PI) * np.exp(m * x[:, :1]) * np.sin(2 * _PI * x[:, 1:])

    def p(x):
        return (1 - np.exp(2 * m * x[:, :1])) / 2

    domain = dde.geometry.Rectangle([-0.5, -0.5], [1, 1.5])
    conditions = [
        dde.icbc.DirichletBC(domain, u, _everywhere, component=0),
        dde.icbc.DirichletBC(domain, v, _everywhere, component=1),
        dde.icbc.DirichletBC(domain, p, _at(1), component=2),
    ]
    data = dde.data.PDE(domain, pde, conditions, num_domain=2601, num_boundary=400)
    return Setting(
        data, _network(2, 4, 50, 3), ("x", "y"), ("u", "v", "p"), [Adam(30_000), LBFGS()]
    )


def lotka_volterra() -> Setting:
    """r' = 40 r - 160 r p, p' = 80 r p - 21.2 p; waves of t are inputs, the start is built in."""

    def ode(t, w):
        r, p = w[:, :1], w[:, 1:]
        return [
            jacobian(w, t, i=0) - 40 * r + 160 * r * p,
            jacobian(w, t, i=1) - 80 * r * p + 21.2 * p,
        ]

    def waves(t):
        return torch.cat([t, *(torch.sin(n * t) for n in range(1, 7))], dim=1)

    def built_in(t, n):
        return torch.tanh(t) * n + torch.tensor([0.5, 0.075], dtype=n.dtype)

    data = dde.data.PDE(dde.geometry.TimeDomain(0, 1), ode, [], 3000, 2)
    net = _network(7, 6, 64, 2, start="normal")
    net.apply_feature_transform(waves)
    net.apply_output_transform(built_in)
    return Setting(data, net, ("t",), ("r", "p"), [Adam(50_000), LBFGS()])


class _Polygon(dde.geometry.Polygon):
    """A polygon whose points have the precision of the network, as PyTorch asks for."""

    def random_points(self, n, random="pseudo"):
        return super().random_points(n, random).astype(dde.config.real(np))

    def random_boundary_points(self, n, random="pseudo"):
        return super().random_boundary_points(n, random).astype(dde.config.real(np))


def l_shape() -> Setting:
    """-lap u = 1 in the shape of an L, 0 on its boundary."""

    def pde(x, u):
        return -hessian(u, x, i=0, j=0) - hessian(u, x, i=1, j=1) - 1

    domain = _Polygon([[0, 0], [1, 0], [1, -1], [-1, -1], [-1, 1], [0, 1]])
    condition = dde.icbc.DirichletBC(domain, _zero, _everywhere)
    data = dde.data.PDE(domain, pde, condition, num_domain=1200, num_boundary=120)
    return Setting(data, _network(2, 4, 50), ("x", "y"), ("u",), [Adam(50_000), LBFGS()])


def laplace_polar() -> Setting:
    """r^2 u_rr + r u_r + u_qq = 0, cos(q) at r = 1; r sin q and r cos q are the inputs."""

    def pde(x, u):
        r = x[:, :1]
        bent = r**2 * hessian(u, x, i=0, j=0) + hessian(u, x, i=1, j=1)
        return bent + r * jacobian(u, x, j=0)

    domain = dde.geometry.Rectangle([0, 0], [1, 2 * _PI])
    condition = dde.icbc.DirichletBC(domain, lambda x: np.cos(x[:, 1:]), _at(1))
    data = dde.data.PDE(domain, pde, condition, num_domain=2540, num_boundary=80)
    net = _network(2, 3, 20, start="normal")
    net.apply_feature_transform(
        lambda x: torch.cat([x[:, :1] * torch.sin(x[:, 1:]), x[:, :1] * torch.cos(x[:, 1:])], 1)
    )
    return Setting(data, net, ("r", "q"), ("u",), [Adam(15_000)])


def diffusion_reaction() -> Setting:
    """u_t = u_xx + source, of five waves that fall alike; start and ends are built in."""
    waves = {1: 1, 2: 1 / 2, 3: 1 / 3, 4: 1 / 4, 8: 1 / 8}

    def pde(x, u):
        source = sum(a * (n**2 - 1) * torch.sin(n * x[:, :1]) for n, a in waves.items())
        return jacobian(u, x, j=1) - hessian(u, x) - torch.exp(-x[:, 1:]) * source

    def built_in(x, n):
        start = sum(a * torch.sin(k * x[:, :1]) for k, a in waves.items())
        return x[:, 1:] * (_PI**2 - x[:, :1] ** 2) * n + start

    data = dde.data.TimePDE(_in_time(-_PI, _PI, 1), pde, [], num_domain=320)
    net = _network(2, 6, 30)
    net.apply_output_transform(built_in)
    return Setting(data, net, ("x", "t"), ("u",), [Adam(20_000)])


def heat() -> Setting:
    """u_t = 0.4 u_xx from sin(pi x), 0 at the ends."""

    def pde(x, u):
        return jacobian(u, x, j=1) - 0.4 * hessian(u, x)

    domain = _in_time(0, 1, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, _zero, _everywhere),
        dde.icbc.IC(domain, lambda x: np.sin(_PI * x[:, :1]), lambda _, initial: initial),
    ]
    data = dde.data.TimePDE(
        domain, pde, conditions, num_domain=2540, num_boundary=80, num_initial=160
    )
    net = _network(2, 3, 20, start="normal")
    return Setting(data, net, ("x", "t"), ("u",), [Adam(20_000), LBFGS()])


def second_order_ode() -> Setting:
    """u'' - 10 u' + 9 u = 5 t, u(0) = -1, u'(0) = 2."""

    def ode(t, u):
        return hessian(u, t) - 10 * jacobian(u, t) + 9 * u - 5 * t

    domain = dde.geometry.TimeDomain(0, 0.25)
    conditions = [
        dde.icbc.IC(domain, lambda t: _zero(t) - 1, lambda _, initial: initial),
        dde.icbc.OperatorBC(
            domain, lambda t, u, _: jacobian(u, t) - 2, lambda t, _: np.isclose(t[0], 0)
        ),
    ]
    data = dde.data.TimePDE(domain, ode, conditions, num_domain=16, num_boundary=2)
    return Setting(
        data, _network(1, 3, 50), ("t",), ("u",), [Adam(10_000)], weights=[0.01, 1, 1]
    )  # fmt: skip


def ode_system() -> Setting:
    """a' = b, b' = -a up to t = 10."""

    def ode(t, w):
        return [jacobian(w, t, i=0) - w[:, 1:], jacobian(w, t, i=1) + w[:, :1]]

    domain = dde.geometry.TimeDomain(0, 10)
    conditions = [
        dde.icbc.IC(domain, _zero, lambda _, initial: initial, component=0),
        dde.icbc.IC(domain, lambda t: _zero(t) + 1, lambda _, initial: initial, component=1),
    ]
    data = dde.data.PDE(domain, ode, conditions, num_domain=35, num_boundary=2)
    return Setting(data, _network(1, 3, 50, 2), ("t",), ("a", "b"), [Adam(20_000)])


def lorenz() -> Setting:
    """a' = C1 (b - a), b' = a (C2 - c) - b, c' = a b - C3 c; the coefficients from 25 states."""
    c1, c2, c3 = (dde.Variable(1.0) for _ in range(3))

    def ode(t, w):
        a, b, c = w[:, 0:1], w[:, 1:2], w[:, 2:3]
        return [
            jacobian(w, t, i=0) - c1 * (b - a),
            jacobian(w, t, i=1) - a * (c2 - c) + b,
            jacobian(w, t, i=2) - a * b + c3 * c,
        ]

    table = np.loadtxt(FOLDER / "lorenz.csv", delimiter=",", skiprows=1)
    times = table[:, :1]
    domain = dde.geometry.TimeDomain(0, 3)

    def begins(i):
        return dde.icbc.IC(
            domain, lambda t: np.full((len(t), 1), table[0, i + 1]), lambda _, first: first, i
        )

    start = [begins(i) for i in range(3)]
    seen = [dde.icbc.PointSetBC(times, table[:, i + 1 : i + 2], component=i) for i in range(3)]
    data = dde.data.PDE(
        domain, ode, [*start, *seen], num_domain=400, num_boundary=2, anchors=times
    )
    return Setting(
        data, _network(1, 3, 40, 3), ("t",), ("a", "b", "c"), [Adam(20_000), LBFGS()],
        coefficients={"C1": c1, "C2": c2, "C3": c3},
    )  # fmt: skip


class WavesOfSpaceAndTime(dde.nn.NN):
    """A network of waves of x times waves of t, with normal frequencies of several sizes.

    DeepXDE has it for TensorFlow 1 alone. One net of `depth` layers sees cos(2 pi b x) and
    sin(2 pi b x) of each size, and so those of t; the products of what it makes of an x and of a t
    meet in a linear layer (Wang, Wang and Perdikaris, arXiv 2012.10047, equations 3.15 to 3.20).
    """

    def __init__(
        self, sizes_x: list[float], sizes_t: list[float], depth: int = 3, width: int = 100
    ) -> None:
        super().__init__()
        real = dde.config.real(torch)
        self.count_x = len(sizes_x)
        frequencies = [size * torch.randn(1, width // 2) for size in (*sizes_x, *sizes_t)]
        self.register_buffer("frequencies", 2 * _PI * torch.stack(frequencies).to(real))
        layers = [torch.nn.Linear(width, width, dtype=real) for _ in range(depth)]
        last = torch.nn.Linear(width * len(sizes_x) * len(sizes_t), 1, dtype=real)
        for layer in (*layers, last):
            torch.nn.init.xavier_uniform_(layer.weight)
            torch.nn.init.zeros_(layer.bias)
        self.layers, self.last = torch.nn.ModuleList(layers), last

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        seen = inputs if self._input_transform is None else self._input_transform(inputs)
        made = []
        for i, frequency in enumerate(self.frequencies):
            phase = (seen[:, :1] if i < self.count_x else seen[:, 1:]) @ frequency
            hidden = torch.cat([torch.cos(phase), torch.sin(phase)], dim=1)
            for layer in self.layers:
                hidden = torch.tanh(layer(hidden))
            made.append(hidden)
        of_x, of_t = made[: self.count_x], made[self.count_x :]
        return self.last(torch.cat([a * b for a in of_x for b in of_t], dim=1))


def wave() -> Setting:
    """u_tt = 100 u_xx from sin(pi x) + sin(2 pi x) at rest, 0 at the ends."""

    def pde(x, u):
        return hessian(u, x, i=1, j=1) - 100 * hessian(u, x, i=0, j=0)

    def start(x):
        return np.sin(_PI * x[:, :1]) + np.sin(2 * _PI * x[:, :1])

    domain = _in_time(0, 1, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, _zero, _everywhere),
        dde.icbc.IC(domain, start, lambda _, initial: initial),
        dde.icbc.OperatorBC(
            domain, lambda x, u, _: jacobian(u, x, j=1), lambda x, _: np.isclose(x[1], 0)
        ),
    ]
    data = dde.data.TimePDE(
        domain, pde, conditions, num_domain=360, num_boundary=360, num_initial=360
    )
    net = WavesOfSpaceAndTime([1], [1, 10])
    net.apply_feature_transform(lambda x: 2 * 3**0.5 * (x - 0.5))
    stages = [Adam(10_000, decay=("inverse time", 2000, 0.9), draws=True)]
    return Setting(
        data, net, ("x", "t"), ("u",), stages, weights=lambda losses: list(5 / losses)
    )


SETTINGS = {
    "f1_allen_cahn": allen_cahn,
    "f3_burgers": burgers,
    "f5_euler_beam": euler_beam,
    "f6_helmholtz": helmholtz,
    "f8_helmholtz_hole": helmholtz_hole,
    "f10_klein_gordon": klein_gordon,
    "f11_kovasznay": kovasznay,
    "f12_laplace_polar": laplace_polar,
    "f13_lotka_volterra": lotka_volterra,
    "f16_l_shape": l_shape,
    "f28_diffusion_reaction": diffusion_reaction,
    "f34_heat": heat,
    "f37_second_order_ode": second_order_ode,
    "f38_ode_system": ode_system,
    "f39_wave": wave,
    "i1_lorenz": lorenz,
}
