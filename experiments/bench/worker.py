"""One engine in a process of its own: waits for commands, runs when told to.

Commands and replies are JSON, one a line, on standard input and output.  A reply has "ok", or
"error" with the reason and its kind.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from importlib import import_module
from typing import Any, TextIO

from experiments.bench.memory import peak_bytes, resident_bytes

_INTERPRETER_BYTES = resident_bytes()


class Worker:
    """Runs the commands of one engine."""

    def __init__(self, engine: str, threads: int, seed: int) -> None:
        from experiments.bench.engines import ENGINES, GPU, LOOPS

        self.engine = (ENGINES | LOOPS | GPU)[engine]
        self.threads = threads
        self.seed = seed
        self._steps: dict[str, Any] = {}
        self._module = import_module(self.engine.module)
        if hasattr(self._module, "configure"):
            self._module.configure(threads)
        self._imported_bytes = resident_bytes()

    def prepare(self, workload: dict[str, Any], way: str) -> dict[str, Any]:
        """Build a step and take three; the first call's time is that of building and the first."""
        from experiments.bench.workloads import Workload

        bound = Workload.from_json(workload)
        start = time.perf_counter()
        step = self._module.prepare(bound, way, self.seed, self.threads)
        losses = [step.step()]
        first = time.perf_counter() - start
        moment = step.first_moment()
        start = time.perf_counter()
        losses += [step.step(), step.step()]
        self._steps[way] = step
        facts = step.facts() if hasattr(step, "facts") else {}
        return {
            "first_call_s": first,
            "step_s": (time.perf_counter() - start) / 2,
            "losses": losses,
            "moment": base64.b64encode(moment.tobytes()).decode(),
            "facts": facts,
        }

    def run(self, way: str, steps: int, together: bool = False) -> dict[str, Any]:
        """Take steps, one untimed first, and return the seconds of each.

        together: a device is waited for after the last alone; returns what each takes of the whole.
        """
        bound = self._steps[way]
        step = bound.step
        step()  # brings the caches and thread pools back after the other engines' turns
        if together and hasattr(bound, "steps"):
            start = time.perf_counter()
            bound.steps(steps)
            return {"seconds": [(time.perf_counter() - start) / steps]}
        seconds = []
        for _ in range(steps):
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
        return {"seconds": seconds}

    def profile(self, way: str) -> dict[str, Any]:
        """Return where the time of a step goes, for engines that can tell."""
        return {"profile": self._steps[way].profile()}

    def memory(self) -> dict[str, Any]:
        """Return bytes: the peak, the bare interpreter, and after the imports."""
        return {
            "peak": peak_bytes(),
            "interpreter": _INTERPRETER_BYTES,
            "imported": self._imported_bytes,
        }

    def drop(self) -> dict[str, Any]:
        """Forget all steps."""
        self._steps.clear()
        return {}


def serve(worker: Worker, requests: TextIO, replies: TextIO) -> None:
    """Answer commands until the input ends."""
    from experiments.bench.engines import CannotRun

    commands = {
        name: getattr(worker, name) for name in ("prepare", "run", "profile", "memory", "drop")
    }
    for line in requests:
        request = json.loads(line)
        name = request.pop("do")
        try:
            reply = {"ok": True, **commands[name](**request)}
        except CannotRun as error:
            reply = {"ok": False, "kind": "cannot run", "error": str(error)}
        except Exception as error:  # reported in the table; the other engines go on
            reply = {"ok": False, "kind": _kind(error), "error": str(error)[:500]}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _kind(error: Exception) -> str:
    """Return what an error is, in one or two words: each library has its own for full memory."""
    name = type(error).__name__
    full = isinstance(error, MemoryError) or "OutOfMemory" in name
    return "out of memory" if full or "RESOURCE_EXHAUSTED" in str(error) else name


def main(arguments: list[str]) -> None:
    """Serve one engine: ENGINE THREADS SEED."""
    engine, threads, seed = arguments[0], int(arguments[1]), int(arguments[2])
    if hasattr(os, "sched_setaffinity"):  # every engine, and its libraries, sees as many cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no reply
    serve(Worker(engine, threads, seed), sys.stdin, replies)


if __name__ == "__main__":
    main(sys.argv[1:])
