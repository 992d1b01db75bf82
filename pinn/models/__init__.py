"""Networks that stand for the unknowns."""

from pinn.models.mlp import MLP
from pinn.models.model import MODELS, AnyModel, Model, NotSavedModel, build_module
from pinn.models.spaced import Spaced

__all__ = ["MLP", "MODELS", "AnyModel", "Model", "NotSavedModel", "Spaced", "build_module"]

MODELS.add("mlp", MLP)
