"""Where values lie among others, how often they come, and values put into other places."""

from . import counts, order, replace, weighted

__all__ = ["counts", "order", "replace", "weighted"]
