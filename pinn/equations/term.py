"""An equation or a value, given as text, as a number or as a function, ready to be evaluated."""

from __future__ import annotations

import copy
import inspect
import itertools
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from autograd.tensor import NotOneElement
from pinn.equations.axes import Integral, Sum
from pinn.equations.combine import combine
from pinn.equations.functions import fitted
from pinn.equations.leaves import UnknownLeaf, derivatives_in
from pinn.equations.namespace import Namespace
from pinn.equations.refused import Refused
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.symbols import written
from pinn.expressions import Expression, algebra, nodes
from pinn.schema.errors import DeclarationTypeError, Mistake
from pinn.schema.kinds import Formula
from pinn.tables import Table

# What numpy says where an array is taken for one number, or one truth value.
_OF_ARRAYS = ("truth value of an array", "can be converted to Python scalar", "length-1 arrays")

# What Python says where a value is called.
_NOT_CALLED = ("'Tensor' object is not callable", "'numpy.ndarray' object is not callable")

# What autograd and numpy say of arrays whose lengths differ.
_OF_LENGTHS = ("must match the size of tensor", "could not be broadcast together")


class Term:
    """A text, number, table, resolved tree or function of the namespace; `what` names it.

    A function is called once here, with symbols: where it computes with the namespace alone it is
    the tree that it writes, as a text is. One that does more, such as `autograd.sin(s.u)`, has no
    tree and is called with values at every evaluation.

    Raises ExpressionError for a text that means nothing in the scope, Refused for a function that
    asks for what means nothing there, DeclarationError for a source of another kind.
    """

    def __init__(self, what: str, source: Any, scope: Scope) -> None:
        self.what = what
        self.source = source
        self.scope = scope
        self.tree = None
        if isinstance(source, Table):
            self.tree = scope.table(source)
        elif isinstance(source, str):
            self.tree = scope.resolve(source)
        elif isinstance(source, Expression):
            self.tree = source
        else:
            Formula().check(source)
            if callable(source):
                self._check_arguments()
                self.tree = written(source, scope)

    @classmethod
    def of_equation(cls, what: str, source: Any, scope: Scope) -> Term:
        """Return what an equation makes zero: of a text left = right, too."""
        return cls(what, scope.equation(source) if isinstance(source, str) else source, scope)

    @property
    def formula(self) -> Expression | None:
        """The resolved tree, that of a number too; None for a function."""
        if self.tree is not None or callable(self.source):
            return self.tree
        return algebra.number(float(self.source))

    @cached_property
    def leaves(self) -> tuple[UnknownLeaf, ...] | None:
        """The unknowns and derivatives that are asked for; None where only a run can tell."""
        if self.tree is not None:
            return tuple(derivatives_in(self.tree))
        return None if callable(self.source) else ()

    @property
    def has_sums(self) -> bool:
        """Whether sums over nodes are in it, as integrals are; a function without a tree may."""
        if self.tree is None:
            return callable(self.source)
        return any(isinstance(node, Integral | Sum) for node in nodes(self.tree))

    def combined(self, dtype: np.dtype) -> Term | None:
        """Return the term with its sums of derivatives as single leaves; None for functions.

        dtype: the one that it will be evaluated in.
        """
        if self.tree is None:
            return None if callable(self.source) else self
        term = copy.copy(self)
        term.__dict__.pop("leaves", None)
        term.tree = combine(self.tree, self.scope, dtype)
        return term

    def called(self, what: str) -> Term:
        """Return the term with another name in messages."""
        term = copy.copy(self)
        term.what = what
        return term

    def evaluate(self, values: Any, functions: Mapping[str, Callable]) -> Any:
        """Return the value, given `values[leaf]` for every leaf of the tree."""
        if self.tree is not None:
            return evaluate_resolved(self.tree, values, functions)
        if callable(self.source):
            functions = fitted(functions, getattr(values, "dtype", None))
            owner = id(self.source)  # the same at every evaluation, as plans need it
            return self._call(Namespace(values, self.scope, functions, owner), functions)
        return float(self.source)

    def _call(self, namespace: Namespace, functions: Mapping[str, Callable]) -> Any:
        try:
            result = self.source(namespace)
        except Refused as error:
            raise type(error)(f"{self.what}: {error}") from None
        except Exception as error:
            # What Python, numpy and autograd say of the namespace where a number is expected.
            if isinstance(error, TypeError) and Namespace.__name__ in str(error):
                raise TypeError(f"{self.what}: {self._one_namespace()}") from error
            known = sorted(self.scope.called)
            if known and any(said in str(error) for said in _NOT_CALLED):
                raise TypeError(
                    f"{self.what}: its function computes with values, and {', '.join(known)} at "
                    f"the point is a value, no function; write s(\"{known[0]}(...)\") or "
                    f"s.at(\"{known[0]}\", ...) for it elsewhere"
                ) from error
            if _is_of_numpy(error):
                raise TypeError(
                    f"{self.what}: numpy's functions do not take these values; use those of the "
                    "namespace, such as s.sin(s.u) for np.sin(s.u), s.where(s.x > 0, a, b) for "
                    "np.where(s.x > 0, a, b), s.max(a, b) for np.maximum(a, b): "
                    f"{', '.join(functions)}"
                ) from error
            if isinstance(error, NotOneElement) or any(said in str(error) for said in _OF_ARRAYS):
                raise TypeError(
                    f"{self.what}: its function is called once with the values at all points, and "
                    "takes them for one number; write s.sin(s.u) for math.sin(s.u), "
                    "s.where(s.x > 0, a, b) for `a if s.x > 0 else b`, s.max(a, b) for max(a, b)"
                ) from error
            if isinstance(error, ValueError | RuntimeError) and any(
                said in str(error) for said in _OF_LENGTHS
            ):
                raise ValueError(
                    f"{self.what}: its function mixes values of other lengths with those of the "
                    "points, of which there are more or fewer at every call; make every array of "
                    "the namespace's values, such as s.x, one value a point, and give measured or "
                    f"tabulated values as a pinn.Table ({error})"
                ) from error
            error.add_note(f"in the function of {self.what}")
            raise
        if result is namespace:
            raise TypeError(f"{self.what}: {self._one_namespace()}")
        return result

    def _check_arguments(self) -> None:
        """Raise DeclarationTypeError for a function that does not take one namespace."""
        try:
            signature = inspect.signature(self.source)
        except (ValueError, TypeError):  # some functions that are compiled have none
            return
        try:
            signature.bind(None)
        except TypeError:
            said = f"{self._one_namespace()}; this one takes {signature}"
            raise DeclarationTypeError([Mistake((), said)]) from None

    def _one_namespace(self) -> str:
        """Say what a function is called with."""
        names = [f"s.{name}" for name in self.scope.coordinates]
        return (
            "the function gets one namespace `s`, not the coordinates: write "
            f"`lambda s: ...` with {', '.join(names)} in it"
        )


def _is_of_numpy(error: Exception) -> bool:
    """Return whether an error is of a function of numpy's that was given a tensor.

    A ufunc says so; the others ask the tensor for an array, or call its method of their name.
    """
    if isinstance(error, TypeError) and "ufunc" in str(error):
        return True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    callers = [frame.f_globals.get("__name__", "").partition(".")[0] for frame in frames]
    asked = any(frame.f_code.co_name == "__array__" for frame in frames)
    return asked or ("numpy", "autograd") in itertools.pairwise(callers)
