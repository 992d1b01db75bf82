"""The kinds of input: how each is made from random numbers, and tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.fuzz import runs, tables, texts


class Target(NamedTuple):
    """A kind of input.

    share: of all inputs, by what one costs. suffix: of its file. make: random numbers -> input.
    attempt: whether an input is taken, with a path to write it to; raises attempts.Finding.
    """

    share: float
    suffix: str
    make: Callable[[np.random.Generator], bytes]
    attempt: Callable[[bytes, Path], bool]


TARGETS: dict[str, Target] = {
    "expressions": Target(0.4, ".txt", texts.make_expression, texts.try_expression),
    "yaml": Target(0.1, ".yaml", texts.make_yaml, texts.try_yaml),
    "overrides": Target(0.1, ".txt", texts.make_override, texts.try_override),
    "configs": Target(0.01, ".yaml", texts.make_config, texts.try_config),
    "checks": Target(0.0005, ".yaml", texts.make_config, texts.try_check),
    "tables": Target(0.2, ".csv", tables.make_text, tables.try_columns),
    "arrays": Target(0.08, ".npz", tables.make_arrays, tables.try_columns),
    "summaries": Target(0.05, ".json", runs.make_summary, runs.try_summary),
    "metrics": Target(0.05, ".jsonl", runs.make_metrics, runs.try_metrics),
    "solutions": Target(0.005, ".npz", runs.make_solution, runs.try_solution),
    "checkpoints": Target(0.0045, ".npz", runs.make_checkpoint, runs.try_checkpoint),
}
