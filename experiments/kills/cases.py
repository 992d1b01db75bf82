"""The runs that are killed: between them every kind of solver, weighting and sampling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kill:
    """A run of a second or two: a config that ships, and what is laid over it.

    name: its own. config: the name of the config. settings: as of --set. what: what it stands for.
    """

    name: str
    config: str
    what: str
    settings: tuple[str, ...]


_SHORT = (
    "seconds=null", "threads=1", "error_bars=false", "output.log_every=1",
    "output.checkpoint_seconds=0.05",
)  # fmt: skip


def _case(name: str, config: str, what: str, training: str, *settings: str) -> Kill:
    return Kill(name, config, what, (*_SHORT, f"training={training}", *settings))


_SMALL = "model={mlp: {width: 8, depth: 2}}"
_FEW = ("sampling.interior=100", "sampling.boundary=20", "sampling.initial=20")

CASES = (
    _case(
        "adam-rad", "burgers", "Adam with a falling rate, points by the residual, weights by "
        "gradients",
        "[adam: {steps: 80, schedule: {exponential: {final_rate: 1.0e-4}}, warmup: 10}]",
        _SMALL, *_FEW, "sampling.redraw=15", "sampling.adaptive=rad",
        "weighting={grad_norm: {every: 10}}",
    ),
    _case(
        "broyden-soft", "burgers", "Adam, then SSBroyden; soft conditions, weights by NTK",
        "[adam: {steps: 30}, ssbroyden: {steps: 50}]",
        _SMALL, *_FEW, "problem.conditions.0.initial.hard=false",
        "problem.conditions.1.dirichlet.hard=false", "weighting={ntk: {every: 20}}",
    ),
    _case(
        "levenberg-data", "diffusion_coefficient", "Levenberg-Marquardt, an unknown number from "
        "data", "[levenberg_marquardt: {steps: 20, redraw: 6}]", _SMALL, "sampling.interior=150",
    ),
    _case(
        "lbfgs-field", "reaction_rate", "an unknown field from data, mini-batches, then L-BFGS",
        "[adam: {steps: 50}, lbfgs: {steps: 30}]", _SMALL, "sampling.interior=80",
        "sampling.batch=40",
    ),
    _case(
        "self-adaptive", "klein_gordon", "weights of rows that are trained, points added where "
        "the residual is large", "[adam: {steps: 70}]", _SMALL, *_FEW,
        "problem.conditions.0.initial.hard=false", "problem.conditions.1.initial.hard=false",
        "weighting={self_adaptive: {}}", "sampling.redraw=20", "sampling.adaptive=rar-d",
    ),
    _case(
        "causal-r3", "allen_cahn", "weights causal in time, R3 points, SOAP",
        "[soap: {steps: 60}]", _SMALL, *_FEW, "weighting={causal: {}}", "sampling.redraw=10",
        "sampling.adaptive=r3",
    ),
    _case(
        "spring", "poisson_robin", "natural gradients with their own random numbers, and NNCG",
        "[spring: {steps: 30, redraw: 7}, nncg: {steps: 10}]", _SMALL, "sampling.interior=60",
    ),
    _case(
        "windows", "ode_system", "several unknowns, windows of time one after the other",
        "[adam: {steps: 30}, levenberg_marquardt: {steps: 8}]",
        "model={windows: {count: 2, model: {mlp: {width: 8, depth: 2}}}}", "sampling.interior=60",
    ),
    _case(
        "muon-relobralo", "schroedinger", "Muon on a residual network, random look-back of losses",
        "[muon: {steps: 50}]", "model={residual_mlp: {width: 12, depth: 2}}", *_FEW,
        "weighting={relobralo: {}}", "sampling.redraw=15",
    ),
    _case(
        "auto", "poisson_robin", "what a run chooses by itself: random features by a trial",
        "auto", "model=auto",
    ),
)  # fmt: skip
BY_NAME = {case.name: [case] for case in CASES}
