"""Config files: YAML to the same Python objects, with mistakes told by file and line."""

from pinn.config.config import Config, Output, load, parse, sections
from pinn.config.errors import ConfigError
from pinn.config.overrides import Override
from pinn.schema.reader import Complaint
from pinn.schema.tree import Place

__all__ = [
    "Complaint", "Config", "ConfigError", "Output", "Override", "Place", "load", "parse",
    "sections",
]
