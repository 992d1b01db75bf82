"""The parent's end of a worker: starts it, asks it, and stops it when it takes too much."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from experiments.bench.engines import Engine
from experiments.bench.memory import available_bytes, resident_bytes

ROOT = Path(__file__).resolve().parents[2]
_MEMORY_SHARE = 0.75
_POLL_SECONDS = 0.05


class Failed(Exception):
    """A worker could not do what it was asked; `kind` is one or two words."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Remote:
    """One engine in a process of its own; a worker that was stopped is started again when asked.

    timeout: seconds for one command. A worker that takes more, or more than three quarters of the
    memory that is free, is stopped and the command raises Failed.
    """

    def __init__(self, engine: Engine, threads: int, seed: int, timeout: float) -> None:
        self.engine = engine
        self.threads = threads
        self.seed = seed
        self.timeout = timeout
        self._process: subprocess.Popen | None = None
        self._replies: queue.Queue[str | None] = queue.Queue()

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Return the worker's reply; Failed where there is none or it is an error."""
        process = self._process or self._start()
        try:
            process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            raise Failed("ended", "the worker process ended by itself") from None
        reply = json.loads(self._wait(process))
        if not reply.pop("ok"):
            raise Failed(reply["kind"], reply["error"])
        return reply

    def _start(self) -> subprocess.Popen:
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [
                sys.executable, "-m", "experiments.bench.worker",
                self.engine.name, str(self.threads), str(self.seed),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **dict(self.engine.environment), "PYTHONPATH": path},
            cwd=ROOT,
        )
        self._process = process
        self._replies = queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, self._replies), daemon=True).start()
        return process

    def _wait(self, process: subprocess.Popen) -> str:
        end = time.monotonic() + self.timeout
        used = resident_bytes(process.pid) or 0
        limit = used + _MEMORY_SHARE * available_bytes()
        while True:
            try:
                line = self._replies.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if time.monotonic() > end:
                    self.stop()
                    raise Failed("too slow", f"stopped after {self.timeout:g} s") from None
                if (resident_bytes(process.pid) or 0) > limit:
                    self.stop()
                    raise Failed(
                        "out of memory", f"stopped above {limit / 2**30:.1f} GiB"
                    ) from None
                continue
            if line is None:
                code = process.wait()
                self.stop()
                raise Failed("ended", f"the worker process ended by itself, exit status {code}")
            return line

    def stop(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _read(stream: Any, replies: queue.Queue) -> None:
    try:
        for line in stream:
            replies.put(line)
    except ValueError:
        pass  # the stream was closed while it was read: the worker is being stopped
    replies.put(None)
