"""Means of values, weighted by how well their keys fit a query, as functions."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..ops.creation.create import ones, zeros
from ..ops.elementwise.piecewise import where
from ..ops.layout.arrange import tril
from ..ops.layout.gather import repeat_interleave
from ..ops.layout.mask import masked_fill
from ..ops.reductions.softmax import softmax
from ..ops.registry import refuse_mixed
from ..tensor import Tensor
from .dropout import dropout


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return softmax(query key^T scale) value: for each query a mean of the values.

    query       (..., l, e), key (..., s, e), value (..., s, v); the result is (..., l, v).
    attn_mask   broadcast to (..., l, s): True where a query may see a key, or what is added to the
                products.  A query that may see no key gives 0.
    dropout_p   the probability that a weight is set to 0, in evaluation too: pass 0.0 there.
    is_causal   let query k see the keys up to k alone.
    scale       None: 1 / sqrt(e).
    enable_gqa  let each head of key and value, dimension -3, serve several neighbouring ones of
                query.
    Raises RuntimeError for is_causal with an attn_mask, heads that do not fit, different dtypes and
    masks of other dtypes than bool and that of query.
    """
    refuse_mixed("scaled_dot_product_attention", query, key, value)
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 "
            f"dimensional, but got shapes {list(query.shape)}, {list(key.shape)} and "
            f"{list(value.shape)}"
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True; pass one of them"
        )
    if enable_gqa:
        key, value = _repeated(query, key), _repeated(query, value)
    if is_causal:
        attn_mask = tril(
            ones(query.shape[-2], key.shape[-2], dtype=dtypes.bool_, device=query.device)
        )
    mask, seen = _split(attn_mask, query)
    result = dropout(weights_of(query, key, mask, scale), dropout_p) @ value
    return result if seen is None else result * seen


def _repeated(query: Tensor, heads: Tensor) -> Tensor:
    """Return keys or values with each head as often as queries need it."""
    wanted, there = query.shape[-3], heads.shape[-3]
    if wanted % there:
        raise RuntimeError(
            "scaled_dot_product_attention: Number of heads in key and value must divide the number "
            f"of heads in query, got {there} and {wanted}"
        )
    return repeat_interleave(heads, wanted // there, dim=-3)


def _split(mask: Tensor | None, like: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Return a mask in which each query sees a key, and 0 for those that see none, 1 for others."""
    if mask is None:
        return None, None
    if mask.dtype == dtypes.bool_:
        some = mask.any(-1, True)
        return mask | ~some, some.to(like.dtype)
    refuse_mixed("scaled_dot_product_attention: query and attn_mask", like, mask)
    some = (mask.detach() != -math.inf).any(-1, True)
    return where(some, mask, 0.0), some.to(like.dtype)


def weights_of(query: Tensor, key: Tensor, mask: Tensor | None, scale: float | None) -> Tensor:
    """Return softmax(query key^T scale), (..., l, s), with a mask of what is added or may be seen.

    Where no key may be seen they are not finite.
    """
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    products = (query * scale) @ key.transpose(-2, -1)
    if mask is not None and mask.dtype == dtypes.bool_:
        products = masked_fill(products, ~mask, -math.inf)
    elif mask is not None:
        products = products + mask
    return softmax(products, -1)


def added(mask: Tensor | None, name: str, dtype: Any) -> Tensor | None:
    """Return a mask as what is added to products: -inf where one of what is hidden is True.

    Raises RuntimeError for another dtype than bool and floating point.
    """
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype != dtypes.bool_:
        raise RuntimeError(
            f"only bool and floating types of {name} are supported, got {mask.dtype}; convert it "
            "with .bool()"
        )
    return masked_fill(zeros(mask.shape, dtype=dtype, device=mask.device), mask, -math.inf)
