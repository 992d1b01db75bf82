"""Rules of what rearranges elements: the examples stay first, everything else moves by one."""

from __future__ import annotations

import math
from typing import Any

from ..ops.registry import REGISTRY
from ..tensor import Tensor
from .rules import Application, of_one_shape, rule

rule(
    "ones_like", "zeros_like", "tril", "triu", "view_as_real", "view_as_complex", "bits",
    "linalg_inv", "linalg_pinv", "linalg_det", "linalg_slogdet", "linalg_cholesky", "linalg_qr",
    "cholesky_info", "linalg_qr_complete", "linalg_svd", "linalg_eigh", "linalg_eig",
    "linalg_lu_factor", "order_of_rows", "mode_place", "cofactor", "matrix_exp",
)(of_one_shape)  # fmt: skip


@rule("reshape", "new_full")
def _given_shape(call: Application) -> Tensor:
    return call.done(call.args[0], shape=(call.size, *call.attributes["shape"]))


@rule("expand")
def _expand(call: Application) -> Tensor:
    shape = call.attributes["shape"]
    return call.done(call.aligned(0, len(shape)), shape=(call.size, *shape))


@rule("sum_to")
def _sum_to(call: Application) -> Tensor:
    shape = call.attributes["shape"]
    ones = (1,) * (call.rank(0) - len(shape))
    summed = call.done(call.args[0], shape=(call.size, *ones, *shape))
    return REGISTRY["reshape"](summed, shape=(call.size, *shape)) if ones else summed


@rule("permute")
def _permute(call: Application) -> Tensor:
    return call.done(call.args[0], axes=(0, *(axis + 1 for axis in call.attributes["axes"])))


@rule("tile")
def _tile(call: Application) -> Tensor:
    reps = call.attributes["reps"]
    return call.done(call.aligned(0, len(reps)), reps=(1, *reps))


@rule("flip")
def _flip(call: Application) -> Tensor:
    return call.done(call.args[0], axes=tuple(axis + 1 for axis in call.attributes["axes"]))


@rule("roll")
def _roll(call: Application) -> Tensor:
    x, axes = call.args[0], call.attributes["axes"]
    if axes is not None:
        return call.done(x, axes=tuple(axis + 1 for axis in axes))
    reshape, shape = REGISTRY["reshape"], x._data.shape
    count = math.prod(shape[1:])
    return reshape(call.done(reshape(x, shape=(call.size, count)), axes=(1,)), shape=shape)


@rule("diagonal", "diagonal_into")
def _diagonal(call: Application) -> Tensor:
    changed: dict[str, Any] = {
        name: dim + (dim >= 0) for name, dim in call.attributes.items() if name in ("dim1", "dim2")
    }
    if "shape" in call.attributes:
        changed["shape"] = (call.size, *call.attributes["shape"])
    return call.done(call.args[0], **changed)


@rule("cat", "stack", "split", "unbind")
def _along_dim(call: Application) -> Any:
    return call.done(*call.all_spread(), dim=call.attributes["dim"] + 1)
