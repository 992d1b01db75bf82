"""The run directory: what a training run leaves on disk, and how it is read back."""

from pinn.runs.claim import RunExists, check_free, is_run
from pinn.runs.machine import machine_and_versions
from pinn.runs.run import Run

__all__ = ["Run", "RunExists", "check_free", "is_run", "machine_and_versions"]
