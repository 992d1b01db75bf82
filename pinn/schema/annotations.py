"""Annotations that say more than a type: `steps: Count = 2000`."""

from __future__ import annotations

from typing import Annotated

from pinn.schema import kinds
from pinn.schema.kinds import Choice

Count = Annotated[int, kinds.Integer(low=1)]
"""A whole number of one or more."""

Few = Annotated[int, kinds.Integer(low=1, high=1000)]
"""A whole number from 1 to 1000, of what is built one by one: layers, windows."""

Natural = Annotated[int, kinds.Integer(low=0)]
"""A whole number of zero or more."""

Positive = Annotated[float, kinds.Number(above=0.0)]
"""A finite number above zero."""

NonNegative = Annotated[float, kinds.Number(low=0.0)]
"""A finite number of zero or more."""

Fraction = Annotated[float, kinds.Number(low=0.0, below=1.0)]
"""A number of zero or more and below one."""

Name = Annotated[str, kinds.NAME]
"""A name that an equation can use."""

Text = Annotated[str, kinds.Text()]
"""A text that is not empty."""

__all__ = [
    "Choice", "Count", "Few", "Fraction", "Name", "Natural", "NonNegative", "Positive", "Text",
]
