"""Everything that determines a training run, checked; to and from JSON."""

from __future__ import annotations

import dataclasses
import json
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograd as T
from pinn.checks import check_choice, check_count
from pinn.conditions import CONDITIONS
from pinn.conditions.condition import Condition
from pinn.conditions.hard import HardModel
from pinn.files import to_json
from pinn.geometry import Box, Interval, Time
from pinn.models import MLP, MODELS
from pinn.objective import DERIVATIVES, ENGINES, Objective, check_weights
from pinn.objective.flat_parameters import FlatParameters
from pinn.optimizers import STAGES, Stage
from pinn.problem.parameter import Parameter
from pinn.problem.problem import Problem
from pinn.sampling import Sampling, rad_points, stream
from pinn.training.defaults import default_training

Residuals = Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]

PRECISIONS = {"float64": T.float64, "float32": T.float32}


@dataclass(frozen=True)
class Setup:
    """The arguments of pinn.solve with every default filled in; equal setups give equal bits.

    The number of threads is the one that changes no bit: files leave it out.
    """

    problem: Problem
    model: Any
    sampling: Sampling
    training: tuple[Stage, ...]
    weights: dict[str, float]
    seed: int
    precision: str
    device: str
    engine: str
    derivatives: str
    threads: int | None

    @classmethod
    def checked(
        cls,
        problem: Problem,
        model: Any = None,
        sampling: Sampling | None = None,
        training: Iterable[Stage] | None = None,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
        precision: str = "float64",
        device: str = "cpu",
        engine: str = "recorded",
        derivatives: str = "jets",
        threads: int | None = None,
    ) -> Setup:
        """Return a setup; TypeError or ValueError naming the argument that cannot work."""
        if not isinstance(problem, Problem):
            raise TypeError(f"problem: expected pinn.Problem, got {problem!r}")
        model = MLP() if model is None else model
        if not callable(getattr(model, "build", None)):
            raise TypeError(f"model: expected a model such as pinn.MLP(), got {model!r}")
        sampling = Sampling() if sampling is None else sampling
        if not isinstance(sampling, Sampling):
            raise TypeError(f"sampling: expected pinn.Sampling, got {sampling!r}")
        stages = default_training(0) if training is None else training
        if isinstance(stages, Stage):
            raise TypeError(f"training: expected a list of stages, got {stages!r}; write [stage]")
        stages = tuple(stages)
        for stage in stages:
            if not isinstance(stage, Stage):
                raise TypeError(
                    f"training: expected stages such as pinn.Adam(), pinn.LBFGS(), got {stage!r}"
                )
        if not stages:
            raise ValueError("training: expected at least one stage, got none")
        if isinstance(seed, bool) or not isinstance(seed, numbers.Integral):
            raise TypeError(f"seed: expected a whole number, got {seed!r}")
        if seed < 0:
            raise ValueError(f"seed: expected zero or more, got {seed}")
        check_choice("precision", precision, PRECISIONS)
        check_choice("engine", engine, ENGINES)
        check_choice("derivatives", derivatives, DERIVATIVES)
        if threads is not None:
            check_count("threads", threads)
        return cls(
            problem,
            model,
            sampling,
            stages,
            check_weights(problem, weights),
            int(seed),
            precision,
            str(device),
            engine,
            derivatives,
            threads,
        )

    @property
    def dtype(self) -> T.dtype:
        """The dtype of the model."""
        return PRECISIONS[self.precision]

    def initial_parameters(self) -> FlatParameters:
        """Build the model from the seed, with the problem's coefficients at their start."""
        module = self.model.build(
            self.problem.domain,
            self.problem.unknowns,
            stream(self.seed, "model"),
            self.dtype,
            self.device,
        )
        if self.problem.ansatz is not None:
            module = HardModel(module, self.problem.ansatz)
        return FlatParameters(module, self.problem.parameters, self.dtype, self.device)

    def draw_points(
        self, number: int = 0, residuals: Residuals | None = None
    ) -> dict[str, np.ndarray]:
        """Return the collocation points of every block, (n, d), of a draw counted from 0.

        Each draw of each block has a stream of its own: the same number gives the same points.
        residuals: where sampling is adaptive, gives the residuals (n,) at other points of some
        blocks; without it the points do not depend on the model.
        """
        sampling = self.sampling
        drawn = {}
        for residual in self.problem.residuals:
            name, rng = residual.name, stream(self.seed, "points", residual.name, str(number))
            if residuals is None or sampling.adaptive is None or residual.quantity is not None:
                drawn[name] = residual.sample(sampling, rng)
                continue
            even = dataclasses.replace(sampling, interior=sampling.candidates, method="uniform")
            candidates = residual.sample(even, rng)
            drawn[name] = rad_points(
                candidates,
                residuals({name: candidates})[name],
                sampling.interior,
                rng,
                sampling.rad_power,
                sampling.rad_floor,
            )
        return drawn

    def objective(self) -> Objective:
        """Build the objective at its start."""
        return Objective(
            self.problem,
            self.initial_parameters(),
            self.draw_points(),
            self.weights,
            dtype=self.dtype,
            device=self.device,
            engine=self.engine,
            derivatives=self.derivatives,
            threads=self.threads,
        )

    def to_json(self) -> str:
        """Return the setup as JSON; functions become null.

        Raises TypeError for a model or a training stage of a class that pinn does not ship, and for
        a hard condition whose value is a function: without it the unknowns have no value.
        """
        problem = self.problem
        return to_json(
            {
                "problem": {
                    "name": problem.name,
                    "domain": [
                        [i.name, "time" if i.is_time else "space", i.low, i.high]
                        for i in problem.domain.intervals
                    ],
                    "unknowns": problem.unknowns,
                    "equations": {n: _source(e) for n, e in problem.equations.items()},
                    "conditions": [
                        {**_tagged("condition", c, CONDITIONS), "value": _condition_value(c)}
                        for c in problem.conditions
                    ],
                    "constants": dict(problem.constants),
                    "parameters": [dataclasses.asdict(p) for p in problem.parameters],
                    "reference": _reference(problem.reference),
                },
                "model": _tagged("model", self.model, MODELS),
                "sampling": dataclasses.asdict(self.sampling),
                "training": [_tagged("training", stage, STAGES) for stage in self.training],
                "weights": self.weights,
                "seed": self.seed,
                "precision": self.precision,
                "device": self.device,
                "engine": self.engine,
                "derivatives": self.derivatives,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Setup:
        """Return the setup that `to_json` wrote.

        An equation or value that was a function comes back as one that only raises RuntimeError:
        the solution can be evaluated and differentiated, but not trained further. Raises
        ValueError, KeyError or TypeError for other text.
        """
        data = json.loads(text)
        section = data["problem"]
        kinds = {"time": Time, "space": Interval}
        intervals = [
            kinds[kind](name, low, high) for name, kind, low, high in section["domain"]
        ]
        problem = Problem(
            domain=Box(*intervals) if len(intervals) > 1 else intervals[0],
            unknowns=section["unknowns"],
            equations={n: _restored(n, source) for n, source in section["equations"].items()},
            conditions=[_restored_condition(c) for c in section["conditions"]],
            constants=section["constants"],
            parameters=[Parameter(**p) for p in section["parameters"]],
            reference=section["reference"],
            name=section["name"],
        )
        return cls.checked(
            problem,
            _untagged(data["model"], MODELS),
            Sampling(**data["sampling"]),
            [_untagged(stage, STAGES) for stage in data["training"]],
            data["weights"],
            data["seed"],
            data["precision"],
            data["device"],
            data["engine"],
            data["derivatives"],
        )


class NotSaved:
    """Stands for a function of the problem in a setup that was loaded from a file."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __call__(self, s: Any) -> Any:
        raise RuntimeError(
            f"{self.what}: it was a Python function, which a file cannot hold; build the problem "
            "again in Python to train it or to evaluate its residual"
        )


def _source(source: Any) -> str | float | None:
    return None if callable(source) else source


def _condition_value(condition: Condition) -> str | float | None:
    if condition.hard and callable(condition.value):
        raise TypeError(
            f"a hard condition of {condition.unknown!r} has a Python function as its value, which "
            "a file cannot hold, and the solution is made of it; give the value as text to save it"
        )
    return _source(condition.value)


def _restored(what: str, source: Any) -> Any:
    return NotSaved(what) if source is None else source


def _restored_condition(values: Mapping[str, Any]) -> Any:
    value = _restored(f"the value of a condition of {values['unknown']!r}", values["value"])
    return _untagged({**values, "value": value}, CONDITIONS)


def _reference(reference: Any) -> Any:
    if callable(reference):
        return None
    if isinstance(reference, Mapping):
        # A formula that was a function is left out; the others can still be compared with.
        return {name: s for name, s in reference.items() if not callable(s)} or None
    return reference


def _tagged(what: str, value: Any, classes: Mapping[str, type]) -> dict[str, Any]:
    for tag, kind in classes.items():
        if type(value) is kind:
            settings = {f.name: getattr(value, f.name) for f in dataclasses.fields(kind)}
            return {"kind": tag, **settings}
    raise TypeError(
        f"{what}: a file can hold {', '.join(c.__name__ for c in classes.values())}, "
        f"not {type(value).__name__}"
    )


def _untagged(values: Mapping[str, Any], classes: Mapping[str, type]) -> Any:
    return classes[values["kind"]](**{k: v for k, v in values.items() if k != "kind"})
