"""The look that all figures share."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinn.checks import is_name, printable

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150

# Letters of a name in a legend or on an axis.
_LONGEST = 24

# What a figure's file says drew it.
AUTHOR = "pinn"
FILM = f"drawn by {AUTHOR}"

BLUE, RED, INK, FAINT = "#1f5fa8", "#d1495b", "#222222", "#8a8a8a"

# Told apart with any colour vision: Okabe and Ito, Color Universal Design (2002), without yellow.
LINE_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5c6b7a",
)  # fmt: skip

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega".split()
)


def new_figure(width: float, height: float, layout: str = "constrained") -> Figure:
    """Return an empty figure of a size in inches."""
    _import_matplotlib()
    from pinn.figures.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout, facecolor="white")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1, wspace=0.04, hspace=0.03)
    return figure


def _import_matplotlib() -> None:
    """Import matplotlib whatever MPLBACKEND says: a bad name there is refused at import.

    Our figures are drawn by Agg, which needs no window. A backend that matplotlib does know is set
    all the same, for the windows that the user's own program may open.
    """
    if "matplotlib" in sys.modules:
        return
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = backend


def style_axes(axes: Axes) -> None:
    """Give a panel of lines its frame and its grid."""
    axes.tick_params(labelsize=10, which="both", color=FAINT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.grid(True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)


def plain(text: str) -> str:
    """Return a text of anybody's as it is shown in a figure.

    There $ would begin mathematics, and what begins with _ would not be in a legend.
    """
    return " " * text.startswith("_") + printable(text).replace("$", r"\$")


def shortened(name: str) -> str:
    """Return a name without its middle where it would squeeze the panels beside it."""
    if len(name) <= _LONGEST:
        return plain(name)
    half = (_LONGEST - 1) // 2
    return plain(f"{name[: _LONGEST - 1 - half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}")


def symbol(name: str) -> str:
    """Return a name as mathematics: italic letters, Greek ones as such, u_1 with an index.

    What is no name of an expression stays as it is, and a long one loses its middle.
    """
    if not is_name(name) or len(name) > _LONGEST:
        return shortened(name)
    base, _, index = name.partition("_")
    head = rf"\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    if base[1:].isdigit() and base[:1].isalpha():
        head, index = base[0], base[1:] + index
    index = index.replace("_", r"\_")
    return f"${head}_{{\\mathrm{{{index}}}}}$" if index else f"${head}$"


_RAISED = dict(zip(
    map(ord, "+-0123456789"),
    "\N{SUPERSCRIPT PLUS SIGN}\N{SUPERSCRIPT MINUS}\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077"
    "\u2078\u2079", strict=True,
))  # fmt: skip


def label(name: str, units: Mapping[str, str]) -> str:
    """Return a name as mathematics with its unit, as in u (m/s), if that is known and not 1."""
    unit = _unit(name, units)
    return f"{symbol(name)} ({unit})" if unit else symbol(name)


def _unit(name: str, units: Mapping[str, str]) -> str:
    """Return a unit as it is written in print, m² for m^2; empty for none."""
    unit = units.get(name, "")
    return "" if unit == "1" else re.sub(r"\^([+-]?\d+)", lambda m: m[1].translate(_RAISED), unit)


def short(value: float) -> str:
    """Return a number like 1.50e-3, without the zeros that pad an exponent."""
    mantissa, exponent = f"{value:.2e}".split("e") if math.isfinite(value) else (str(value), "0")
    return f"{mantissa}e{int(exponent)}" if int(exponent) else mantissa


def held(values: Mapping[str, float], units: Mapping[str, str] | None = None) -> list[str]:
    """Return what coordinates are held at, each as in t = −0.5 s with the minus of the axes."""
    return [
        f"{symbol(name)} = {value:.4g} {_unit(name, units or {})}".replace("-", "\N{MINUS SIGN}")
        .strip() for name, value in values.items()
    ]  # fmt: skip


def draw_measured(
    axes: Axes,
    horizontal: np.ndarray,
    vertical: np.ndarray,
    label: str = "data",
    colour: str = "black",
) -> Any:
    """Draw rings where something was measured: what is inside them is still seen."""
    return axes.scatter(
        horizontal, vertical, s=22, facecolors="none", edgecolors=colour, linewidths=0.9,
        label=label, clip_on=False, zorder=3,
    )  # fmt: skip


def draw_band(
    axes: Axes, grid: np.ndarray, values: np.ndarray, band: np.ndarray, colour: str
) -> Any:
    """Shade what noise in data leaves open about a line."""
    return axes.fill_between(
        grid, values - band, values + band, color=colour, alpha=0.2, linewidth=0, zorder=1,
        label="2 standard errors",
    )  # fmt: skip


def headline(figure: Figure, text: str) -> None:
    """Write a line at the top left corner of a figure, above those that are there."""
    above = figure.get_suptitle()
    text = f"{text}\n{above}" if above else text
    figure.suptitle(text, x=0.02, ha="left", fontsize=12)


# Where a file of each format says what drew it.
FORMATS = {"png": "Software", "pdf": "Creator", "svg": "Creator"}


def figure_bytes(figure: Figure, format: str = "png", dpi: int = DPI) -> bytes:
    """Return a figure as the bytes of a file: "png", "pdf" or "svg".

    dpi: the resolution, of the maps and points in a pdf or svg too.
    """
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format=format, dpi=dpi, backend={"png": "agg"}.get(format, format),
        metadata={FORMATS[format]: AUTHOR},
    )  # fmt: skip
    return buffer.getvalue()


def figure_png(figure: Figure, dpi: int = DPI) -> bytes:
    """Return a figure, drawn by Agg, as the bytes of a PNG file."""
    return figure_bytes(figure, "png", dpi)


def step_axis(axes: Axes) -> None:
    """Label a horizontal axis of training steps, which are whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("step", fontsize=12)
    axes.xaxis.set_major_locator(MaxNLocator(
        integer=True, steps=[1, 2, 2.5, 5, 10], min_n_ticks=1,  # of one step there is no second
    ))  # fmt: skip
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def log_ticks(axis: Any) -> None:
    """Label the whole decades of a logarithmic axis, and numbers between where they are few."""
    from matplotlib.ticker import LogFormatter, LogLocator

    axis.set_major_locator(LogLocator(base=10, numticks=8))
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.5)))


def sparse_ticks(axis: Any) -> None:
    """Label a horizontal axis so sparsely that numbers such as −0.75 do not touch."""
    from matplotlib.ticker import MaxNLocator

    class Sparse(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            # matplotlib leaves three letter heights a label; five hold a sign and four digits.
            room = 3 * self.axis.get_tick_space() // 5
            self.set_params(nbins=min(max(room, 2), 9))
            return super().tick_values(vmin, vmax)

    axis.set_major_locator(Sparse(steps=[1, 2, 2.5, 5, 10]))


def subtitle(axes: Axes, text: str) -> None:
    """Write a small line above the top left corner of a panel."""
    axes.annotate(
        text, (0.0, 1.0), xycoords="axes fraction", xytext=(0, 5),
        textcoords="offset points", fontsize=10, color="#555555",
    )  # fmt: skip
