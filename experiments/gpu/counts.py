"""What a step asks of a device: launches, copies, waits and memory, counted on the stand-in."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pinn
from autograd.strict import counted, strict_cuda
from experiments.bench.engines import bursts
from experiments.burgers import PROBLEM
from experiments.gpu.rows import NETWORKS
from pinn.objective import Objective
from pinn.optimizers import Stage
from pinn.training.experiment import Experiment

# Counts of bursts do not depend on how many there are. Solvers take them by the form of many rows.
_POINTS, _ROWS = 64, 400
_BURST = 10
_STEPS, _FIRST = 8, 3

STAGES: dict[str, Stage] = {
    "adam": pinn.Adam(_STEPS + _FIRST), "muon": pinn.Muon(_STEPS + _FIRST),
    "soap": pinn.SOAP(_STEPS + _FIRST), "lbfgs": pinn.LBFGS(_STEPS + _FIRST),
    "bfgs": pinn.BFGS(_STEPS + _FIRST), "ssbroyden": pinn.SSBroyden(_STEPS + _FIRST),
    "levenberg_marquardt": pinn.LevenbergMarquardt(_STEPS + _FIRST),
    "gauss_newton": pinn.GaussNewton(_STEPS + _FIRST), "engd": pinn.ENGD(_STEPS + _FIRST),
    "spring": pinn.SPRING(_STEPS + _FIRST), "dsgnar": pinn.DSGNAR(_STEPS + _FIRST),
    "nncg": pinn.NNCG(_STEPS + _FIRST),
}  # fmt: skip


def of_networks() -> dict[str, dict[str, int]]:
    """Return what a burst of `steps` of Adam takes in all, for each network of the bench."""
    found = {}
    with strict_cuda(kernels=True):
        for name, workload in NETWORKS.items():
            few = replace(workload, points=_POINTS)
            step = bursts.prepare(few, "bursts", seed=0, threads=1)
            step.steps(_BURST)  # compiles, and captures
            with counted() as counts:
                step.steps(_BURST)
            found[name] = {"steps": _BURST, **asdict(counts)}
    return found


def of_solvers() -> dict[str, dict[str, Any]]:
    """Return what `steps` of each solver take in all, on a problem of three groups of blocks."""
    found = {}
    with strict_cuda(kernels=True):
        for name, stage in STAGES.items():
            objective = _objective()
            run = stage.run(objective, objective.theta)
            # Between two tellings a burst may lie as a whole: it is counted to its end.
            objective.steps_ahead = lambda: _FIRST
            for _ in range(_FIRST):
                next(run)
            objective.steps_ahead = lambda: _STEPS
            with counted() as counts:
                for _ in range(_STEPS):
                    next(run)
            found[name] = {"steps": _STEPS, **asdict(counts)}
    return found


def of_redraw() -> dict[str, int]:
    """Return what it takes to give new points to all blocks."""
    with strict_cuda(kernels=True):
        objective = _objective()
        objective.value_and_gradient(objective.theta)
        points = {block.name: block.points for block in objective.blocks}
        with counted() as counts:
            objective.set_points(points)
    return {"steps": 1, **asdict(counts)}


def _objective() -> Objective:
    sampling = pinn.Sampling(_ROWS, initial=16, boundary=16)
    return Experiment(PROBLEM, pinn.MLP(8, 2), sampling, device="cuda").objective()
