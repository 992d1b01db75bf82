"""Networks that stand for the unknowns."""

from pinn.models.mlp import MLP

__all__ = ["MLP"]
