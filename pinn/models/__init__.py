"""Networks that stand for the unknowns."""

from pinn.models.mlp import MLP

__all__ = ["MLP", "MODELS"]

# The models by the names that configs and saved solutions use.
MODELS: dict[str, type] = {"mlp": MLP}
