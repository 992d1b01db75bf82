"""Losses that ask for a margin: of one number over another, or of one distance over another."""

from __future__ import annotations

from collections.abc import Callable

from .. import dtypes
from ..ops.creation.create import arange
from ..ops.elementwise.activations import logsigmoid, softplus
from ..ops.elementwise.piecewise import clamp_min, minimum, where
from ..ops.layout.gather import gather
from ..ops.matrices.norm import vector_norm
from ..ops.registry import floating
from ..tensor import Tensor
from .reduction import check_reduction, reduced


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the p-norm of x1 - x2 + eps over the last dimension; x1 and x2 are broadcast."""
    return vector_norm(floating(x1) - floating(x2) + eps, p, -1, keepdim)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Return `input` where `target` is 1 and max(0, margin - input) where it is -1, reduced."""
    input = floating(input)
    far = where(target != 1, clamp_min(margin - input, 0), 0.0)
    near = where(target != -1, input, 0.0)
    return reduced(near + far, reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return max(0, margin - target (input1 - input2)), reduced; a target is 1 or -1.

    Raises RuntimeError for tensors of different numbers of dimensions.
    """
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {list(input1.shape)}, input2: {list(input2.shape)}, target: "
            f"{list(target.shape)}"
        )
    difference = floating(input1) - floating(input2)
    return reduced(clamp_min(margin - target * difference, 0), reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return log(1 + exp(-target * input)), reduced; a target is 1 or -1."""
    return reduced(softplus(-floating(target) * floating(input)), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return 1 - cos where `target` is 1 and max(0, cos - margin) where it is -1, reduced.

    input1, input2  (n, size) and target (n,), or (size,) and (); cos is the cosine of the angle
                    between both, with 1e-12 added to their squared lengths.
    Raises RuntimeError for other shapes.
    """
    if input1.ndim != target.ndim + 1 or input1.ndim != input2.ndim or target.ndim > 1:
        raise RuntimeError(
            "cosine_embedding_loss: expected inputs (n, size) and target (n,), or (size,) and (), "
            f"got {list(input1.shape)}, {list(input2.shape)} and {list(target.shape)}"
        )
    tiny = 1e-12
    input1, input2 = floating(input1), floating(input2)
    lengths = ((input1 * input1).sum(-1) + tiny) * ((input2 * input2).sum(-1) + tiny)
    cosine = (input1 * input2).sum(-1) / lengths.sqrt()
    values = where(target == 1, 1 - cosine, 0.0)
    values = values + where(target == -1, clamp_min(cosine - margin, 0), 0.0)
    return reduced(values, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return max(0, margin + |anchor - positive| - |anchor - negative|), reduced.

    All are (n, size) or (size,); p, eps: as in `pairwise_distance`.  swap: take the distance from
    positive to negative where it is the smaller one (Balntas et al. 2016).
    """

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function=distance, margin=margin, swap=swap,
        reduction=reduction,
    )  # fmt: skip


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return `triplet_margin_loss` of another distance; None: `pairwise_distance`.

    Raises ValueError for a margin that is not positive, RuntimeError for tensors of different
    numbers of dimensions.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced(clamp_min(margin + near - far, 0), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over the classes j other than the target of max(0, margin - x_t + x_j)^p.

    input   (n, classes) or (classes,), () for one class; target int64, (n,) or ().
    weight  (classes,): a factor for each target.
    Raises ValueError for another p than 1 and 2 and a weight of another number of dimensions,
    RuntimeError for other shapes.
    """
    check_reduction(reduction)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"weight must be one-dimensional, (classes,), got {list(weight.shape)}")
    x = input if input.ndim == 2 else input.reshape(1, input.numel())
    samples, classes = x.shape
    if input.ndim > 2 or not classes or target.ndim > 1 or target.numel() != samples:
        raise RuntimeError(
            "multi_margin_loss: expected input (n, classes) and target (n,), or (classes,) and "
            f"(), got {list(input.shape)} and {list(target.shape)}"
        )
    if weight is not None and len(weight) != classes:
        raise RuntimeError(
            f"multi_margin_loss: inconsistent weight size, expected {classes} but got "
            f"{list(weight.shape)}; there is one factor a class"
        )
    places = target.reshape(samples, 1)
    missing = clamp_min(margin - gather(x, -1, places) + x, 0)
    missing = missing * missing if p == 2 else missing
    if weight is not None:
        missing = missing * weight[places]
    other = arange(classes, device=input.device) != places
    values = (missing * other).sum(-1) / classes
    return reduced(values.reshape(target.shape), reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return the sum of max(0, 1 - x_t + x_j) over targets t and other classes j, by the classes.

    input   (n, classes) or (classes,), () for one class.
    target  int64 of the same shape: the targets, then -1.
    Divided by their number, then reduced.  Raises RuntimeError for other shapes and dtypes.
    """
    check_reduction(reduction)
    alike = input.shape == target.shape or (
        max(input.ndim, target.ndim) < 2 and input.numel() == target.numel()
    )
    if not alike or target.dtype != dtypes.int64 or input.ndim > 2:
        raise RuntimeError(
            "multilabel_margin_loss: expected an int64 target of the shape of input, (n, classes) "
            f"or (classes,), got {list(target.shape)} of {target.dtype} and {list(input.shape)}"
        )
    if input.ndim < 2:
        input, target = input.reshape(-1), target.reshape(-1)
    classes = input.shape[-1]
    counts = (target < 0).long().cumsum(-1) == 0
    places = where(counts, target, 0 * target)
    numbers = arange(classes, device=input.device)
    hits = (places.unsqueeze(-1) == numbers) & counts.unsqueeze(-1)  # (..., target, class)
    other = ~hits.any(-2)
    missing = clamp_min(1 - gather(input, -1, places).unsqueeze(-1) + input.unsqueeze(-2), 0)
    taken = counts.unsqueeze(-1) & other.unsqueeze(-2)
    return reduced((missing * taken).sum((-2, -1)) / classes, reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return the binary cross entropy of sigmoid(input), averaged over the classes, then reduced.

    input, target  (..., classes); a target is 0 or 1.  weight: a factor, broadcast.
    """
    input, target = floating(input), floating(target)
    values = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    values = values if weight is None else values * weight
    return reduced(values.sum(-1) / input.shape[-1], reduction)
