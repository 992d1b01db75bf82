"""Attention: means of values, weighted by how well their keys fit a query (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import Any

from ..ops.creation.create import zeros
from ..ops.layout.arrange import pad
from ..ops.layout.join import cat
from ..ops.matrices.matmul import linear
from ..tensor import Tensor
from . import init
from .dot_products import added, scaled_dot_product_attention, weights_of
from .dropout import dropout
from .linear import Linear
from .module import Module
from .parameter import Parameter


class MultiheadAttention(Module):
    """Attention of several heads, each with maps of query, key and value of its own.

    query is (l, n, embed_dim), key (s, n, kdim) and value (s, n, vdim), with `batch_first` (n, l,
    embed_dim) and so on; without a batch (l, embed_dim) and so on.

    in_proj_weight, in_proj_bias  (3 embed_dim, embed_dim), uniform as `init.xavier_uniform_` draws
                                  it, and zeros: of queries, keys and values; where kdim or vdim
                                  differ, q_proj_weight, k_proj_weight and v_proj_weight.
    out_proj                      a Linear of what the heads give, with a bias of zeros.
    bias_k, bias_v                (1, 1, embed_dim), a further key and value, with `add_bias_kv`.
    add_zero_attn                 add a key and a value of zeros.
    dropout                       the probability that a weight is 0 while training.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise ValueError(
                f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}"
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        one = self.kdim == embed_dim and self.vdim == embed_dim
        sizes = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        shapes = {f"{name}_proj_weight": (embed_dim, size) for name, size in sizes.items()}
        for name, shape in {"in_proj_weight": (3 * embed_dim, embed_dim), **shapes}.items():
            wanted = one == (name == "in_proj_weight")
            made = Parameter(zeros(shape, dtype=dtype, device=device)) if wanted else None
            self.register_parameter(name, made)
        made = Parameter(zeros(3 * embed_dim, dtype=dtype, device=device)) if bias else None
        self.register_parameter("in_proj_bias", made)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype, generator=generator)
        for name in ("bias_k", "bias_v"):
            made = Parameter(zeros(1, 1, embed_dim, dtype=dtype, device=device))
            self.register_parameter(name, made if add_bias_kv else None)
        self._reset_parameters(generator)

    def _reset_parameters(self, generator: Any = None) -> None:
        """Draw the weights of the projections into heads anew, and set their biases to zeros."""
        for weight in (
            self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        ):  # fmt: skip
            if weight is not None:
                init.xavier_uniform_(weight, generator=generator)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias, generator=generator)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return what the queries see, of the shape of `query`, and the weights.

        key_padding_mask      (n, s), without a batch (s,): True for keys that no query sees, or
                              what is added to their products.
        need_weights          return the weights too, (n, l, s), else None.
        attn_mask             (l, s) or (n num_heads, l, s), likewise.
        average_attn_weights  False: the weights of each head, (n, num_heads, l, s).
        is_causal             says that attn_mask hides all keys after a query; it is needed still.
        Raises RuntimeError for shapes that do not fit.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint; "
                "Transformer.generate_square_subsequent_mask(l) makes it"
            )
        alone = query.ndim == 2
        self._check(query, key, value, key_padding_mask)
        if alone:
            query, key, value = (x.unsqueeze(0) for x in (query, key, value))
            if key_padding_mask is not None:
                key_padding_mask = key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        found, weights = self._attended(
            query, key, value, key_padding_mask, attn_mask, need_weights
        )
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if alone:
            return found.squeeze(0), None if weights is None else weights.squeeze(0)
        return found if self.batch_first else found.transpose(0, 1), weights

    def _check(self, query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None) -> None:
        dims = query.ndim
        if dims not in (2, 3) or key.ndim != dims or value.ndim != dims:
            raise RuntimeError(
                "MultiheadAttention: query should be unbatched 2D or batched 3D tensor, key and "
                f"value the same, but received shapes {list(query.shape)}, {list(key.shape)} and "
                f"{list(value.shape)}"
            )
        for name, x, size in (
            ("query", query, self.embed_dim), ("key", key, self.kdim), ("value", value, self.vdim)
        ):  # fmt: skip
            if x.shape[-1] != size:
                raise RuntimeError(
                    f"MultiheadAttention: expected {name} of shape [..., {size}], got "
                    f"{list(x.shape)}"
                )
        if key.shape[:-1] != value.shape[:-1]:
            raise RuntimeError(
                f"key's sequence and batch dims {list(key.shape[:-1])} do not match value's "
                f"{list(value.shape[:-1])}"
            )
        if dims == 3:
            batch = 0 if self.batch_first else 1
            if query.shape[batch] != key.shape[batch]:
                raise RuntimeError(
                    f"MultiheadAttention: query of shape {list(query.shape)} and key of shape "
                    f"{list(key.shape)} have batches of different sizes, in dimension {batch} "
                    f"(batch_first={self.batch_first})"
                )
        if padding is not None and padding.ndim != dims - 1:
            raise RuntimeError(
                f"MultiheadAttention: expected key_padding_mask of {dims - 1} dimensions for a "
                f"query of {dims}, got shape {list(padding.shape)}"
            )

    def _attended(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        padding: Tensor | None,
        mask: Tensor | None,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Return what the queries of a batch (n, l, embed_dim) see, and each head's weights."""
        queries, keys, values = self._projected(query, key, value)
        further = 0  # keys that no mask knows
        if self.bias_k is not None:
            count = (keys.shape[0], 1, -1)
            keys = cat([keys, self.bias_k.expand(count)], 1)
            values = cat([values, self.bias_v.expand(count)], 1)
            further += 1
        if self.add_zero_attn:
            keys, values = (pad(x, (0, 0, 0, 1)) for x in (keys, values))
            further += 1
        total = self._mask(query, key, padding, mask)
        if total is not None and further:
            total = pad(total, (0, further))
        queries, keys, values = (self._in_heads(x) for x in (queries, keys, values))
        share = self.dropout if self.training else 0.0
        if need_weights:
            weights = dropout(weights_of(queries, keys, total, None), share)
            seen = weights @ values
        else:
            weights = None
            seen = scaled_dot_product_attention(queries, keys, values, total, share)
        joined = seen.transpose(1, 2).reshape(query.shape)
        return self.out_proj(joined), weights

    def _in_heads(self, x: Tensor) -> Tensor:
        """Return (n, l, embed_dim) as (n, num_heads, l, head_dim)."""
        return x.reshape(*x.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Return the maps of queries, keys and values; in one product those of the same tensor."""
        weight, bias, size = self.in_proj_weight, self.in_proj_bias, self.embed_dim
        if weight is not None and query is key and key is value:
            return linear(query, weight, bias).split(size, -1)
        weights = (
            (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            if weight is None
            else weight.split(size)
        )
        biases = (None,) * 3 if bias is None else bias.split(size)
        return tuple(map(linear, (query, key, value), weights, biases))

    def _mask(
        self, query: Tensor, key: Tensor, padding: Tensor | None, mask: Tensor | None
    ) -> Tensor | None:
        """Return what is added to products, to be broadcast to (n, num_heads, l, s)."""
        samples, length, count = query.shape[0], query.shape[1], key.shape[1]
        padding = added(padding, "key_padding_mask", query.dtype)
        mask = added(mask, "attn_mask", query.dtype)
        if padding is not None:
            if padding.shape != (samples, count):
                raise RuntimeError(
                    f"MultiheadAttention: expected key_padding_mask of shape {[samples, count]}, "
                    f"got {list(padding.shape)}"
                )
            padding = padding.reshape(samples, 1, 1, count)
        if mask is None:
            return padding
        expected: tuple[int, ...] = (length, count)
        if mask.ndim == 3:
            expected = (samples * self.num_heads, length, count)
        if mask.shape != expected:
            raise RuntimeError(
                f"The shape of the {mask.ndim}D attn_mask is {list(mask.shape)}, but should be "
                f"{list(expected)}"
            )
        if mask.ndim == 3:
            mask = mask.reshape(samples, self.num_heads, length, count)
        return mask if padding is None else mask + padding
