"""A page as users write it, with the types that their editor should know: read, never run.

`assert_type` says what a type checker has to find; a line that it should refuse has an ignored
error, which is itself an error where nothing is refused.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from matplotlib.figure import Figure

import autograd as T
import pinn
from autograd import nn, optim

# ---- a problem

x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
assert_type(x.low, float)
hole = pinn.Disk(center=(0.5, 0.5), radius=0.2).named("hole")
plate = pinn.Box(pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)) - hole
assert_type(plate, pinn.Shape)

burgers = pinn.Problem(
    domain=x * t,
    unknowns=["u"],
    constants={"nu": 0.01 / np.pi, "a": "2*nu"},
    parameters={"k": 0.1},
    equations={"burgers": "u_t + u*u_x - nu*u_xx"},
    conditions=[
        pinn.Initial("u", "-sin(pi*x)", hard=True),
        pinn.Dirichlet("u", 0, on=["x=-1", "x=1"]),
        pinn.Dirichlet("u", lambda s: s.sin(s.x), on="x=-1"),
        pinn.Neumann("u", 0.0, on="x=1"),
        pinn.Robin("u", 1, 2, 0, on="x=1"),
        pinn.Data("u", {"x": np.zeros(3), "t": [0, 0, 1], "u": np.ones(3)}, sigma=0.1),
        pinn.Operator("u_x - 1", at={"x": 0.0, "t": [0.5, 1.0]}),
    ],
    reference="cole-hopf",
)
assert_type(burgers.check(), pinn.Check)
pinn.Problem(
    plate, ["u"], {"poisson": lambda s: s.u_xx + s.u_yy, "mean": pinn.Equation("u - 1", on=hole)},
    parameters=[pinn.Parameter("k", 0.1, lower=0)],
)  # fmt: skip
pinn.Polygon([(0, 0), (1, 0), (0, 1)])
pinn.PointCloud(np.zeros((9, 2)))
pinn.Problem(domain=x, unknowns=["u"])  # type: ignore[call-arg]
pinn.Disk(radus=2)  # type: ignore[call-arg]
pinn.Interval("x", "low", 1)  # type: ignore[arg-type]

# ---- its solution

solution = pinn.solve(burgers, seconds=30, callbacks=[pinn.Progress()])
assert_type(solution, pinn.Solution)
assert_type(solution.evaluate(x=np.linspace(-1, 1, 201), t=1.0)["u"], np.ndarray)
assert_type(solution.derivative("u_xx", x=0.0, t=0.5), np.ndarray)
assert_type(solution.plot("u"), Figure)
assert_type(solution.report, pinn.Report)
assert_type(solution.report.rel_l2, dict[str, float])
assert_type(solution.report.loss, float)
assert_type(solution.parameters, dict[str, float])
assert_type(solution.error_estimate(), pinn.ErrorEstimate)
assert_type(solution.error_estimate().relative_l2, dict[str, float])
assert_type(pinn.doctor(solution), pinn.Diagnosis)
assert_type(pinn.check(burgers), pinn.Check)
assert_type(pinn.load("runs/burgers-0"), pinn.Solution)
solution.plot("u").savefig("u.png")

pinn.solve(
    burgers,
    pinn.MLP(width=[20, 30], embedding=pinn.FourierEmbedding(10, scale=2.0)),
    pinn.Sampling(2500, redraw=500, adaptive="rad"),
    [
        pinn.Adam(steps=500, learning_rate=5e-3, schedule=pinn.ExponentialDecay(1e-3)),
        pinn.SSBroyden(steps=3000),
    ],
    weighting={"initial_u": 10},
)
pinn.solve(burgers, pinn.Windows(4, pinn.MLP()), weighting=pinn.GradNorm(), start=solution)
pinn.solve(burgers, widht=3)  # type: ignore[call-arg]
pinn.check(burgers, widht=3)  # type: ignore[call-arg]
pinn.MLP(widht=3)  # type: ignore[call-arg]
pinn.Adam(learning_rate="fast")  # type: ignore[arg-type]

# ---- tensors

a = T.tensor([[3.0, 1.0], [0.0, 2.0]], requires_grad=True)
assert_type(a, T.Tensor)
(slope,) = T.grad((a**3).sum(), a, create_graph=True)
assert_type(slope, T.Tensor)
assert_type(T.grad(slope, [a], allow_unused=True), tuple[T.Tensor | None, ...])
assert_type(T.sin(a) * a + 1, T.Tensor)
assert_type(1 - a @ a.T, T.Tensor)
assert_type(a == 1, T.Tensor)
assert_type(a[0, 1:], T.Tensor)
assert_type(a.sum(dim=0, keepdim=True), T.Tensor)
assert_type(a.sum(axis=0, keepdims=True), T.Tensor)
assert_type(T.sum(input=a, axis=0), T.Tensor)
assert_type(T.add(a, 2, out=T.empty(2, 2)), T.Tensor)
assert_type(T.max(a), T.Tensor)
assert_type(T.max(a, dim=0).values, T.Tensor)
assert_type(a.min(dim=0).indices, T.Tensor)
assert_type(T.where(a > 0, a, 0.0), T.Tensor)
assert_type(T.unique(a), T.Tensor)
assert_type(T.cat([a, a], dim=0), T.Tensor)
assert_type(T.linalg.solve(a, a), T.Tensor)
assert_type(T.linspace(0, 1, 5, dtype=T.float64), T.Tensor)
assert_type(T.functional.jacobian(T.sin, a), T.Tensor)
assert_type(T.functional.hvp(lambda v: v.sum(), a, a), tuple[T.Tensor, T.Tensor])
assert_type(T.gradcheck(lambda v: T.sin(v) * v, [a], order=4), bool)
assert_type(a.detach().numpy(), np.ndarray)
assert_type(a.shape, T.Size)
assert_type(a.size(0), int)
assert_type(a.grad, T.Tensor | None)
assert_type(a.to(T.float64), T.Tensor)
assert_type(T.manual_seed(0), T.Generator)
a.sum().backward()
T.sin(3)  # type: ignore[arg-type]
T.sin(a, axis=0)  # type: ignore[call-arg]
a.sine()  # type: ignore[attr-defined]


@T.no_grad()
def frozen(v: T.Tensor) -> T.Tensor:
    return v * 2


assert_type(frozen(a), T.Tensor)
with T.no_grad():
    assert_type(a * 2, T.Tensor)


class Square(T.Function):
    @staticmethod
    def forward(ctx: Any, v: T.Tensor) -> T.Tensor:
        ctx.save_for_backward(v)
        return v * v

    @staticmethod
    def backward(ctx: Any, grad: T.Tensor) -> T.Tensor:
        (v,) = ctx.saved_tensors
        return 2 * v * grad


# ---- networks and optimizers


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 1))
        self.scale = nn.Parameter(T.ones(1))

    def forward(self, points: T.Tensor) -> T.Tensor:
        return self.inner(points) * self.scale


class Pair(nn.Module):
    def forward(self, points: T.Tensor) -> tuple[T.Tensor, T.Tensor]:
        return points, points


net = Net()
assert_type(net(T.rand(5, 2)), T.Tensor)
assert_type(Pair()(a), tuple[T.Tensor, T.Tensor])
assert_type(nn.MSELoss()(a, a), T.Tensor)
assert_type(net.scale, nn.Parameter)
assert_type(net.inner(a), T.Tensor)
assert_type(net.inner[0], nn.Module)
assert_type(net.inner[:2], nn.Sequential)
assert_type(net.train(), Net)
assert_type(net.to(T.float64), Net)
assert_type(net.state_dict(), dict[str, T.Tensor])
assert_type([p for p in net.parameters()], list[nn.Parameter])
net(T.rand(5, 2), 3)  # type: ignore[call-arg]

constants = nn.ParameterDict({"nu": T.tensor(0.1)})
assert_type(constants["nu"], nn.Parameter)
with net.register_forward_hook(lambda module, args, output: 2 * output), T.inference_mode():
    net(T.rand(5, 2))
assert_type(T.trapezoid(T.sin(a), x=a, dim=0), T.Tensor)
assert_type(T.cdist(T.rand(5, 2), T.rand(3, 2), p=1.0), T.Tensor)

adam = optim.Adam(net.parameters(), lr=1e-3)
rate = optim.lr_scheduler.SequentialLR(
    adam,
    [optim.lr_scheduler.LinearLR(adam), optim.lr_scheduler.CosineAnnealingLR(adam, T_max=100)],
    milestones=[5],
)
assert_type(rate.get_last_lr(), list[float])
for _ in range(3):
    adam.zero_grad()
    loss = ((net(T.rand(5, 2)) - 1) ** 2).mean()
    loss.backward()
    adam.step()
    rate.step()


def closure() -> T.Tensor:
    adam.zero_grad()
    loss = net(T.rand(5, 2)).square().mean()
    loss.backward()
    return loss


assert_type(adam.step(closure), T.Tensor)
pinn.solve(burgers, net)
