"""Which values a figure shows: the range of its colours or of its axis, linear or logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.schema.errors import at
from pinn.schema.kinds import Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A spike: less than this share of the values takes the outer half of their range, as at a corner
# where the field is singular. Then the scale ends at the other quantile,
_SPIKE = 0.002
_QUANTILE = 0.02
# unless hardly anything of the field is left below it, as in a thin layer.
_REST = 0.001
# Decades of a logarithmic scale below its largest value, where the data give no other end.
_DECADES = 6
# A symmetric logarithmic scale is linear below a power of ten, about so many decades under its end;
_LOG_DECADES = 3
# one of errors, of which the largest matter most.
_ERROR_DECADES = 2


@dataclass(frozen=True)
class Scale:
    """A range of values: low to high, "linear", "log", or "symlog" (logarithmic on both sides).

    note: which values are beyond it, where some were cut off; else empty. decades: about so many a
    symmetric one has on each side.
    """

    low: float
    high: float
    kind: str = "linear"
    note: str = ""
    decades: int = _LOG_DECADES

    @property
    def colours(self) -> str:
        """The name of a colour map: one with a middle where the range is centred at zero."""
        return "RdBu_r" if self.low == -self.high else "viridis"

    def norm(self) -> Any:
        """Return the range as matplotlib's map from values to colours."""
        from matplotlib.colors import LogNorm, Normalize, SymLogNorm

        if self.kind == "log":
            return LogNorm(self.low, self.high)
        if self.kind == "symlog":
            return SymLogNorm(self._linear, vmin=self.low, vmax=self.high)
        return Normalize(self.low, self.high)

    def beyond(self, values: np.ndarray) -> str:
        """Return at which ends of the range values lie visibly beyond it, in matplotlib's words."""
        finite = values[np.isfinite(values)]
        slack = 0.02 * (self.high - self.low)
        low = bool(np.any(finite < (self.low if self.kind == "log" else self.low - slack)))
        high = bool(np.any(finite > self.high + slack))
        return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[low, high]

    def shown(self, values: np.ndarray) -> np.ndarray:
        """Return values to draw: on a logarithmic scale those below it take its lower end."""
        return np.maximum(values, self.low) if self.kind == "log" else values

    def ticks(self) -> list[float] | None:
        """Return what a colour bar is labelled with: decades on both sides of zero; None: as usual.

        Every other one where they would stand too closely.
        """
        if self.kind != "symlog":
            return None
        first, size = math.log10(self._linear), max(abs(self.low), abs(self.high))
        powers = np.arange(round(first), math.floor(math.log10(size)) + 1)
        decades = 10.0 ** powers[:: -1 if len(powers) < 5 else -2]
        both = [0.0, *decades, *-decades]
        return sorted(tick for tick in both if self.low <= tick <= self.high)

    def set_axis(self, axes: Axes, *, margin: bool) -> None:
        """Give the vertical axis this range, with a margin where nobody asked for its ends."""
        low, high = self.low, self.high
        if self.kind == "symlog":
            axes.set_yscale("symlog", linthresh=self._linear)
        elif self.kind == "log":
            axes.set_yscale("log")
            margin, low, high = False, low / 1.3, high * 1.3
        space = 0.06 * (high - low) if margin else 0.0
        axes.set_ylim(low - space, high + space)

    @property
    def _linear(self) -> float:
        size = max(abs(self.low), abs(self.high))
        return 10.0 ** (round(math.log10(size)) - self.decades)


def scale_of(
    *arrays: np.ndarray | None,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    centred: bool = False,
    robust: bool = False,
) -> Scale:
    """Return the scale on which arrays are drawn; values that are not finite do not count.

    vmin, vmax: its ends, None for those of the values. log: logarithmic, on both sides of zero
    where signs mix. centred: symmetric about zero where signs mix. robust: cut off spikes, such as
    the values near a singular corner. Raises TypeError or ValueError for ends that make no range.
    """
    for name, end in (("vmin", vmin), ("vmax", vmax)):
        if end is not None:
            with at(name):
                Number().check(end)
    if vmin is not None and vmax is not None and not vmin < vmax:
        raise ValueError(f"expected vmin < vmax, got vmin = {vmin:g} and vmax = {vmax:g}")
    drawn = np.concatenate([array.ravel() for array in arrays if array is not None])
    drawn = drawn[np.isfinite(drawn)]
    low, high, note = _range(drawn, robust and vmin is None and vmax is None and not log)
    # A slight overshoot below zero does not make a positive field one of mixed signs.
    mixed = min(-low, high) > 0.05 * max(-low, high)
    if log and not mixed and high > 0:
        return _log_scale(drawn, vmin, vmax)
    if (centred or log) and mixed:
        size = next((abs(end) for end in (vmax, vmin) if end), max(-low, high))
        low, high = -size, size
    low, high = low if vmin is None else float(vmin), high if vmax is None else float(vmax)
    if not high - low > 1e-12 * max(abs(low), abs(high), 1e-300):
        # Nothing of the values lies in between: a range around them, or beside the end asked for.
        if vmin is not None:
            high = low + (abs(low) or 1.0)
        elif vmax is not None:
            low = high - (abs(high) or 1.0)
        else:
            margin = 0.5 * abs(low) or 1.0
            low, high = low - margin, high + margin
    return Scale(low, high, "symlog" if log else "linear", note)


def error_scale(*errors: np.ndarray, absolute: bool = False) -> Scale:
    """Return one scale for errors: centred at zero, logarithmic on both sides of it.

    absolute: for |error|, on four decades: they hold all that matters, and what is smaller takes
    the lowest colour.
    """
    sizes = np.concatenate([np.abs(error[np.isfinite(error)]) for error in errors])
    top = float(sizes.max()) if sizes.size else 0.0
    top = max(top, 1e-300) if top else 1e-16  # the field equals the reference
    if absolute:
        return Scale(1e-4 * top, top, "log")
    return Scale(-top, top, "symlog", decades=_ERROR_DECADES)


def _range(drawn: np.ndarray, robust: bool) -> tuple[float, float, str]:
    if not drawn.size:
        return -1.0, 1.0, ""
    low, high = float(drawn.min()), float(drawn.max())
    if not robust or not low < high:
        return low, high, ""
    inner = [float(q) for q in np.quantile(drawn, [_QUANTILE, 1 - _QUANTILE])]
    if not inner[1] / 2 - inner[0] / 2 > _REST * (high / 2 - low / 2):
        return low, high, ""
    # Both ends are judged from the middle: of values about 1, some go up to 40 and none down.
    middle = float(np.median(drawn))
    ends, notes = [low, high], []
    for side, name in enumerate(("smallest", "largest")):
        reach = ends[side] - middle
        outer = np.mean((drawn - middle) * np.sign(reach) > abs(reach) / 2)
        if outer < _SPIKE and abs(reach) > 2 * abs(inner[side] - middle):
            notes.append(f"{name} {ends[side]:.3g}")
            ends[side] = inner[side]
    if not notes:
        return low, high, ""
    return *ends, f"colours: 2 % to 98 % of the values; {', '.join(notes)}"


def _log_scale(drawn: np.ndarray, vmin: float | None, vmax: float | None) -> Scale:
    for name, end in (("vmin", vmin), ("vmax", vmax)):
        if end is not None and not end > 0:
            raise ValueError(
                f"log: expected {name} > 0 on a logarithmic scale of positive values, got {end!r}"
            )
    high = float(drawn.max()) if vmax is None else float(vmax)
    positive = drawn[drawn > 0]
    low = float(vmin) if vmin is not None else max(float(positive.min()), 10.0**-_DECADES * high)
    return Scale(low, high if high > low else math.nextafter(low, math.inf) * 10, "log")
