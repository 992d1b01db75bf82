"""Learning rates that change from epoch to epoch.

A scheduler sets `lr` of the optimizer's groups once when it is made and again at each `step()`,
which comes after the optimizer's own `step()`.  Several may act on one optimizer: each changes the
rate that it finds, but for those whose rate is a formula of the epoch (LambdaLR, CyclicLR,
OneCycleLR, CosineAnnealingWarmRestarts), which set it from the initial one.
"""

from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cyclic import CyclicLR
from .factors import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .lambdas import LambdaLR, MultiplicativeLR
from .one_cycle import OneCycleLR
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler
from .scheduler import LRScheduler as _LRScheduler  # noqa: F401 - the older name
from .several import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
