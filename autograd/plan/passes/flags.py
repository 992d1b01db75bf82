"""Transposes of matrices become flags of the matrix product, which BLAS takes at no cost."""

from __future__ import annotations

from collections.abc import Sequence

from ..program import Argument, Instruction, Program, Value
from .rewriting import Rewriter, rewrite


def fold_transposes(program: Program) -> Program:
    """Let products read transposed matrices through their flags."""
    return rewrite(program, _fold)


def _fold(rewriter: Rewriter, instruction: Instruction) -> Sequence[Argument] | None:
    if instruction.op.name == "matmul":
        flags = dict(instruction.attributes)
        x, y = instruction.inputs
        x, flags["transpose_x"] = _untransposed(rewriter, x, flags["transpose_x"])
        y, flags["transpose_y"] = _untransposed(rewriter, y, flags["transpose_y"])
        instruction.inputs, instruction.attributes = (x, y), flags
    return None


def _untransposed(rewriter: Rewriter, value: Value, flag: bool) -> tuple[Value, bool]:
    maker = rewriter.maker.get(value)
    if maker is not None and maker.op.name == "permute" and maker.attributes["axes"] == (1, 0):
        return maker.inputs[0], not flag
    return value, flag
