"""Networks that stand for the unknowns."""

from pinn.models.mlp import MLP
from pinn.models.model import MODELS, AnyModel, Model, NotSavedModel, build_module

__all__ = ["MLP", "MODELS", "AnyModel", "Model", "NotSavedModel", "build_module"]

MODELS.add("mlp", MLP)
