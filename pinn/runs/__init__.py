"""The run directory: what a training run leaves on disk, and how it is read back."""

from pinn.runs.machine import machine_and_versions
from pinn.runs.run import Run, RunExists

__all__ = ["Run", "RunExists", "machine_and_versions"]
