"""Transformers: layers of attention and of two affine maps, each added to its input.

Vaswani et al. 2017; with `norm_first` what is added is computed from normalised numbers (Xiong et
al. 2020).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..ops.creation.create import full
from ..ops.elementwise.activations import gelu, relu
from ..ops.layout.arrange import triu
from ..tensor import Tensor
from . import init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu}


def _activation(asked: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    if not isinstance(asked, str):
        return asked
    if asked not in _ACTIVATIONS:
        raise RuntimeError(
            f"activation should be relu/gelu, or a function or module, not {asked!r}"
        )
    return _ACTIVATIONS[asked]


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class _Layer(Module):
    """What layers of both kinds share: attention of their own, two affine maps, norms, dropouts."""

    def __init__(
        self,
        names: tuple[str, ...],
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: str | Callable[[Tensor], Tensor],
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        device: Any,
        dtype: Any,
        generator: Any,
    ) -> None:
        super().__init__()
        how: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in names:
            attention = MultiheadAttention(
                d_model, nhead, dropout, batch_first=batch_first, generator=generator, **how
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, generator=generator, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, generator=generator, **how)
        self.norm_first = norm_first
        parts = range(1, len(names) + 2)
        for k in parts:
            setattr(self, f"norm{k}", LayerNorm(d_model, layer_norm_eps, **how))
        for k in parts:
            setattr(self, f"dropout{k}", Dropout(dropout))
        self.activation = _activation(activation)

    def _added(self, k: int, x: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Return x with the k-th block's result added; the norm comes before it or after both."""
        norm, drop = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")
        if self.norm_first:
            return x + drop(block(norm(x)))
        return norm(x + drop(block(x)))

    def _attended(
        self, name: str, query: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None
    ) -> Tensor:
        attention = getattr(self, name)
        return attention(query, memory, memory, padding, False, mask)[0]

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """A layer that attends to its own input: x (l, n, d_model), with `batch_first` (n, l, d_model).

    self_attn         a MultiheadAttention of `nhead` heads.
    linear1, linear2  the affine maps to `dim_feedforward` numbers and back, `activation` ("relu",
                      "gelu", a function or a module) between them.
    norm1, norm2      LayerNorms, after each sum, or with `norm_first` before what is added.
    dropout           the probability of what is left out while training.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            ("self_attn",), d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
            batch_first, norm_first, bias, device, dtype, generator,
        )  # fmt: skip

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return what became of `src`; masks as in `MultiheadAttention`.

        `is_causal` changes nothing: the mask says it.  Raises RuntimeError for it without a mask.
        """
        _refuse_bare_hint(is_causal, src_mask)
        x = self._added(
            1, src, lambda x: self._attended("self_attn", x, x, src_mask, src_key_padding_mask)
        )
        return self._added(2, x, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """A layer that attends to its own input, then to a memory, both (l, n, d_model).

    As `TransformerEncoderLayer`, with a second attention, `multihead_attn`, and a third norm.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            ("self_attn", "multihead_attn"), d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, bias, device, dtype, generator,
        )  # fmt: skip

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return what became of `tgt`; masks as in `MultiheadAttention`.

        The hints `..._is_causal` change nothing: the masks say it.  Raises RuntimeError for one
        without its mask.
        """
        _refuse_bare_hint(tgt_is_causal, tgt_mask)
        _refuse_bare_hint(memory_is_causal, memory_mask)
        x = self._added(
            1, tgt, lambda x: self._attended("self_attn", x, x, tgt_mask, tgt_key_padding_mask)
        )
        x = self._added(
            2,
            x,
            lambda x: self._attended(
                "multihead_attn", x, memory, memory_mask, memory_key_padding_mask
            ),
        )
        return self._added(3, x, self._feed_forward)


def _refuse_bare_hint(is_causal: bool | None, mask: Tensor | None) -> None:
    if is_causal and mask is None:
        raise RuntimeError(
            "Need a mask if specifying an is_causal hint; "
            "Transformer.generate_square_subsequent_mask(l) makes it"
        )


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after the other, then `norm` if there is one.

    `enable_nested_tensor` and `mask_check` are taken, and change nothing.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Return what became of `src`; masks as in `TransformerEncoderLayer`."""
        for layer in self.layers:
            src = layer(
                src, mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal)
            )
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, one after the other, then `norm` if there is one."""

    def __init__(
        self, decoder_layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return what became of `tgt`; masks as in `TransformerDecoderLayer`."""
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of a source, and a decoder of a target that attends to what the encoder gives.

    src is (s, n, d_model) and tgt (t, n, d_model), with `batch_first` (n, s, d_model) and so on.

    encoder, decoder  a TransformerEncoder and a TransformerDecoder with LayerNorms at their ends,
                      or `custom_encoder` and `custom_decoder`.
    Their matrices are drawn by `init.xavier_uniform_`.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__()
        layer = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, device, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*layer, generator=generator), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*layer, generator=generator), num_decoder_layers, norm()
        )
        self._reset_parameters(generator)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self, generator: Any = None) -> None:
        """Draw all matrices anew."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter, generator=generator)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return what became of `tgt`; masks as in the layers.

        Raises RuntimeError for batches of different sizes and for other sizes than d_model.
        """
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                f"the batch number of src and tgt must be equal, got shapes {list(src.shape)} and "
                f"{list(tgt.shape)} with the batch in dimension {batch}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model ({self.d_model}), got "
                f"shapes {list(src.shape)} and {list(tgt.shape)}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Any = None, dtype: Any = None
    ) -> Tensor:
        """Return (sz, sz) zeros with -inf after the diagonal: what hides all that comes later."""
        return triu(full((sz, sz), -math.inf, dtype=dtype, device=device), 1)
