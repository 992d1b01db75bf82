"""PyTorch on a GPU: the loop of `nested`, with all tensors there."""

from __future__ import annotations

import torch

from experiments.bench.engines.nested import NestedStep
from experiments.bench.workloads import Workload


def prepare(workload: Workload, way: str, seed: int, threads: int) -> NestedStep:
    """Return the step of a workload."""
    return NestedStep(torch, workload, seed, device="cuda")
