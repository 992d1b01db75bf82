"""DeepXDE's side: train its setting, and look at the error on the way."""

from __future__ import annotations

import time
import warnings
from importlib import metadata
from typing import Any

import deepxde as dde
import numpy as np
import torch

from experiments.case import Case
from experiments.versus_deepxde.curve import Stopwatch
from experiments.versus_deepxde.setting import Adam, Setting
from experiments.versus_deepxde.settings import SETTINGS
from experiments.versus_deepxde.yardstick import Yardstick

# Steps of L-BFGS between two of DeepXDE's callbacks, 1000 by default. It goes on where it was, with
# one evaluation more each time.
_CHUNK = 200


class _Watch(dde.callbacks.Callback):
    """Looks at the error, and ends training where time is up or nothing happens any more."""

    def __init__(self, side: Side) -> None:
        super().__init__()
        self._side = side
        self._steps = -1

    def on_epoch_end(self) -> None:
        self._side.look()
        steps = self.model.train_state.step
        # L-BFGS that finds the gradient to be zero takes no step, and would be asked for ever.
        self.model.stop_training |= self._side.is_late or steps == self._steps
        self._steps = steps


class Side:
    """One training of a setting: what it is, its clock, and how far it is."""

    def __init__(self, setting: Setting, yardstick: Yardstick, watch: Stopwatch, limit: float):
        self.setting = setting
        self.model = dde.Model(setting.data, setting.net)
        self._yardstick, self._watch, self._limit = yardstick, watch, limit

    @property
    def is_late(self) -> bool:
        return self._watch.seconds >= self._limit

    @property
    def coefficients(self) -> dict[str, float]:
        return {name: float(one.detach()) for name, one in self.setting.coefficients.items()}

    def evaluate(self, points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the unknowns at points, by name."""
        columns = np.stack([points[name] for name in self.setting.coordinates], axis=1)
        outputs = self.model.predict(columns).astype(np.float64)
        return dict(zip(self.setting.unknowns, outputs.T, strict=True))

    def look(self, anyway: bool = False) -> None:
        """Take the error, where its time has come."""
        self._watch.look(lambda: self._yardstick.error(self.evaluate, self.coefficients), anyway)

    def train(self) -> list[dict[str, Any]]:
        """Run all stages, as far as the time goes; returns what was done of each."""
        done, variables = [], list(self.setting.coefficients.values()) or None
        for stage in self.setting.stages:
            before = self.model.train_state.step or 0
            if not done or not self.is_late:
                self._run(stage, variables)
            steps = self.model.train_state.step - before
            # L-BFGS may be through with fewer steps than it is given.
            whole = not self.is_late or steps >= stage.steps
            done.append({"stage": str(stage), "steps": steps, "whole": bool(whole and steps)})
        self.look(anyway=True)
        return done

    def _run(self, stage: Adam | Any, variables: list[Any] | None) -> None:
        weights = self._weights()
        settings = {"loss_weights": weights, "external_trainable_variables": variables}
        callbacks = [_Watch(self)]
        if isinstance(stage, Adam):
            self.model.compile(
                "adam", lr=stage.rate, decay=stage.decay, verbose=0, **settings
            )
            if stage.draws:
                callbacks.append(dde.callbacks.PDEPointResampler(period=1))
            self.model.train(iterations=stage.steps, callbacks=callbacks, verbose=0)
        else:
            dde.optimizers.set_LBFGS_options(maxiter=stage.steps)
            steps = min(_CHUNK, stage.steps)
            dde.optimizers.LBFGS_options.update(iter_per_step=steps, fun_per_step=5 * steps // 4)
            self.model.compile("L-BFGS", verbose=0, **settings)
            self.model.train(callbacks=callbacks, verbose=0)

    def _weights(self) -> list[float] | None:
        """Return the weights of the loss, which may be made of its terms before the first step."""
        weights = self.setting.weights
        if not callable(weights):
            return None if weights is None else list(weights)
        self.model.compile("adam", lr=1e-3, verbose=0)
        self.model.train(iterations=0, verbose=0)
        return [float(one) for one in weights(np.asarray(self.model.losshistory.loss_train[0]))]


def run(case: Case, limit: float, seed: int, threads: int) -> dict[str, Any]:
    """Train the setting of a case's name for `limit` seconds at most; returns its figures.

    The clock runs from before the points are drawn; what is imported, or made ready once in a
    process by PyTorch, was so before.
    """
    torch.set_num_threads(threads)
    yardstick = Yardstick(case)
    _warm()
    dde.config.set_random_seed(seed)
    processor, watch = time.process_time(), Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        side = Side(SETTINGS[case.name](), yardstick, watch, limit)
        stages = side.train()
    seconds, error = watch.curve[-1]
    return {
        "curve": watch.curve, "seconds": seconds, "error": error, "stages": stages,
        "whole": all(stage["whole"] for stage in stages), "coefficients": side.coefficients,
        "cpu_seconds": time.process_time() - processor,
        "parameters": side.setting.net.num_trainable_parameters(),
        "versions": {name: metadata.version(name) for name in ("deepxde", "torch")},
    }  # fmt: skip


def _warm() -> None:
    """Take a step of each optimiser: PyTorch imports some of itself with the first."""
    for optimiser in (torch.optim.Adam, torch.optim.LBFGS):
        one = torch.nn.Parameter(torch.ones(1))
        step = optimiser([one])

        def loss(one=one, step=step) -> torch.Tensor:
            step.zero_grad()
            value = (one**2).sum()
            value.backward()
            return value

        step.step(loss)
