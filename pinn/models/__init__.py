"""Networks that stand for the unknowns."""

from pinn.models.activations import ACTIVATIONS
from pinn.models.auto import AutoModel
from pinn.models.deeponet import DeepONet
from pinn.models.embeddings import (
    EMBEDDINGS,
    CornerEmbedding,
    Embedding,
    FourierEmbedding,
    InversionEmbedding,
    PeriodicEmbedding,
)
from pinn.models.joined import Joined
from pinn.models.kan import KAN
from pinn.models.mlp import MLP
from pinn.models.model import (
    MODELS,
    AnyModel,
    Facts,
    Model,
    NotSavedModel,
    build_module,
    check_model,
    check_part,
    is_by_trial,
    parameter_count,
    settled_model,
)
from pinn.models.modified_mlp import ModifiedMLP
from pinn.models.multi_scale import MultiScale
from pinn.models.network import Network
from pinn.models.parts import Factorization
from pinn.models.per_unknown import PerUnknown
from pinn.models.pirate_net import PirateNet
from pinn.models.random_features import RandomFeatures
from pinn.models.residual_mlp import ResidualMLP
from pinn.models.separable import Separable
from pinn.models.siren import Siren
from pinn.models.spaced import Spaced
from pinn.models.windows import WindowedNetwork, Windows

__all__ = [
    "ACTIVATIONS", "EMBEDDINGS", "KAN", "MLP", "MODELS", "AnyModel", "AutoModel", "CornerEmbedding",
    "DeepONet", "Embedding", "Factorization", "Facts", "FourierEmbedding", "InversionEmbedding",
    "Joined", "Model", "ModifiedMLP", "MultiScale", "Network", "NotSavedModel", "PerUnknown",
    "PeriodicEmbedding", "PirateNet", "RandomFeatures", "ResidualMLP", "Separable", "Siren",
    "Spaced", "WindowedNetwork", "Windows", "build_module", "check_model", "check_part",
    "is_by_trial", "parameter_count", "settled_model",
]  # fmt: skip

MODELS.add("mlp", MLP)
MODELS.add("auto", AutoModel)
MODELS.add("residual_mlp", ResidualMLP)
MODELS.add("modified_mlp", ModifiedMLP)
MODELS.add("pirate_net", PirateNet)
MODELS.add("siren", Siren)
MODELS.add("multi_scale", MultiScale)
MODELS.add("kan", KAN)
MODELS.add("random_features", RandomFeatures)
MODELS.add("separable", Separable)
MODELS.add("deeponet", DeepONet)
MODELS.add("per_unknown", PerUnknown)
MODELS.add("windows", Windows)
