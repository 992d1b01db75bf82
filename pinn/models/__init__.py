"""Networks that stand for the unknowns."""

from pinn.models.joined import Joined
from pinn.models.mlp import MLP
from pinn.models.model import (
    MODELS,
    AnyModel,
    Model,
    NotSavedModel,
    build_module,
    parameter_count,
)
from pinn.models.per_unknown import PerUnknown
from pinn.models.spaced import Spaced

__all__ = [
    "MLP", "MODELS", "AnyModel", "Joined", "Model", "NotSavedModel", "PerUnknown", "Spaced",
    "build_module", "parameter_count",
]  # fmt: skip

MODELS.add("mlp", MLP)
MODELS.add("per_unknown", PerUnknown)
