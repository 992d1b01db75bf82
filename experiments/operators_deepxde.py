"""DeepXDE on rows of experiments.operators, with the settings of its own examples.

    python -m experiments.operators_deepxde NAME SECONDS SEED

Prints, as JSON, its errors for the functions that we are measured with, and its steps. For every
function that it draws its network sees 50 numbers; its example takes 40 000 and 20 000 steps,
which the limit in time ends here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import metadata

import numpy as np

from experiments.operators import DRAWN, ROWS, drawn

os.environ.setdefault("DDE_BACKEND", "pytorch")

import deepxde as dde  # noqa: E402 - the backend is chosen before
import torch  # noqa: E402

_SENSORS = np.linspace(0, 1, 50)[:, None]
_RATE, _STEPS = 5e-4, {"antiderivative": 40_000, "diffusion and reaction": 20_000}
NAMES = tuple(_STEPS)


def _antiderivative() -> tuple:
    """The setting of DeepXDE's example antiderivative_aligned_pideeponet."""
    equations = dde.data.PDE(
        dde.geometry.TimeDomain(0, 1), lambda x, y, v: dde.grad.jacobian(y, x) - v, [],
        num_domain=20, num_boundary=2,
    )  # fmt: skip
    data = dde.data.PDEOperatorCartesianProd(
        equations, dde.data.GRF(length_scale=0.2), _SENSORS, 1000, batch_size=100
    )
    network = _network(1)
    network.apply_output_transform(lambda inputs, outputs: outputs * inputs[1].T)
    return data, network


def _reacting() -> tuple:
    """The setting of DeepXDE's example diff_rec_aligned_pideeponet."""

    def equation(x, y, v):
        slopes = dde.grad.jacobian(y, x, j=1) - 0.01 * dde.grad.hessian(y, x, j=0)
        return slopes + 0.01 * y**2 - v

    domain = dde.geometry.GeometryXTime(dde.geometry.Interval(0, 1), dde.geometry.TimeDomain(0, 1))
    conditions = [
        kind(domain, lambda _: 0, lambda _, on: on) for kind in (dde.icbc.DirichletBC, dde.icbc.IC)
    ]
    equations = dde.data.TimePDE(
        domain, equation, conditions, num_domain=200, num_boundary=40, num_initial=20
    )
    data = dde.data.PDEOperatorCartesianProd(
        equations, dde.data.GRF(length_scale=0.2), _SENSORS, 1000, function_variables=[0],
        batch_size=50,
    )  # fmt: skip
    return data, _network(2)


def _network(coordinates: int) -> dde.nn.DeepONetCartesianProd:
    return dde.nn.DeepONetCartesianProd(
        [50, 128, 128, 128], [coordinates, 128, 128, 128], "tanh", "Glorot normal"
    )


class _Limit(dde.callbacks.Callback):
    """Ends training after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def on_train_begin(self) -> None:
        self._began = time.perf_counter()

    def on_epoch_end(self) -> None:
        if time.perf_counter() - self._began > self._seconds:
            self.model.stop_training = True


def measure(name: str, seconds: float, seed: int) -> dict:
    """Return DeepXDE's errors after so many seconds of training."""
    dde.config.set_random_seed(seed)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    data, network = _antiderivative() if name == "antiderivative" else _reacting()
    model = dde.Model(data, network)
    model.compile("adam", lr=_RATE)
    began = time.perf_counter()
    _, state = model.train(iterations=_STEPS[name], callbacks=[_Limit(seconds)], verbose=0)
    took = time.perf_counter() - began
    row, errors = ROWS[name], []
    places = row.places()
    at = np.stack([one.ravel() for one in places.values()], axis=1).astype(np.float32)
    for v in drawn(row.problem()):
        exact = row.exact(v)
        found = model.predict((v(_SENSORS[:, 0])[None].astype(np.float32), at))
        errors.append(
            float(np.linalg.norm(found.reshape(exact.shape) - exact) / np.linalg.norm(exact))
        )
    assert len(errors) == DRAWN
    return {
        "errors": errors, "steps": int(state.step), "steps_of_example": _STEPS[name],
        "seconds": took,
        "versions": {one: metadata.version(one) for one in ("deepxde", "torch")},
    }  # fmt: skip


if __name__ == "__main__":
    _, name, seconds, seed = sys.argv
    print(json.dumps(measure(name, float(seconds), int(seed))))
