"""The figure that all drawings are made in, which a notebook shows as it is."""

from __future__ import annotations

import matplotlib.figure

from pinn.figures.style import figure_png


class Figure(matplotlib.figure.Figure):
    """A figure of matplotlib that is a picture in a notebook without pyplot, too."""

    def _repr_png_(self) -> bytes:
        return figure_png(self, int(self.dpi))
