"""What all processors share: a program over points in its parts, the body as calls of a tile."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar

from ..passes import run_pass
from ..passes.clusters import fuse
from ..passes.common import share_common_subexpressions
from ..passes.dead import remove_dead_code
from ..passes.lower import lower_for
from ..program import Program
from .along_numbers import along_numbers
from .instructions import Layout
from .layout import lay_out
from .places import CannotCompile
from .split import Parts, split

Made = TypeVar("Made")
_FEWEST = 7


def few_points(shapes: Iterable[tuple[int, ...]]) -> int:
    """Return for how many points to record: few, and what divides no size that these arrays have.

    So that a dimension that holds points is told by its size.
    """
    sizes = {size for shape in shapes for size in shape if size}
    return next(few for few in count(_FEWEST, 2) if all(size % few for size in sizes))


def lowered(program: Program, points: int, held: Collection[str]) -> Program:
    """Return a program whose operations on a point's numbers are taken apart into held ones.

    points  how many of its inputs, the first, are those of points.
    """
    written = partial(along_numbers, points=points)
    program = run_pass("operations along a point's numbers", written, program)
    program = run_pass("lowering for tiles", partial(lower_for, held), program)
    return remove_dead_code(share_common_subexpressions(program))


def prepared(
    program: Program,
    points: int,
    kinds: Sequence[str],
    held: Collection[str],
    whole: bool = False,
) -> tuple[Parts, Layout]:
    """Return the parts of a program, and the calls that its body makes for each tile.

    program, points, kinds, whole  as for `split`; it is lowered.
    held  the elementwise operations that there is code for.
    Raises CannotCompile for what tiles do not hold.
    """
    parts = split(program, points, kinds, whole)
    fused = partial(fuse, held=lambda op: op.name in held, truths=program.inputs[0].dtype)
    body = run_pass("clusters", fused, parts.body)
    return parts, lay_out(body, points, parts.totals, held)


def tiled_or_none(make: Callable[..., Made], *arguments: Any) -> Made | None:
    """Return what `make` gives, None for what tiles do not hold (AUTOGRAD_DEBUG=1 says why)."""
    try:
        return make(*arguments)
    except CannotCompile as error:
        if os.environ.get("AUTOGRAD_DEBUG") == "1":
            print(f"not compiled for tiles: {error}", file=sys.stderr)
        return None
