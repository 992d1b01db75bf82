"""What a run leaves behind, without what depends on the clock: two runs that are equal leave it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinn.files import read_npz
from pinn.runs.run import Run

TIMED = frozenset(
    "wall_s wall_seconds seconds stage_seconds began machine versions executor".split()
)
_TEXTS = ("report", "progress")


def left(directory: Path) -> dict[str, str]:
    """Return a digest of each part of a run by its name, such as "summary.json/loss".

    Numbers of the metrics, the summary and the reports are compared to the last digit, arrays and
    figures by their bytes.
    """
    run = Run.open(directory)
    found: dict[str, Any] = {"config.yaml": run.config()}
    for number, record in enumerate(run.metrics(), start=1):
        found[f"metrics.jsonl:{number}"] = without_times(record)
    for key, value in without_times(run.summary()).items():
        found[f"summary.json/{key}"] = value
    for path in (run.solution_path, run.checkpoint_path):
        for name, array in read_npz(path).items():
            found[f"{path.name}/{name}"] = _told(name, array)
    for path in sorted((directory / "figures").iterdir()):
        found[f"figures/{path.name}"] = path.read_bytes()
    return {name: _digest(value) for name, value in found.items()}


def without_times(told: Any) -> Any:
    """Return plain data without what the clock and the machine have said in it."""
    if isinstance(told, Mapping):
        return {key: without_times(one) for key, one in told.items() if key not in TIMED}
    return [without_times(one) for one in told] if isinstance(told, list) else told


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the names of the parts that differ, or that only one of two runs has."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def _told(name: str, array: Any) -> Any:
    """Return an array's bytes; the texts that tell of times are read, and told without them."""
    if name in _TEXTS:
        text = array.tobytes().decode("utf-8") if array.dtype.kind == "u" else str(array)
        return without_times(json.loads(text))
    return [array.dtype.str, list(array.shape), array.tobytes().hex()]


def _digest(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()
