"""Einstein summation, as permutations and matrix products (so BLAS does the work)."""

from __future__ import annotations

import math
import string
from typing import Any

from ...tensor import Tensor
from ..elementwise.arithmetic import mul
from ..layout.shape import permute_op, reshape_op
from ..reductions.reduce import sum_op
from .matmul import matmul_op

__all__ = ["einsum", "tensordot"]

_ELLIPSIS = "..."


def _labels(text: str, equation: str) -> tuple[str, ...]:
    """Return the labels of one term, the ellipsis as one of them."""
    if text.count(_ELLIPSIS) > 1:
        raise RuntimeError(
            f"einsum(): found '...' more than once in {text!r} of {equation!r}; write it once"
        )
    found: list[str] = []
    for part in text.replace(_ELLIPSIS, "\0"):
        if part == "\0":
            found.append(_ELLIPSIS)
        elif part in string.ascii_letters:
            found.append(part)
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given: {part!r} in {equation!r}; subscripts must be "
                "in [a-zA-Z]"
            )
    return tuple(found)


def _parse(equation: str, operands: tuple) -> tuple[list[tuple], tuple]:
    """Return the labels of each operand and of the output; an ellipsis becomes `.1`, `.2`, ..."""
    text = "".join(equation.split())
    left, arrow, right = text.partition("->")
    terms = [_labels(term, equation) for term in left.split(",")]
    if len(terms) != len(operands):
        raise RuntimeError(
            f"einsum(): more or fewer operands than subscripts: {equation!r} has {len(terms)} "
            f"terms, got {len(operands)} operands; give one term an operand"
        )
    covered = 0
    inputs = []
    for number, (term, x) in enumerate(zip(terms, operands, strict=True)):
        named = len(term) - (_ELLIPSIS in term)
        hidden = x.ndim - named
        if hidden < 0 or (hidden and _ELLIPSIS not in term):
            raise RuntimeError(
                "einsum(): the number of subscripts in the equation "
                f"({named}) does not match the number of dimensions ({x.ndim}) for operand "
                f"{number} of shape {list(x.shape)} in {equation!r}"
            )
        covered = max(covered, hidden)
        inputs.append(_spelled(term, hidden))
    if arrow:
        wanted = _labels(right, equation)
        output = _spelled(wanted, covered)
    else:
        everything = [label for term in inputs for label in term]
        once = sorted(c for c in set(everything) if everything.count(c) == 1 and c[0] != ".")
        output = (*_spelled((_ELLIPSIS,), covered), *once)
    known = {label for term in inputs for label in term}
    for label in output:
        if label not in known or output.count(label) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label!r} of {equation!r} must appear in an input, "
                "and once in the output"
            )
    return inputs, output


def _spelled(term: tuple, hidden: int) -> tuple:
    """Replace the ellipsis by numbered labels, counted from the right so that they align."""
    dots = tuple(f".{k}" for k in range(hidden, 0, -1))
    result: tuple = ()
    for label in term:
        result += dots if label == _ELLIPSIS else (label,)
    return result


def _diagonals(x: Tensor, labels: tuple) -> tuple[Tensor, tuple]:
    """Take the diagonal of every label that stands twice."""
    for label in labels:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if x._data.shape[first] != x._data.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {label!r} is repeated for one operand but its sizes "
                    f"{x.shape[first]} and {x.shape[second]} do not match (shape {list(x.shape)})"
                )
            x = x.diagonal(0, first, second)
            labels = tuple(c for k, c in enumerate(labels) if k not in (first, second)) + (label,)
    return x, labels


def _sizes(terms: list[tuple[Tensor, tuple]], equation: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for x, labels in terms:
        for label, size in zip(labels, x._data.shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known):
                raise RuntimeError(
                    f"einsum(): subscript {label!r} of {equation!r} has size {size} for an operand "
                    f"of shape {list(x.shape)}, which does not broadcast with previously seen size "
                    f"{known}; sizes must match or be 1"
                )
    return sizes


def _reduced(x: Tensor, labels: tuple, wanted: set) -> tuple[Tensor, tuple]:
    """Sum over the labels that nobody wants any more."""
    axes = tuple(k for k, label in enumerate(labels) if label not in wanted)
    if axes:
        x = sum_op(x, axes=axes, keepdims=False)
        labels = tuple(label for label in labels if label in wanted)
    return x, labels


def _arranged(x: Tensor, labels: tuple, order: tuple) -> Tensor:
    axes = tuple(labels.index(label) for label in order)
    return x if axes == tuple(range(len(axes))) else permute_op(x, axes=axes)


def _shaped(x: Tensor, shape: tuple) -> Tensor:
    return x if x._data.shape == shape else reshape_op(x, shape=shape)


def _contracted(
    one: tuple[Tensor, tuple], two: tuple[Tensor, tuple], wanted: set, sizes: dict[str, int]
) -> tuple[Tensor, tuple]:
    """Join two operands, summing over the labels they share that nobody else wants."""
    x, left = _reduced(*one, wanted | set(two[1]))
    y, right = _reduced(*two, wanted | set(left))
    batch = tuple(c for c in left if c in right and c in wanted)
    joined = tuple(c for c in left if c in right and c not in wanted)
    rows = tuple(c for c in left if c not in right)
    columns = tuple(c for c in right if c not in left)
    labels = (*batch, *rows, *columns)
    if not joined:
        x = _arranged(x, left, (*batch, *rows))
        y = _arranged(y, right, (*batch, *columns))
        spread = (*(sizes[c] for c in (*batch, *rows)), *(1 for _ in columns))
        filled = (*(sizes[c] for c in batch), *(1 for _ in rows), *(sizes[c] for c in columns))
        return mul(_shaped(x, spread), _shaped(y, filled)), labels
    many = tuple(sizes[c] for c in batch)
    n, k, m = (math.prod(sizes[c] for c in group) for group in (rows, joined, columns))
    x = _shaped(_arranged(x, left, (*batch, *rows, *joined)), (*many, n, k))
    y = _shaped(_arranged(y, right, (*batch, *joined, *columns)), (*many, k, m))
    return _shaped(matmul_op(x, y), tuple(sizes[c] for c in labels)), labels


def _cheapest(terms: list[tuple[Tensor, tuple]], output: tuple, sizes: dict[str, int]) -> tuple:
    """Return the pair whose joining grows memory least (greedy, the first of equals)."""
    best: tuple = ()
    for i in range(len(terms)):
        for j in range(i + 1, len(terms)):
            others = set(output).union(*(t[1] for k, t in enumerate(terms) if k not in (i, j)))
            result = {*terms[i][1], *terms[j][1]} & others
            growth = math.prod(sizes[c] for c in result) - sum(
                math.prod(sizes[c] for c in terms[k][1]) for k in (i, j)
            )
            if not best or growth < best[0]:
                best = (growth, i, j)
    return best[1:]


def einsum(equation: str, *operands: Any) -> Tensor:
    """Return the sum of products that `equation` spells, as in "bij,bjk->bik".

    Letters name dimensions, a letter repeated in one term takes the diagonal, letters that are not
    in the output are summed, `...` stands for dimensions that broadcast.  Without "->" the output
    has the letters that occur once, sorted.  Raises RuntimeError for equations that do not fit.
    """
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or not operands:
        raise ValueError('einsum(): expected an equation and tensors, as in einsum("ij,jk", a, b)')
    inputs, output = _parse(equation, operands)
    terms = [_diagonals(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    sizes = _sizes(terms, equation)
    for position, (x, labels) in enumerate(terms):  # a dimension of size 1 broadcasts: drop it
        kept = [k for k, c in enumerate(labels) if x._data.shape[k] == sizes[c]]
        if len(kept) < len(labels):
            x = reshape_op(x, shape=tuple(x._data.shape[k] for k in kept))
            terms[position] = (x, tuple(labels[k] for k in kept))
    while len(terms) > 1:
        i, j = _cheapest(terms, output, sizes) if len(terms) > 2 else (0, 1)
        two, one = terms.pop(j), terms.pop(i)
        wanted = set(output).union(*(labels for _, labels in terms))
        terms.append(_contracted(one, two, wanted, sizes))
    x, labels = _reduced(*terms[0], set(output))
    return _arranged(x, labels, output)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return the products of `a` and `b` summed over dimensions they pair.

    dims: a number (the last of `a` with the first of `b`), or two lists of dimensions.
    """
    if isinstance(dims, int):
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left, right = ([d % max(x.ndim, 1) for d in ds] for x, ds in zip((a, b), dims, strict=True))
    if len(left) != len(right) or any(
        a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j])
        for i, j in zip(left, right, strict=True)
    ):
        raise RuntimeError(
            f"tensordot: contracted dimensions need to match, got shapes {list(a.shape)} and "
            f"{list(b.shape)} with dims {dims}"
        )
    names = iter(string.ascii_letters)
    first = [next(names) for _ in range(a.ndim)]
    second = [next(names) for _ in range(b.ndim)]
    for i, j in zip(left, right, strict=True):
        second[j] = first[i]
    kept = [c for k, c in enumerate(first) if k not in left]
    kept += [c for k, c in enumerate(second) if k not in right]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)
