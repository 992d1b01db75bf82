"""What of a residual training has fitted in place of it, and how more of that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from pinn.equations.axes import MOST_NODES, Integral
from pinn.expressions import nodes
from pinn.residuals import Nodes, Residual


@dataclass(frozen=True)
class Fitted:
    """What a residual is small at alone: its "points", its "times" or the "nodes" of its sums.

    setting: what asks for more of them, with a number, "times=20 in place of 10"; "" for points.
    """

    kind: str
    setting: str = ""


POINTS = Fitted("points")


def fitted_in(residual: Residual, by_nodes: bool) -> Fitted:
    """Return what is fitted of an overfitted residual.

    by_nodes: whether it is far larger with more nodes in its sums at the points of training too.
    """
    if by_nodes:
        return Fitted("nodes", _more_nodes(residual))
    source = residual.source
    if isinstance(source, Nodes):
        return Fitted("times", f"times={2 * source.times} in place of {source.times}")
    return POINTS


def _more_nodes(residual: Residual) -> str:
    trees = [term.tree for term in residual.terms if term.tree is not None]
    counts = [one.count for tree in trees for one in nodes(tree) if isinstance(one, Integral)]
    if not counts:
        return "nodes= or steps= in it"
    return f"nodes={min(MOST_NODES, 2 * max(counts))} in place of {max(counts)}"
