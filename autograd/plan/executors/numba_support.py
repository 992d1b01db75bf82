"""What generated loops are compiled with; importing this imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core.compiler import Compiler
from numba.extending import intrinsic

_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
"""A product and a sum may become one operation with one rounding; the order of sums stays."""


class _Apart(Compiler):
    """A compiler that takes the arrays of a function to lie apart.

    Without that, a loop over many arrays is not vectorised: the checks at run time would be more
    than LLVM is willing to write.
    """

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


def inner(*, cache: bool) -> Callable:
    """Return the decorator of a loop whose arrays lie apart."""
    return njit(pipeline_class=_Apart, cache=cache, **_OPTIONS)


def entry(*, cache: bool) -> Callable:
    """Return the decorator of a function of one address, compiled at once."""
    return njit("void(int64)", cache=cache, **_OPTIONS)


def _pointer_maker(element: Any) -> Any:
    @intrinsic
    def at(typingctx, address):  # the signature that numba asks for
        def codegen(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(element)(types.int64), codegen

    return at


float32_at = _pointer_maker(types.float32)
float64_at = _pointer_maker(types.float64)
int64_at = _pointer_maker(types.int64)
