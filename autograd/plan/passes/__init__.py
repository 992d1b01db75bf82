"""The passes that turn a recorded program into a short one, in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..program import Program
from .algebra import simplify
from .common import share_common_subexpressions
from .dead import remove_dead_code
from .flags import fold_transposes
from .fold import fold_constants
from .lower import lower

PASSES = (
    ("dead code", remove_dead_code),
    ("lowering", lower),
    ("constants", fold_constants),
    ("algebra", simplify),
    ("common subexpressions", share_common_subexpressions),
    ("algebra", simplify),
    ("constants", fold_constants),
    ("transposes", fold_transposes),
    ("common subexpressions", share_common_subexpressions),
    ("dead code", remove_dead_code),
)


def optimize(program: Program) -> Program:
    """Run all passes; AUTOGRAD_DEBUG=1 prints the program before and after each."""
    if _debug():
        print(f"recorded\n{program}", file=sys.stderr)
    for name, run in PASSES:
        program = run_pass(name, run, program)
    return program


def run_pass(name: str, run: Callable[[Program], Program], program: Program) -> Program:
    """Run one pass; AUTOGRAD_DEBUG=1 prints the program after it."""
    program = run(program)
    if _debug():
        print(f"after {name}\n{program}", file=sys.stderr)
    return program


def _debug() -> bool:
    return os.environ.get("AUTOGRAD_DEBUG") == "1"
