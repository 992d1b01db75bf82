"""Config files: YAML to the same Python objects, with mistakes told by file and line."""

from pinn.config.config import Config, Experiment, load
from pinn.config.errors import Complaint, ConfigError, Place
from pinn.config.overrides import Override

__all__ = ["Complaint", "Config", "ConfigError", "Experiment", "Override", "Place", "load"]
