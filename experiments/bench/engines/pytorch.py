"""PyTorch, eager: nested torch.autograd.grad, each backward pass shared by its derivatives."""

from __future__ import annotations

import torch

from experiments.bench.engines.nested import NestedStep
from experiments.bench.workloads import Workload


def configure(threads: int) -> None:
    """Use all the cores given."""
    torch.set_num_threads(threads)


def prepare(workload: Workload, way: str, seed: int, threads: int) -> NestedStep:
    """Return the step of a workload."""
    return NestedStep(torch, workload, seed)
