"""Vectors of numbers that are learned, one for each of several things."""

from __future__ import annotations

from typing import Any, Self

from .. import dtypes, modes
from ..levels import levels_of
from ..ops.creation.create import zeros
from ..ops.elementwise.piecewise import where
from ..ops.layout.gather import index_select
from ..ops.matrices.norm import vector_norm
from ..ops.positions.order import unique
from ..tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter


def _row(padding_idx: int | None, rows: int) -> int | None:
    """Return a row without a gradient as a number from 0; ValueError where there is none."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise ValueError(
            f"Padding_idx must be within num_embeddings: got {padding_idx} for {rows} rows"
        )
    return padding_idx % rows


def _refuse(scale_grad_by_freq: bool, sparse: bool) -> None:
    if scale_grad_by_freq or sparse:
        what = "sparse" if sparse else "scale_grad_by_freq"
        raise NotImplementedError(
            f"embedding: {what}=True is not supported: gradients are dense and sums over all uses "
            f"of a row; pass {what}=False"
        )


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of `weight` (rows, size) at the numbers `input` (...): (..., size).

    input        int32 or int64, from 0.
    padding_idx  a row that gets no gradient.
    max_norm     rows that are asked for and longer than this, in the norm `norm_type`, are made so
                 long before, in place.
    Raises RuntimeError for other dtypes and shapes, IndexError for rows that do not exist,
    ValueError for such a padding_idx, NotImplementedError for scale_grad_by_freq and sparse, which
    change gradients, and TraceError where max_norm would write in a recording.
    """
    _refuse(scale_grad_by_freq, sparse)
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got shape {list(weight.shape)}")
    if input.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(
            "Expected tensor for argument 'input' of embedding to have dtype int32 or int64, but "
            f"got {input.dtype}; convert it with .long()"
        )
    padding = _row(padding_idx, weight.shape[0])
    places = input.reshape(-1).long()
    if max_norm is not None:
        modes.refuse_write("shortening rows to max_norm", "Pass max_norm=None")
        if levels_of(input):
            raise RuntimeError(
                "embedding: max_norm shortens the rows that are asked for, and inside of vmap "
                "these differ from example to example; shorten them outside, and pass max_norm="
                "None, or ask for the rows of all examples at once"
            )
        _shorten(weight, places, max_norm, norm_type)
    rows = index_select(weight, 0, places)
    if padding is not None:
        rows = where((places == padding).unsqueeze(-1), rows.detach(), rows)
    return rows.reshape(*input.shape, weight.shape[1])


def _shorten(weight: Tensor, places: Tensor, longest: float, norm_type: float) -> None:
    with modes.no_grad():
        used = unique(places)
        rows = index_select(weight, 0, used)
        norms = vector_norm(rows, norm_type, -1, True)
        weight[used] = where(norms > longest, rows * (longest / (norms + 1e-7)), rows)


class Embedding(Module):
    """The rows of a matrix that is learned, by their numbers: (...) to (..., embedding_dim).

    weight       (num_embeddings, embedding_dim), normal numbers at first.
    padding_idx  a row of zeros at first that is not learned.
    max_norm     rows that are asked for are made no longer than this, in place.
    ValueError for a padding_idx that is no row, NotImplementedError for scale_grad_by_freq and
    sparse.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__()
        _refuse(scale_grad_by_freq, sparse)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            made = zeros(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.weight = Parameter(made, not _freeze)
            self.reset_parameters(generator)
        else:
            self.weight = Parameter(_weight, not _freeze)

    def reset_parameters(self, generator: Any = None) -> None:
        """Draw all rows anew, but for that of zeros."""
        init.normal_(self.weight, generator=generator)
        if self.padding_idx is not None:
            with modes.no_grad():
                self.weight[self.padding_idx].zero_()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Return a layer with the rows of a tensor (rows, size), which learns them unless `freeze`.

        Raises ValueError for a tensor of other dimensions.
        """
        if embeddings.ndim != 2:
            raise ValueError(
                "Embeddings parameter is expected to be 2-dimensional, got shape "
                f"{list(embeddings.shape)}"
            )
        rows, size = embeddings.shape
        return cls(
            rows, size, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            _weight=embeddings, _freeze=freeze,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        return embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    def extra_repr(self) -> str:
        told = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (("padding_idx", None), ("max_norm", None), ("norm_type", 2)):
            if getattr(self, name) != usual:
                told += f", {name}={getattr(self, name)}"
        return told
