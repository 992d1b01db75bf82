"""Known functions that are inputs: what a random field draws, as numbers that a network sees."""

from pinn.functions.expansion import Drawn, Expansion
from pinn.functions.function_space import FunctionSpace
from pinn.functions.mode import Mode

__all__ = ["Drawn", "Expansion", "FunctionSpace", "Mode"]
