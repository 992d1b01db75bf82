"""Neural network modules with PyTorch's names."""

from . import functional, init, utils
from .activations import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardtanh,
    Identity,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Sin,
    Softmax,
    Softplus,
    Softsign,
    Tanh,
)
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .flatten import Flatten
from .linear import Bilinear, Linear
from .loss import HuberLoss, L1Loss, MSELoss, SmoothL1Loss
from .module import Module
from .normalization import LayerNorm
from .parameter import Parameter

__all__ = [
    "Bilinear",
    "CELU",
    "ELU",
    "Flatten",
    "GELU",
    "Hardtanh",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "PReLU",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Sin",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Softsign",
    "Tanh",
    "functional",
    "init",
    "utils",
]
