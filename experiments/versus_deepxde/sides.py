"""Both sides of a problem, one after the other, each in a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from typing import Any

from experiments.versus_deepxde.pair import BY_NAME

MISSING = (
    "DeepXDE is what this compares with, and it is not installed: pip install deepxde torch "
    "(it is no part of pinn, which needs neither)"
)
SIDES = ("deepxde", "ours")

Run = Callable[[str, str, float, int, int], dict[str, Any]]


def run(side: str, name: str, seconds: float, seed: int, threads: int) -> dict[str, Any]:
    """Train one side of a problem; returns its figures, or `failed`, why there are none."""
    module = "theirs" if side == "deepxde" else "ours"
    try:
        train = import_module(f"experiments.versus_deepxde.{module}").run
        return train(BY_NAME[name].row, seconds, seed, threads)
    except Exception as error:  # whatever goes wrong is the result of this side
        return {"failed": f"{type(error).__name__}: {error}"}


def apart(side: str, name: str, seconds: float, seed: int, threads: int) -> dict[str, Any]:
    """Do the same in a new process: no library of one side is loaded beside the other's."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, side, name, seconds, seed, threads).result()


def compared(
    name: str, seconds: float, seed: int, threads: int, run: Run = apart
) -> dict[str, Any]:
    """Return the figures of both sides of a problem, and how they were asked for."""
    facts = {side: run(side, name, seconds, seed, threads) for side in SIDES}
    return {"name": name, "seed": seed, "limit_seconds": seconds, "threads": threads, **facts}
