"""What `func.vmap` does operations with: one value an example, all of them in one tensor.

`batched` has the tensor; `rules`, and the files beside it, how each operation is done for all
examples at once.
"""

from . import positions, products, reductions, rules, shapes, windows
from .batched import Batched

__all__ = ["Batched", "positions", "products", "reductions", "rules", "shapes", "windows"]
