"""What Adam and its relatives do alike: weight decay, and the moving averages of g and g^2.

All work on arrays; `work` and `out` are memory of the same shape that nobody needs.
"""

from __future__ import annotations

from typing import Any

from .. import devices


def decay(
    values: Any, grad: Any, group: dict[str, Any], decoupled: bool, work: Any, out: Any
) -> Any:
    """Return the gradient to descend along, with the decay of the weights.

    With `maximize` it is turned round.  A decoupled decay is taken off the values themselves, and
    not added to the gradient.
    """
    xp = devices.namespace_of(values)
    if group["maximize"]:
        grad = xp.negative(grad, out=out)
    if not group["weight_decay"]:
        return grad
    if decoupled:
        values *= 1 - group["lr"] * group["weight_decay"]
        return grad
    xp.multiply(values, group["weight_decay"], out=work)
    return xp.add(grad, work, out=out)


def average(mean: Any, grad: Any, beta: float, work: Any) -> None:
    """Let the moving average `mean` take in the gradient: beta mean + (1 - beta) g."""
    mean *= beta
    devices.namespace_of(grad).multiply(grad, 1 - beta, out=work)
    mean += work


def average_squares(square: Any, grad: Any, beta: float, work: Any) -> None:
    """Let the moving average `square` take in the square: beta square + (1 - beta) g^2."""
    square *= beta
    devices.namespace_of(grad).multiply(grad, grad, out=work)
    work *= 1 - beta
    square += work
