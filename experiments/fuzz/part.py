"""Some thousands of inputs of one kind, all made from one seed."""

from __future__ import annotations

import hashlib
import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.fuzz.attempts import Finding
from experiments.fuzz.targets import TARGETS

# What inputs may take beside what the program has itself; beyond it memory counts as run out.
_MEMORY = 2**30


class Part(NamedTuple):
    """A part of a search: its kind, what its seed is made of, its size, where findings are kept."""

    target: str
    seed: int
    inputs_of_all: int
    number: int
    size: int
    corpus: str

    @property
    def key(self) -> tuple:
        """What its row is known by."""
        return (self.target, self.seed, self.inputs_of_all, self.number)


def tried(part: Part) -> dict[str, Any]:
    """Try a part; return its row, with each kind of finding once."""
    target = TARGETS[part.target]
    rng = np.random.default_rng([part.seed, part.number, *part.target.encode()])
    kept = Path(part.corpus, part.target)
    findings: dict[str, str] = {}
    taken = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"case{target.suffix}")
        with suppress(Finding):  # imports what it needs, before its memory is counted
            target.attempt(target.make(np.random.default_rng(0)), path)
        before = _peak()
        _limit_memory()
        began = time.process_time()
        # Here it is found where an input ends the process.
        kept.mkdir(parents=True, exist_ok=True)
        trying = kept / f"trying-{part.number}{target.suffix}"
        for _ in range(part.size):
            data = target.make(rng)
            trying.write_bytes(data)
            try:
                taken += target.attempt(data, path)
            except Finding as finding:
                if str(finding) not in findings:
                    file = kept / f"{hashlib.sha256(data).hexdigest()[:12]}{target.suffix}"
                    file.write_bytes(data)
                    findings[str(finding)] = f"{part.target}/{file.name}"
        trying.unlink()
        seconds = time.process_time() - began
    if not any(kept.iterdir()):
        kept.rmdir()
    return {
        "name": part.target, "seed": part.seed, "inputs_of_all": part.inputs_of_all,
        "part": part.number, "inputs": part.size, "taken": taken, "seconds": seconds,
        "memory_mib": (_peak() - before) / 1024,
        "findings": [{"what": what, "file": file} for what, file in findings.items()],
    }  # fmt: skip


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _limit_memory() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
