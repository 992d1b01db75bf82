"""Known functions that are inputs: what a random field draws, as numbers that a network sees."""

from pinn.function_spaces.expansion import Drawn, Expansion
from pinn.function_spaces.function_space import FunctionSpace
from pinn.function_spaces.mode import Mode

__all__ = ["Drawn", "Expansion", "FunctionSpace", "Mode"]
