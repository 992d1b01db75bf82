"""Taylor mode: derivatives in the coordinates, pushed forward through registered operations."""

from . import rules  # noqa: F401 - fills the table of rules
from .channels import Channels, Sum, choose_channels
from .jet import Jet, NoTaylorRule
from .stochastic import laplacian_estimate
from .sweep import partials, read, sweep

__all__ = [
    "Channels",
    "Jet",
    "NoTaylorRule",
    "Sum",
    "choose_channels",
    "laplacian_estimate",
    "partials",
    "read",
    "sweep",
]
