"""Figures of a solution and of its training, drawn without a display.

Every function makes a `matplotlib.figure.Figure` of its own: nothing here touches pyplot, its
global state or a window, so figures can be drawn in any thread of any process.
"""

from pinn.figures.animation import Animation, NoFilm, animation
from pinn.figures.coefficients import plot_coefficients
from pinn.figures.field_data import FieldData
from pinn.figures.history import plot_history
from pinn.figures.lines import plot_overlay
from pinn.figures.maps import plot_error, plot_field, plot_maps, plot_panels, plot_reference
from pinn.figures.points import PointsData, plot_points
from pinn.figures.slices import plot_slices
from pinn.figures.style import DPI, figure_bytes, figure_png
from pinn.figures.vectors import plot_vectors

__all__ = [
    "DPI", "Animation", "FieldData", "NoFilm", "PointsData", "animation", "figure_bytes",
    "figure_png", "plot_coefficients", "plot_error", "plot_field", "plot_history", "plot_maps",
    "plot_overlay", "plot_panels", "plot_points", "plot_reference", "plot_slices", "plot_vectors",
]
