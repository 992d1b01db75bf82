"""What a solver is to the training loop, and what the objective is to a solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

import numpy as np

from autograd.ranks import Ranks
from pinn.schema import Family
from pinn.schema.kinds import Integer, Optional, WordOr

if TYPE_CHECKING:
    from pinn.objective import Evaluation, Layout, OnDevice

Redraws = Annotated[int | str | None, Optional(WordOr(("never",), Integer(low=1)))]
"""When a stage has points drawn anew: after so many steps, "never", or as the sampling says."""


class LeastSquares(Protocol):
    """loss(theta) = |weighted_rows(theta)|^2, with all that a solver may want of it.

    theta and gradients are float64 vectors (size,), the weighted residual vector has `rows`
    numbers, its Jacobian J is (rows, size) and the loss's gradient 2 J^T rows. `layout` says which
    numbers of theta are the matrices of networks, and which are coefficients. Each method takes the
    point it works at and keeps no memory of it. In training `value` alone may return a number
    that is not finite, for searches that try out steps; the others raise Diverged.

    pinn.objective.Objective is one.
    """

    @property
    def size(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def threads(self) -> int:
        """How many threads a solver may use for what it computes itself."""

    @property
    def ranks(self) -> Ranks:
        """The processes that share what a solver computes itself; all run the same solver."""

    @property
    def dtype(self) -> np.dtype:
        """The precision that rows and derivatives are computed in, before they become float64."""

    @property
    def is_linear(self) -> bool:
        """Whether the rows are linear in theta, as far as can be told: J is the same everywhere."""

    @property
    def superposition(self) -> Superposition | None:
        """What reduces its Jacobian where one of fewer numbers has all of it; None elsewhere."""

    @property
    def layout(self) -> Layout: ...

    @property
    def on_device(self) -> OnDevice | None:
        """The loss where theta stays on a device; None where it does not.

        Another one where there are other points or weights. It may take other points in each step.
        """

    def steps_ahead(self) -> int:
        """Return how many steps are worth taking there before the first of them is told, from 1."""

    def told(self, theta: np.ndarray, totals: np.ndarray) -> float:
        """Return the loss at theta, of the sums of squares that were found there."""

    def value(self, theta: np.ndarray) -> float:
        """Return the loss alone: a forward evaluation."""

    def values(self, thetas: Sequence[np.ndarray]) -> list[float]:
        """Return the same at each of several thetas; a device is waited for once."""

    def value_and_gradient(self, theta: np.ndarray) -> Evaluation:
        """Return the loss and its gradient (size,), as attributes of these names."""

    def hvp(self, theta: np.ndarray, direction: Any) -> Any:
        """Return the loss's Hessian times v, (size,), for v of shape (size,).

        v may be an array of the device of `on_device`, where there is one; so is the product then.
        """

    def weighted_rows(self, theta: np.ndarray) -> np.ndarray:
        """Return the weighted residual vector, (rows,)."""

    def rows_at(self, thetas: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the same at each of several thetas; a device is waited for once."""

    def jacobian(self, theta: np.ndarray, out: Any | None = None) -> tuple[Any, Any]:
        """Return the weighted residual vector and J; out: memory for J, (rows, size) float64.

        That memory may be of the device of `on_device`, where there is one: both stay there then.
        """

    def jacobian_chunks(
        self, theta: np.ndarray, rows: int | None = 1024
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the same in order, at most `rows` rows at a time, in the dtype of `dtype`.

        None: in parts of any length. No other method may be called before the last part is there.
        """

    def gram(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J^T J (size, size) and J^T rows (size,)."""

    def kernel(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J J^T (rows, rows) and the weighted residual vector."""

    def jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return J v, (rows,), for v of shape (size,)."""

    def second_jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the second derivative of the weighted rows at theta + s v in s, (rows,)."""

    def vjp(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return J^T z, (size,), for z of shape (rows,)."""


class Superposition(Protocol):
    """A function whose rows are sums of those of several, which have one Jacobian.

    objective: the function that has it, of some of the numbers.
    """

    objective: LeastSquares

    def reduced(self, theta: np.ndarray, cutoff: float) -> Any:
        """Return all rows and their Jacobian, reduced (least_squares.algebra.Reduced)."""


class StopReason(StrEnum):
    """Why a stage ended; compares equal to its text.

    Of a solver by itself: all its steps are done, the gradient is zero but for a tolerance, no
    step could lower the loss by much, or a search finds no lower loss. The others are found by the
    training loop.
    """

    TARGET = "target reached"
    STEPS = "step limit"
    CONVERGED = "gradient below tolerance"
    MINIMUM = "minimum reached"
    NO_DECREASE = "no further decrease"
    LINE_SEARCH = "line search failed"
    TIME = "time limit"
    PRECISION = "precision floor"
    SETTLED = "settled"
    STALLED = "stalled"
    CALLBACK = "stopped by callback"
    DIVERGED = "diverged"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Diverged(Exception):
    """The loss or one of its derivatives is not finite at the theta asked for.

    A solver that can go another way catches it; one that cannot lets it pass, which ends training
    as "diverged" at the last step it took.
    """


@dataclass(frozen=True)
class Step:
    """One accepted iterate: the number of the step in its stage (from 1), theta and its loss.

    state: all that `Stage.run` needs to go on from here with the same bits, as named arrays. It may
    be made when it is read, and gone after the next step. ahead: how many further steps have been
    taken by now, and only have to be told.
    """

    number: int
    theta: np.ndarray
    loss: float
    learning_rate: float | None = None
    state: Mapping[str, np.ndarray] = field(default_factory=dict)
    ahead: int = 0


@dataclass(frozen=True)
class StageEnd:
    """How a solver ended by itself: the last theta, why, and a sentence that says so."""

    theta: np.ndarray
    reason: StopReason
    message: str


STAGES = Family("training stage", example="pinn.Adam()")


class Stage(ABC):
    """A solver with its settings; `seconds` limits the wall time of the stage (None: no limit).

    A stage ends where one more step, as long as an ordinary one or as the last, would not fit. The
    first evaluation of a run, which records its programs, is in the limit of pinn.solve alone;
    programs that only this solver asks for are recorded in its first step, and count.

    name: what reports call it, the name of its class where left out. hold: steps for which an
    adaptive weighting keeps its weights, at least; a solver that learns the curvature from step to
    step needs some on one and the same loss. redraw: steps after which the points are drawn anew,
    where the run draws any, and sooner where they are overfitted, or "never"; None: as often as the
    sampling says, which a solver of few long steps would hardly take. takes_batches: whether each
    step may see another part of the points; one that compares the losses of its steps has to see
    all of them in each.
    takes_jacobian: whether a step takes the slopes of all rows, and as many operations for each as
    there are trainable numbers.
    """

    family = STAGES
    name: ClassVar[str]
    steps: int
    seconds: float | None = None
    hold: int = 1
    redraw: int | str | None = None
    takes_batches: ClassVar[bool] = False
    takes_jacobian: ClassVar[bool] = False

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()

    def state_bytes(self, layout: Layout) -> int | None:
        """Return about how many bytes the state takes for such a theta; None: unknown."""
        return None

    def working_bytes(self, function: LeastSquares) -> int | None:
        """Return about how many bytes its steps take beside those of evaluations; None: unknown."""
        return self.state_bytes(function.layout)

    def algebra_flops(self, function: LeastSquares) -> int:
        """Return about how many operations a step takes beside evaluations, with matrices."""
        return 0

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray] | None:
        """Return the state to go on with from a step after which numbers were not finite.

        Its steps are the shorter the more tries there were in this stage, of which this is number
        `tries`. number, state: those of the step; what the solver makes when it is read may be
        gone. None, as here, from a solver that has no shorter steps.
        """
        return None

    def takes_steps_ahead(self, function: LeastSquares) -> bool:
        """Whether it takes several steps of this function before it tells of the first.

        Then they are those of `on_device`, which has the batch of each of them.
        """
        return False

    def check(self, function: LeastSquares) -> list[str]:
        """Look at what is to be minimised before training: its size, its rows, its precision.

        Returns a sentence for each thing that the solver will do badly. Raises ValueError, with the
        numbers, for what it is not made for, as more trainable numbers than fit into memory.
        Nothing is evaluated.
        """
        return []

    @abstractmethod
    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        """Lower the loss from theta: yield each accepted iterate, return why there are no more.

        state: that of the step which ended at this theta; None to begin anew. Going on from it
        gives the bits of a run that was never stopped. Where the function has other points or
        weights by now, it evaluates it anew and keeps what is still worth knowing. Who runs it may
        close it after any step. `theta` is not changed in place, nor is any theta that was yielded.
        """


STAGES.base = Stage
