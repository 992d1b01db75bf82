"""Where the collocation points go: methods on the unit cube, counts, and seeded streams."""

from pinn.sampling.adaptive import ADAPTIVE
from pinn.sampling.methods import METHODS, grid, halton, latin_hypercube, sobol, uniform
from pinn.sampling.points import Points
from pinn.sampling.rad import rad_density, rad_rows
from pinn.sampling.sampling import Sampling
from pinn.sampling.streams import stream

__all__ = [
    "ADAPTIVE",
    "METHODS",
    "Points",
    "Sampling",
    "grid",
    "halton",
    "latin_hypercube",
    "rad_density",
    "rad_rows",
    "sobol",
    "stream",
    "uniform",
]
