"""The momentum of a group, which some schedules move against the rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import per_group


def give_bounds(
    name: str, optimizer: Optimizer, low: float | Sequence[float], high: float | Sequence[float]
) -> None:
    """Give each group the options "base_momentum" and "max_momentum".

    ValueError where the optimizer has no momentum: neither that option nor `betas`.
    """
    if not {"momentum", "betas"} & set(optimizer.defaults):
        raise ValueError(
            f"{name}: {type(optimizer).__name__} has neither momentum nor betas to cycle; pass "
            "cycle_momentum=False"
        )
    for option, given in (("base_momentum", low), ("max_momentum", high)):
        values = per_group(option, given, optimizer)
        for group, value in zip(optimizer.param_groups, values, strict=True):
            group[option] = value


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set `momentum` of a group, or the first of its `betas`."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
