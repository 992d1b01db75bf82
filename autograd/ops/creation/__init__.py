"""Tensors made from values, shapes and seeds."""

from . import create, typed, windows

__all__ = ["create", "typed", "windows"]
