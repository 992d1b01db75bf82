"""Files for other programs: tables, grids and meshes, and modules of plain numpy."""

from pinn.export.columns import csv_text, write_columns
from pinn.export.evaluator import write_evaluator
from pinn.export.netcdf import write_netcdf
from pinn.export.numpy_source import NoSource

__all__ = ["NoSource", "csv_text", "write_columns", "write_evaluator", "write_netcdf"]
