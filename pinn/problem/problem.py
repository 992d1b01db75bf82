"""A differential equation with its domain, conditions and constants: what is to be solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from pinn import expressions
from pinn.checks import check_name, nearest
from pinn.conditions.condition import Condition
from pinn.conditions.hard import Ansatz
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.namespace import Namespace
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.geometry import Domain
from pinn.problem import references
from pinn.problem.parameter import Parameter
from pinn.residuals import Interior, Residual

Equation = str | Callable[[Namespace], Any]


class Problem:
    """A domain, unknowns on it, equations that hold inside and conditions at its edges.

    domain: an Interval, Time or Box. unknowns: names. equations: name -> text or function of the
    namespace, whose value is to be zero. conditions: Initial, Dirichlet. constants: name -> number
    or text such as "0.01/pi". parameters: trainable coefficients. reference: None, the name of a
    shipped reference, a mapping unknown -> text, or a function of the namespace with numpy arrays
    (one array, or a dict by unknown); it is only compared with, never trained on.

    `residuals` lists the blocks: one for each equation, under its name, and one for each condition
    that is not hard, under names such as initial_u, initial_u_t, dirichlet_u, dirichlet_u_x_low.
    `ansatz` is the formula u = A + B*N that makes the hard ones hold, None where there are none.

    Raises ValueError, naming the equation, condition or name, for anything that does not fit
    together; TypeError for an argument of another kind.
    """

    def __init__(
        self,
        domain: Domain,
        unknowns: Sequence[str],
        equations: Mapping[str, Equation],
        conditions: Iterable[Condition] = (),
        constants: Mapping[str, float | str] | None = None,
        parameters: Iterable[Parameter] = (),
        reference: str | Mapping[str, str] | Callable[[Namespace], Any] | None = None,
        name: str = "problem",
    ) -> None:
        if not isinstance(domain, Domain):
            raise TypeError(
                f"domain: expected pinn.Interval, pinn.Time or pinn.Box, got {domain!r}"
            )
        if isinstance(unknowns, str):
            raise TypeError(f"unknowns: expected a list of names such as ['u'], got {unknowns!r}")
        if not isinstance(equations, Mapping) or not equations:
            raise TypeError(
                "equations: expected a mapping such as {'heat': 'u_t - u_xx'}, "
                f"got {equations!r}"
            )
        self.domain = domain
        self.unknowns = tuple(unknowns)
        self.equations = MappingProxyType(dict(equations))
        self.conditions = tuple(conditions)
        self.constants = MappingProxyType(_constants(constants or {}))
        self.parameters = tuple(parameters)
        self.reference = reference
        self.name = name
        self._check_names()
        self.scope = Scope(
            self.unknowns,
            domain.coordinates,
            domain.space,
            self.constants,
            tuple(parameter.name for parameter in self.parameters),
        )
        self.residuals = (*self._equation_residuals(), *self._condition_residuals())
        self._check_blocks()
        self.ansatz = Ansatz.of(
            domain,
            self.unknowns,
            self.conditions,
            self.constants,
            [parameter.name for parameter in self.parameters],
        )
        self._reference_terms = self._make_reference()

    def __repr__(self) -> str:
        blocks = ", ".join(residual.name for residual in self.residuals)
        return f"<Problem {self.name!r}: {', '.join(self.unknowns)} on {self.domain!r}; {blocks}>"

    def exact(self, points: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
        """Return the reference solution by unknown at points, or None where there is none.

        points: coordinate -> array, all of one shape, which the results have too. An unknown that
        the reference does not give is left out. Where a formula has no value the result is nan or
        inf, without a warning.
        """
        if self._reference_terms is None:
            return None
        with np.errstate(all="ignore"):
            return self._exact(points)

    def _exact(self, points: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if isinstance(self._reference_terms, references.Reference):
            return self._reference_terms.evaluate(dict(points), dict(self.constants))
        arrays = {name: np.asarray(points[name]) for name in self.domain.coordinates}
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        values = Values(arrays, self.constants)
        if isinstance(self._reference_terms, Term):
            result = self._reference_terms.evaluate(values, NUMPY_FUNCTIONS)
            if not isinstance(result, Mapping):
                if len(self.unknowns) != 1:
                    raise ValueError(
                        "reference: the function of a problem with several unknowns must return "
                        f"a dict by unknown ({', '.join(self.unknowns)}), got "
                        f"{type(result).__name__}"
                    )
                result = {self.unknowns[0]: result}
            _check_unknowns("reference", result, self.unknowns)
        else:
            result = {
                unknown: term.evaluate(values, NUMPY_FUNCTIONS)
                for unknown, term in self._reference_terms.items()
            }
        return {
            unknown: np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), shape))
            for unknown, value in result.items()
        }

    def _check_names(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name: expected a text, got {self.name!r}")
        if not self.unknowns:
            raise ValueError("unknowns: expected at least one name, got none")
        for parameter in self.parameters:
            if not isinstance(parameter, Parameter):
                raise TypeError(f"parameters: expected pinn.Parameter, got {parameter!r}")

    def _equation_residuals(self) -> list[Residual]:
        residuals = []
        for name, equation in self.equations.items():
            check_name("equation", name)
            what = f"equation {name!r}"
            if not isinstance(equation, str) and not callable(equation):
                raise TypeError(f"{what}: expected text or a function, got {equation!r}")
            term = Term(what, equation, self.scope)
            if term.leaves == ():
                raise ValueError(
                    f"{what}: expected at least one of the unknowns {', '.join(self.unknowns)} "
                    f"in it, got {equation!r}"
                )
            residuals.append(Residual(name, what, term, Interior(self.domain)))
        return residuals

    def _condition_residuals(self) -> list[Residual]:
        residuals = []
        for condition in self.conditions:
            if not isinstance(condition, Condition):
                raise TypeError(
                    f"conditions: expected pinn.Initial or pinn.Dirichlet, got {condition!r}"
                )
            try:
                found = condition.residuals(self.domain, self.scope)
            except ValueError as error:
                kind = type(condition).__name__
                raise ValueError(f"{kind} condition of {condition.unknown!r}: {error}") from error
            if not condition.hard:
                residuals += found
        return residuals

    def _check_blocks(self) -> None:
        names = [residual.name for residual in self.residuals]
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        if repeated:
            raise ValueError(
                f"two equations or conditions are called {repeated[0]!r}; each needs its own name "
                "(a condition's name is made of its kind, its unknown and its face)"
            )
        asked = [residual.leaves for residual in self.residuals]
        if None in asked:  # only a run can tell what a function asks for
            return
        used = {leaf.unknown for leaves in asked for leaf in leaves}
        unused = [unknown for unknown in self.unknowns if unknown not in used]
        if unused:
            raise ValueError(
                f"unknowns: {', '.join(unused)} appear in no equation and no condition (hard ones "
                "do not count: they train nothing); leave them out"
            )

    def _make_reference(self) -> references.Reference | Term | dict[str, Term] | None:
        reference = self.reference
        if reference is None:
            return None
        if isinstance(reference, str):
            shipped = references.get(reference)
            for kind, needed, present in (
                ("unknowns", shipped.unknowns, self.unknowns),
                ("coordinates", shipped.coordinates, self.domain.coordinates),
                ("constants", shipped.constants, self.constants),
            ):
                missing = [name for name in needed if name not in present]
                if missing:
                    raise ValueError(
                        f"reference {reference!r} needs the {kind} {', '.join(needed)}; "
                        f"this problem has {', '.join(present) or 'none'}"
                    )
            return shipped
        scope = self.scope.of_values(parameters=False)
        if isinstance(reference, Mapping):
            _check_unknowns("reference", reference, self.unknowns)
            return {
                unknown: Term(f"reference of {unknown!r}", source, scope)
                for unknown, source in reference.items()
            }
        if not callable(reference):
            raise TypeError(
                "reference: expected the name of a shipped reference, a mapping from unknowns to "
                f"texts or a function, got {reference!r}"
            )
        return Term("reference", reference, scope)


def _constants(given: Mapping[str, float | str]) -> dict[str, float]:
    constants = {}
    for name, value in given.items():
        try:
            constants[name] = expressions.constant(value)
        except expressions.ExpressionError as error:
            raise ValueError(f"constant {name!r}: {error}") from error
    return constants


def _check_unknowns(what: str, given: Iterable[str], unknowns: tuple[str, ...]) -> None:
    for name in given:
        if name not in unknowns:
            raise ValueError(
                f"{what}: expected one of the unknowns {', '.join(unknowns)}, got {name!r}"
                f"{nearest(name, unknowns)}"
            )
