"""The training objective: residual blocks, and everything an optimizer may want of them."""

from pinn.objective.block import Block
from pinn.objective.block_weights import check_weights
from pinn.objective.engines import ENGINES, Engine
from pinn.objective.evaluator import DERIVATIVES
from pinn.objective.layout import Layout, Part
from pinn.objective.objective import Evaluation, Objective
from pinn.objective.on_device import OnDevice

__all__ = [
    "DERIVATIVES", "ENGINES", "Block", "Engine", "Evaluation", "Layout", "Objective",
    "OnDevice", "Part", "check_weights",
]
