"""The declaration of a run: everything that determines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal

import numpy as np

import autograd as T
from pinn.conditions.hard import HardModel
from pinn.models import MLP, AnyModel, Spaced, build_module
from pinn.objective import Objective, check_weights
from pinn.objective.flat_parameters import FlatParameters
from pinn.objective.weighting import AnyWeighting, Fixed
from pinn.optimizers import STAGES, Stage
from pinn.problem import Problem
from pinn.residuals import Source
from pinn.sampling import ADAPTIVE, Points, Sampling, stream
from pinn.schema import Count, Natural, Positive, declared
from pinn.schema.declared import Member
from pinn.schema.errors import at
from pinn.schema.kinds import Items, Optional
from pinn.training.defaults import default_training

Residuals = Callable[[Mapping[str, Points]], Mapping[str, np.ndarray]]

PRECISIONS = {"float64": T.float64, "float32": T.float32}

_TRAINING = Items(Member(STAGES), "a list of training stages", least=1)


@declared(owner="solve", eq=False)
class Experiment:
    """The arguments of pinn.solve with every default filled in; equal ones give equal bits.

    The number of threads is the one that changes no bit. What each argument is, `pinn.solve` says.
    A config file and a saved solution hold these fields under these names.
    """

    problem: Problem
    model: AnyModel = MLP()
    sampling: Sampling = Sampling()
    weighting: AnyWeighting = Fixed()
    training: Annotated[tuple[Stage, ...] | None, Optional(_TRAINING)] = None
    seconds: Positive | None = None
    precision: Literal["float64", "float32"] = "float64"
    device: Literal["cpu", "cuda"] = "cpu"
    engine: Literal["recorded", "eager"] = "recorded"
    derivatives: Literal["jets", "nested"] = "jets"
    threads: Count | None = None
    seed: Natural = 0

    def __post_init__(self) -> None:
        with at("weighting"):
            check_weights(self.problem, self.weighting.initial)
        self.sampling.resolved(len(self.problem.domain.coordinates))  # refuses what does not fit
        if self.training is None:
            stages = default_training(self.initial_parameters().size, self.seconds)
            object.__setattr__(self, "training", tuple(stages))

    @property
    def dtype(self) -> T.dtype:
        """The dtype of the model."""
        return PRECISIONS[self.precision]

    @property
    def resolved_sampling(self) -> Sampling:
        """The sampling with the counts that the problem's domain gets."""
        return self.sampling.resolved(len(self.problem.domain.coordinates))

    def initial_parameters(self) -> FlatParameters:
        """Build the model from the seed, with the problem's coefficients at their start."""
        module = build_module(
            self.model,
            self.problem.domain,
            self.problem.unknowns,
            stream(self.seed, "model"),
            self.dtype,
            self.device,
        )
        module = Spaced.around(module, self.problem.domain)
        if self.problem.ansatz is not None:
            module = HardModel(module, self.problem.ansatz)
        return FlatParameters(module, self.problem.parameters, self.dtype, self.device)

    def draw_points(
        self, number: int = 0, residuals: Residuals | None = None
    ) -> dict[str, Points]:
        """Return the collocation points of every block of a draw counted from 0.

        Blocks with equal sources get the same points. Each draw of each source has a stream of its
        own: the same number gives the same points. residuals: where sampling is adaptive, gives the
        residuals (n,) at other points of some blocks; without it the points do not depend on the
        model.
        """
        sharing: dict[Source, list[str]] = {}
        for residual in self.problem.residuals:
            sharing.setdefault(residual.source, []).append(residual.name)
        sampling = self.resolved_sampling
        drawn = {}
        for source, names in sharing.items():
            rng = stream(self.seed, "points", names[0], str(number))
            candidates = None
            if residuals is not None and sampling.adaptive is not None:
                candidates = source.candidates(sampling, rng)
            if candidates is None:
                points = source.draw(sampling, rng)
            else:
                found = residuals(dict.fromkeys(names, candidates))
                choose = ADAPTIVE[sampling.adaptive]
                points = candidates[choose([found[name] for name in names], sampling, rng)]
            drawn.update(dict.fromkeys(names, points))
        return {residual.name: drawn[residual.name] for residual in self.problem.residuals}

    def objective(self) -> Objective:
        """Build the objective at its start."""
        return Objective(
            self.problem,
            self.initial_parameters(),
            self.draw_points(),
            self.weighting.initial,
            dtype=self.dtype,
            device=self.device,
            engine=self.engine,
            derivatives=self.derivatives,
            threads=self.threads,
        )
