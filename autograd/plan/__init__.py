"""Recorded steps: trace once, simplify, give memory, replay without a graph."""

from .executors.numpy_executor import NumpyExecutor
from .passes import optimize
from .program import Program
from .trace import TraceError, trace

__all__ = ["NumpyExecutor", "Program", "TraceError", "optimize", "trace"]
