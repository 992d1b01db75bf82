"""The declaration of a run: everything that determines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Literal

import autograd as T
from autograd.mpi import Executor, ranks_of
from autograd.ranks import Ranks
from autograd.threads import workers
from pinn.conditions import Initial
from pinn.conditions.hard import HardModel
from pinn.geometry import Shape
from pinn.models import (
    AnyModel,
    AutoModel,
    Facts,
    Spaced,
    Windows,
    build_module,
    check_model,
    check_part,
    parameter_count,
    settled_model,
)
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.objective.weighting import AnyWeighting, Fixed
from pinn.optimizers import Stage
from pinn.problem import Field, Problem
from pinn.sampling import Points, Sampling, stream
from pinn.schema import Count, Natural, Positive, declared
from pinn.schema.declared import fields_of
from pinn.schema.errors import at
from pinn.training.auto import Auto, LeastSquaresPlan
from pinn.training.continuation import Values, check_continuation
from pinn.training.device_name import DeviceName
from pinn.training.given import fit_last_layers, given_values
from pinn.training.plan import TRAINING, Plan, Scale, plan_of
from pinn.training.points.batches import Batches
from pinn.training.points.collocation import Collocation, Residuals
from pinn.training.superposition import Superposition, check_superposition, is_by_superposition
from pinn.training.windows.marching import check_windows, of_window

PRECISIONS = {"float64": T.float64, "float32": T.float32}

Around = Callable[[str, T.nn.Module, Shape], T.nn.Module]
"""(name of a field or "model", network, the domain that it sees) -> what stands for the network."""


@declared(owner="solve", eq=False)
class Experiment:
    """The arguments of pinn.solve with every default filled in; equal ones give equal bits.

    Threads and the executor change no bit. What each argument is, `pinn.solve` says.
    A config file and a saved solution hold these fields under these names.
    """

    problem: Problem
    model: AnyModel = AutoModel()
    sampling: Sampling = Sampling()
    weighting: AnyWeighting = Fixed()
    training: Annotated[tuple[Stage, ...] | Plan, TRAINING] = Auto()
    continuation: Values = field(default_factory=dict)
    seconds: Positive | None = None
    target: Positive | None = None
    precision: Literal["float64", "float32"] = "float64"
    device: Annotated[str, DeviceName()] = "cpu"
    engine: Literal["recorded", "eager"] = "recorded"
    derivatives: Literal["jets", "nested"] = "jets"
    threads: Count | None = None
    executor: Executor = "process"
    seed: Natural = 0
    error_bars: bool = True

    def __post_init__(self) -> None:
        with at("weighting"):
            self.weighting.check(self.problem)
        self.collocation  # noqa: B018 - what does not fit the problem is refused here
        with at("model"):
            unknowns = self.problem.unknowns
            facts = Facts(
                self.problem.constants, given_values(self.problem, self.draw_points),
                max((1 + c.order for c in self.problem.conditions if isinstance(c, Initial)),
                    default=0),
            )  # fmt: skip
            model = settled_model(self.model, self.inputs, unknowns, facts)
            check_model(model, self.inputs, unknowns)
            object.__setattr__(self, "model", model)
        if isinstance(model, Windows):
            check_windows(self.problem, self.sampling, self.weighting, model.order)
        elif is_by_superposition(model):
            with at("model"):
                check_superposition(self)
        with at("continuation"):
            check_continuation(self)
        fields = []
        for one in self.problem.fields:
            with at("problem", "fields", one.name, "model"):
                own = self._inputs_of(one)
                model = settled_model(one.model, own, [one.name], facts)
                check_part(model, own, [one.name])
                fields.append(one if model is one.model else replace(one, model=model))
        if tuple(fields) != self.problem.fields:
            object.__setattr__(self, "problem", self.problem.with_fields(fields))

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of pinn.solve, by name."""
        return {name: getattr(self, name) for name in fields_of(Experiment)}

    @property
    def dtype(self) -> T.dtype:
        """The dtype of the model."""
        return PRECISIONS[self.precision]

    @property
    def plan(self) -> Plan:
        """What chooses the stages of training."""
        return plan_of(self.training).suited(self.model)

    @property
    def inputs(self) -> Shape:
        """The domain that the network sees: that of the problem, or what periods make of it."""
        ansatz = self.problem.ansatz
        return self.problem.domain if ansatz is None else ansatz.inputs

    def _inputs_of(self, field: Field) -> Shape:
        """The same of the network of a field."""
        ansatz = self.problem.field_ansatz.get(field.name)
        return field.domain(self.problem.domain) if ansatz is None else ansatz.inputs

    def network_size(self) -> int:
        """Return how many numbers the networks have, as far as they tell without being built."""
        problem = self.problem
        declared = parameter_count(self.model, self.inputs, problem.unknowns) or 0
        for one in problem.fields:
            declared += parameter_count(one.model, self._inputs_of(one), [one.name]) or 0
        return declared

    def initial_parameters(
        self, around: Around | None = None, model: AnyModel | None = None
    ) -> FlatParameters:
        """Build the model and the fields from the seed, with the coefficients at their start.

        around: what is put around each network, inside of the formulas that make hard conditions
        and bounds hold. model: what is built in place of the run's.
        """
        ansatz = self.problem.ansatz
        module = build_module(
            self.model if model is None else model,
            self.inputs,
            self.problem.unknowns,
            stream(self.seed, "model"),
            self.dtype,
            self.device,
        )
        if around is not None:
            module = around("model", module, self.inputs)
        module = Spaced.around(module, self.inputs)
        if ansatz is not None:
            module = HardModel(module, ansatz)
        number = self.problem.scope.coordinate_number
        fields = {}
        for one in self.problem.fields:
            rng = stream(self.seed, "field", one.name)
            ansatz = self.problem.field_ansatz.get(one.name)
            network = one.build(
                self.problem.domain, rng, self.dtype, self.device, ansatz, around
            )
            taken = [number[name] for name in self.problem.scope.inputs_of(one.name)]
            fields[one.name] = (network, taken)
        return FlatParameters(module, self.problem.parameters, self.dtype, self.device, fields)

    @property
    def ranks(self) -> Ranks:
        """Who computes; ImportError where what they need is missing."""
        return ranks_of(self.executor)

    @property
    def _replay(self) -> str:
        """What replays: for the few steps of a least squares problem nothing is compiled."""
        few = self.device == "cpu" and isinstance(self.plan, LeastSquaresPlan)
        return "numpy" if few else "auto"

    def check_stages(self, objective: Objective) -> list[str]:
        """Return what stages say that they will do badly; ValueError for one that cannot work."""
        said = []
        if isinstance(self.model, Windows):  # they see one at a time
            objective, *_ = of_window(self, 0)
        stages = self.plan.foreseen(Scale.of(objective, self.seconds))
        for number, stage in enumerate(stages):
            with at("training", number):
                said += stage.check(objective)
        return said

    @property
    def collocation(self) -> Collocation:
        """Where the points of every block are."""
        return Collocation(self.problem, self.sampling, self.seed)

    @property
    def batches(self) -> Batches | None:
        """The points of each step, where that is not all of them."""
        sizes = self.collocation.batches
        return Batches(sizes, self.seed) if sizes else None

    def draw_points(
        self,
        number: int = 0,
        residuals: Residuals | None = None,
        present: Mapping[str, Points] | None = None,
        grown: Mapping[str, int] | None = None,
    ) -> dict[str, Points]:
        """Return the collocation points of every block of a draw; see Collocation.draw."""
        return self.collocation.draw(number, residuals, present, grown)

    def objective(self) -> Objective:
        """Build the objective at its start."""
        objective = self.objective_of(
            self.problem, self.initial_parameters(), self.draw_points(), self.weighting.initial
        )
        if is_by_superposition(self.model):
            objective.superposition = Superposition(self, objective)
        return objective

    def objective_of(
        self,
        problem: Problem,
        parameters: FlatParameters,
        points: Mapping[str, Points],
        weights: Mapping[str, float],
        given: Sequence[T.Tensor] = (),
    ) -> Objective:
        """Build the objective of a problem, or of a part of one, at its start; given: see there."""
        objective = Objective(
            problem,
            parameters,
            points,
            weights,
            dtype=self.dtype,
            device=self.device,
            engine=self.engine,
            derivatives=self.derivatives,
            threads=self.threads or max(1, workers() // self.ranks.neighbours),
            executor=self._replay,
            ranks=self.ranks,
            given=given,
        )
        fit_last_layers(objective)
        return objective
