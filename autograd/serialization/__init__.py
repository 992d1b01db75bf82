"""Files of tensors, numbers and texts in dictionaries and lists: `autograd.save` and `load`."""

from .files import load, save

__all__ = ["load", "save"]
