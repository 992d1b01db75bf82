"""Neural network modules with PyTorch's names."""

from . import functional, init, utils
from .activations import (
    ELU,
    GELU,
    SELU,
    Identity,
    LeakyReLU,
    Mish,
    ReLU,
    Sigmoid,
    SiLU,
    Sin,
    Softplus,
    Tanh,
)
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .linear import Linear
from .loss import HuberLoss, L1Loss, MSELoss, SmoothL1Loss
from .module import Module
from .parameter import Parameter

__all__ = [
    "ELU",
    "GELU",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LeakyReLU",
    "Linear",
    "MSELoss",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Sin",
    "SmoothL1Loss",
    "Softplus",
    "Tanh",
    "functional",
    "init",
    "utils",
]
