"""How the rate of a first-order solver changes from step to step; a schedule a file."""

from pinn.optimizers.schedules.constant import ConstantRate
from pinn.optimizers.schedules.cosine import CosineDecay
from pinn.optimizers.schedules.exponential import ExponentialDecay
from pinn.optimizers.schedules.plateau import PlateauDecay
from pinn.optimizers.schedules.schedule import (
    SCHEDULES,
    Memory,
    Schedule,
    in_state,
    remembered,
)

SCHEDULES.add("constant", ConstantRate)
SCHEDULES.add("exponential", ExponentialDecay)
SCHEDULES.add("cosine", CosineDecay)
SCHEDULES.add("plateau", PlateauDecay)

__all__ = [
    "SCHEDULES", "ConstantRate", "CosineDecay", "ExponentialDecay", "Memory", "PlateauDecay",
    "Schedule", "in_state", "remembered",
]
