"""Recorded steps: trace once, simplify, give memory, replay without a graph."""

from .executors.numpy_executor import NumpyExecutor, find_not_finite
from .passes import optimize
from .program import Program
from .trace import TraceError, trace

__all__ = ["NumpyExecutor", "Program", "TraceError", "find_not_finite", "optimize", "trace"]
