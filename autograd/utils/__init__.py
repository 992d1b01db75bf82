"""What torch.utils holds: data sets and loaders, and `checkpoint`."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
