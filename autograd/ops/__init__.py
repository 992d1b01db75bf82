"""The operations, a file a family; importing this package fills the registry."""

from . import arithmetic, cast, create, linalg, reduce, registry, shape

__all__ = ["arithmetic", "cast", "create", "linalg", "reduce", "registry", "shape"]
