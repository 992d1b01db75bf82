"""The dimensions that operations go along: where numbers of different places meet in them.

What lies at different places of any other dimension is treated apart, as the matrices of a stack
are, and so are points that lie there.
"""

from __future__ import annotations

from collections.abc import Callable

from .program import Instruction

_BY_NAME: dict[str, Callable[[Instruction], tuple[int, ...] | None]] = {}


def dimensions_along(instruction: Instruction) -> tuple[int, ...] | None:
    """Return the dimensions of the operands that an operation goes along, negative numbers.

    The last one is -1, as operands that are broadcast agree in the last ones.  None for all
    dimensions, and for an operation of which it is not known.
    """
    known = _BY_NAME.get(instruction.op.name)
    return None if known is None else known(instruction)


def _from_the_end(instruction: Instruction, key: str) -> tuple[int, ...] | None:
    given = instruction.attributes[key]
    if given is None:
        return None
    ndim = len(next(instruction.values()).shape)
    return tuple(k % ndim - ndim for k in (given if isinstance(given, tuple) else (given,)))


def _by_attribute(key: str) -> Callable[[Instruction], tuple[int, ...] | None]:
    return lambda instruction: _from_the_end(instruction, key)


def _tiled(instruction: Instruction) -> tuple[int, ...]:
    repeats = instruction.attributes["reps"]
    return tuple(k - len(repeats) for k, times in enumerate(repeats) if times != 1)


def _diagonal(instruction: Instruction) -> tuple[int, ...]:
    ndim = len(next(instruction.values()).shape)
    return tuple(instruction.attributes[key] % ndim - ndim for key in ("dim1", "dim2"))


def _vectors(instruction: Instruction) -> tuple[int, ...]:
    return (-1,)


def _matrices(instruction: Instruction) -> tuple[int, ...]:
    return -2, -1


def _windows(instruction: Instruction) -> tuple[int, ...]:
    return tuple(range(2 - len(next(instruction.values()).shape), 0))


def _none(instruction: Instruction) -> tuple[int, ...]:
    return ()


for _key, _names in {
    "dim": "softmax log_softmax cumsum cumprod shifted recurrence prod argmax argmin argsort "
    "fft_half_spectrum fft_from_half window_sums spread_over_windows",
    "dims": "fft_spectrum",
    "axes": "var std amax amin tie_shares vector_norm logsumexp all any count_nonzero flip roll",
    "axis": "cross",
}.items():
    _BY_NAME |= dict.fromkeys(_names.split(), _by_attribute(_key))
for _rule, _names in {
    _matrices: "tril triu linalg_solve linalg_solve_triangular linalg_inv linalg_pinv linalg_det "
    "linalg_slogdet cofactor linalg_cholesky linalg_lstsq linalg_svd linalg_eigh linalg_qr "
    "linalg_qr_complete matrix_exp",
    _windows: "largest_in_windows",
    _vectors: "searchsorted diagonal_into view_as_complex",
    _none: "view_as_real",
    _tiled: "tile",
    _diagonal: "diagonal",
}.items():
    _BY_NAME |= dict.fromkeys(_names.split(), _rule)
