"""What torch.utils holds: `autograd.utils.data` has data sets and loaders."""

from . import data

__all__ = ["data"]
