"""The look that all figures share."""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinn.checks import is_name, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150

# Letters of a name in a legend or on an axis.
_LONGEST = 24

# What a figure's file says drew it.
AUTHOR = "pinn"

BLUE, RED, INK, FAINT = "#1f5fa8", "#d1495b", "#222222", "#8a8a8a"

LINE_COLOURS = (
    "#1f77b4", "#e07b00", "#2ca02c", "#c0392b", "#8e5ea2",
    "#8c564b", "#d65db1", "#17a2b8", "#9a9a00", "#5c6b7a",
)  # fmt: skip

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega".split()
)


def new_figure(width: float, height: float, layout: str = "constrained") -> Figure:
    """Return an empty figure of a size in inches."""
    _import_matplotlib()
    from matplotlib.figure import Figure

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
    axes.tick_params(labelsize=10, color=FAINT)
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


def short(value: float) -> str:
    """Return a number like 1.50e-3, without the zeros that pad an exponent."""
    mantissa, exponent = f"{value:.2e}".split("e") if math.isfinite(value) else (str(value), "0")
    return f"{mantissa}e{int(exponent)}" if int(exponent) else mantissa


def held(values: Mapping[str, float]) -> list[str]:
    """Return what coordinates are held at, each as in t = −0.5 with the minus of the axes."""
    return [f"{symbol(n)} = {v:.4g}".replace("-", "\N{MINUS SIGN}") for n, v in values.items()]


def headline(figure: Figure, text: str) -> None:
    """Write a line at the top left corner of a figure, above those that are there."""
    above = figure.get_suptitle()
    text = f"{text}\n{above}" if above else text
    figure.suptitle(text, x=0.02, ha="left", fontsize=12)


def figure_png(figure: Figure, dpi: int = DPI) -> bytes:
    """Return a figure, drawn by Agg, as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, backend="agg", metadata={"Software": AUTHOR})
    return buffer.getvalue()


def log_ticks(axis: Any) -> None:
    """Label the whole decades of a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=10, numticks=8))
    axis.set_minor_formatter(NullFormatter())


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
