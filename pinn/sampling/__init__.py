"""Where the collocation points go: methods on the unit cube, counts, and seeded streams."""

from pinn.sampling.adaptive import ADAPTIVE, RETAINING, Draw, even
from pinn.sampling.block import BlockSampling
from pinn.sampling.density import Density, thinned
from pinn.sampling.layers import NO_LAYERS, Layer, Layers, Widths
from pinn.sampling.methods import (
    LATTICES,
    METHODS,
    chebyshev,
    gauss_legendre,
    grid,
    halton,
    latin_hypercube,
    sobol,
    uniform,
)
from pinn.sampling.points import Points
from pinn.sampling.r3 import r3
from pinn.sampling.rad import rad, rad_density, rad_rows
from pinn.sampling.rar import rar_d, rar_g
from pinn.sampling.sampling import Sampling
from pinn.sampling.streams import stream

ADAPTIVE["rad"] = rad
ADAPTIVE["rar-d"] = rar_d
ADAPTIVE["rar-g"] = rar_g
ADAPTIVE["r3"] = r3
ADAPTIVE["even"] = even
RETAINING.update(("rar-d", "rar-g", "r3"))

__all__ = [
    "ADAPTIVE",
    "LATTICES",
    "METHODS",
    "NO_LAYERS",
    "RETAINING",
    "BlockSampling",
    "Density",
    "Draw",
    "Layer",
    "Layers",
    "Points",
    "Sampling",
    "Widths",
    "chebyshev",
    "gauss_legendre",
    "grid",
    "halton",
    "latin_hypercube",
    "r3",
    "rad_density",
    "rad_rows",
    "rar_d",
    "rar_g",
    "sobol",
    "stream",
    "thinned",
    "uniform",
]
