"""What is made of all elements along a dimension: sums, extrema, running sums, softmax."""

from . import cumulative, extrema, reduce, running, softmax, standardize

__all__ = ["cumulative", "extrema", "reduce", "running", "softmax", "standardize"]
