"""Known functions that are given by their values: on grids and at scattered points."""

from pinn.tables.table import Table
from pinn.tables.value import FormulaOrTable

__all__ = ["FormulaOrTable", "Table"]
