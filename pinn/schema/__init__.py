"""Declarations: what a class takes, said once, and read from Python, YAML and JSON alike.

A declared class says what it takes in its fields, their annotations and its docstring. From these
follow the checks of its constructor, how it is read from a config file or a saved solution, how it
is written there, and what `pinn list` and the reference page say of it.
"""

from pinn.schema.annotations import (
    Choice,
    Count,
    Few,
    Fraction,
    Name,
    Natural,
    NonNegative,
    Positive,
    Text,
)
from pinn.schema.declared import declared, dump, fields_of
from pinn.schema.errors import DeclarationError, DeclarationTypeError, Mistakes
from pinn.schema.family import Family

__all__ = [
    "Choice", "Count", "DeclarationError", "DeclarationTypeError", "Family", "Few", "Fraction",
    "Mistakes", "Name", "Natural", "NonNegative", "Positive", "Text", "declared", "dump",
    "fields_of",
]
