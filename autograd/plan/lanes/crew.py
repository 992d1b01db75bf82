"""Threads that go through the lanes of compiled steps together, and stay awake between steps.

To wake a sleeping thread takes up to some tenths of a millisecond, in which a short step is over.
So a thread that has done its lanes looks for the next step for a while, as those of OpenMP do: only
where the last step came soon after the one before, and where each thread has a core.

A thread takes work from its box.  The one that leads posts there, takes lanes itself, and takes
back what was not begun when none is left: it never waits for a thread that is not awake yet.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...addresses import address_of
from ...threads import cores
from ..pool import worker_pool
from .native import AS_WRITTEN, address

_AWAKE = 5e-4
"""Seconds for which a thread looks for work, and between steps that it is expected in."""

ASLEEP, READY, POSTED, BUSY = range(4)
"""The states of a box.  READY: its thread looks for work, or is on its way to do so."""

_FIELDS = 16  # two lines of a cache, so that boxes do not share one
_STATE, _LOOKS = range(2)
_TRIED = 20_000  # looks by which their time is measured
_MOST = 63  # bits of a number, but for its sign
_ADDRESS, _COUNT = ctypes.c_void_p, ctypes.c_int64
_SERVE = ctypes.CFUNCTYPE(None, _ADDRESS)
_LEAD = ctypes.CFUNCTYPE(
    _COUNT, _ADDRESS, _COUNT, _ADDRESS, _ADDRESS, _ADDRESS, _COUNT, _ADDRESS, _ADDRESS, _ADDRESS,
    _COUNT,
)  # fmt: skip
_SETTLE = ctypes.CFUNCTYPE(_COUNT, _ADDRESS, _COUNT)


class Crew:
    """The threads of a process that compiled steps share, besides those that ask for them."""

    def __init__(self) -> None:
        text = _text()
        self._serve = _SERVE(address(text, "serve", AS_WRITTEN))
        self._post = _LEAD(address(text, "post", AS_WRITTEN))
        self._lead = _LEAD(address(text, "lead", AS_WRITTEN))
        self._settle = _SETTLE(address(text, "settle", AS_WRITTEN))
        memory = np.zeros((_MOST + 1) * _FIELDS, np.int64)
        start = -address_of(memory) % (8 * _FIELDS) // 8
        self._boxes = memory[start : start + _MOST * _FIELDS].reshape(_MOST, _FIELDS)
        self._places = [address_of(self._boxes[k]) for k in range(_MOST)]
        self._used = threading.Lock()
        self._ended = -1.0
        self._looks = self._measured()

    def run(self, work: int, arguments: Sequence[int], arenas: Sequence[int], *calls: int) -> None:
        """Go through lanes, on as many threads as there are arenas.

        work, arguments, calls  of `library.work` and what it takes before and after an arena.
        Where another thread has the crew, this one goes by itself.
        """
        helpers = min(len(arenas) - 1, _MOST)
        if not self._used.acquire(blocking=False):
            self._led(work, 0, arguments, arenas, calls)
            return
        try:
            soon = time.perf_counter() - self._ended < _AWAKE and len(arenas) <= cores()
            self._boxes[:helpers, _LOOKS] = self._looks if soon else 0
            self._led(work, helpers, arguments, arenas, calls)
            self._ended = time.perf_counter()
        finally:
            self._used.release()

    def _led(
        self, work: int, helpers: int, arguments: Sequence[int], arenas: Sequence[int],
        calls: Sequence[int],
    ) -> None:  # fmt: skip
        places = np.array(arenas, np.int64)
        given = work, *arguments, address_of(places), *calls
        left = helpers
        try:
            if helpers:
                self._wake(self._post(self._places[0], helpers, *given))
            left = self._lead(self._places[0], helpers, *given)
        finally:
            while left:  # none may still write when this returns or raises
                left = self._settle(self._places[0], helpers)
                time.sleep(0)

    def _wake(self, asleep: int) -> None:
        """Have threads go to boxes that had none, each a bit of a number."""
        waiting = [k for k in range(asleep.bit_length()) if asleep >> k & 1]
        try:
            while waiting:
                worker_pool().submit(self._look_into, waiting[-1])
                waiting.pop()
        except RuntimeError:
            pass  # the interpreter ends, and starts no more threads
        finally:
            self._boxes[waiting, _STATE] = ASLEEP

    def _look_into(self, box: int) -> None:
        """Serve a box: by this method, which keeps the boxes while a thread looks into them."""
        self._serve(self._places[box])

    def _measured(self) -> int:
        """Return how many looks take as long as a thread stays awake."""
        box = self._boxes[0]
        box[_STATE], box[_LOOKS] = READY, _TRIED
        start = time.perf_counter()
        self._serve(self._places[0])  # ends asleep: there is nothing to do
        return max(1, round(_AWAKE / (time.perf_counter() - start) * _TRIED))


@lru_cache(maxsize=1)
def crew() -> Crew:
    """Return the crew of this process."""
    return Crew()


# a forked child has none of the parent's threads
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=crew.cache_clear)


def _text() -> str:
    """Return the module of `serve`, `post`, `lead` and `settle`.

    A box holds a state, how often its thread looks for work before it sleeps, and what `work` is
    called with: its address and its arguments.
    """
    pause = _PAUSES.get(platform.machine().lower(), "")
    fields = [f"  %p{k} = getelementptr i64, ptr %box, i64 {2 + k}" for k in range(len(_ARGUMENTS))]
    given = [
        f"  %{name} = load {kind}, ptr %p{k}, align 8"
        for k, (name, kind) in enumerate(_ARGUMENTS.items())
    ]
    put = [
        f"  store {kind} %{name}, ptr %p{k}, align 8"
        for k, (name, kind) in enumerate(_ARGUMENTS.items())
    ]
    named = ", ".join(f"{kind} %{name}" for name, kind in list(_ARGUMENTS.items())[1:])
    text = _CODE
    for name, lines in {"FIELDS": fields, "GIVEN": given, "PUT": put}.items():
        text = text.replace(name, "\n".join(lines))
    declared = f"declare void {pause.split('(')[0].strip()}({'i32' if 'i32' in pause else ''})"
    return (declared if pause else "") + text.replace("NAMED", named).replace(
        "PAUSE", f"call void {pause}" if pause else ""
    ).replace("SIZE", str(_FIELDS))


_ARGUMENTS = {
    "work": "ptr", "contexts": "ptr", "ends": "ptr", "lanes": "i64", "next": "ptr",
    "arena": "ptr", "calls": "ptr", "n": "i64",
}  # fmt: skip
_PAUSES = {
    "x86_64": "@llvm.x86.sse2.pause()", "amd64": "@llvm.x86.sse2.pause()",
    "aarch64": "@llvm.aarch64.hint(i32 1)", "arm64": "@llvm.aarch64.hint(i32 1)",
}  # fmt: skip
"""What tells a core that it waits."""

_CODE = """
define void @serve(ptr %box) {
entry:
  %limit = getelementptr i64, ptr %box, i64 1
FIELDS
  br label %anew
anew:
  %most = load atomic i64, ptr %limit monotonic, align 8
  br label %look
look:
  %k = phi i64 [0, %anew], [%up, %again]
  %state = load atomic i64, ptr %box acquire, align 8
  %posted = icmp eq i64 %state, 2
  br i1 %posted, label %take, label %none
none:
  %up = add i64 %k, 1
  %tired = icmp sgt i64 %up, %most
  br i1 %tired, label %sleep, label %again
again:
  PAUSE
  br label %look
sleep:
  %slept = cmpxchg ptr %box, i64 1, i64 0 acq_rel acquire
  %before = extractvalue {i64, i1} %slept, 0
  %called = icmp eq i64 %before, 2
  br i1 %called, label %anew, label %done
take:
  %taken = cmpxchg ptr %box, i64 2, i64 3 acq_rel acquire
  %mine = extractvalue {i64, i1} %taken, 1
  br i1 %mine, label %do, label %anew
do:
GIVEN
  call void %work(NAMED)
  store atomic i64 1, ptr %box release, align 8
  br label %anew
done:
  ret void
}
define i64 @post(ptr %boxes, i64 %helpers, ptr %work, ptr %contexts, ptr %ends, i64 %lanes,
                 ptr %next, ptr %arenas, ptr %calls, i64 %n) {
entry:
  br label %each
each:
  %k = phi i64 [0, %entry], [%up, %post]
  %asleep = phi i64 [0, %entry], [%found, %post]
  %far = mul i64 %k, SIZE
  %box = getelementptr i64, ptr %boxes, i64 %far
  %up = add i64 %k, 1
  %place = getelementptr ptr, ptr %arenas, i64 %up
  %arena = load ptr, ptr %place, align 8
FIELDS
PUT
  br label %post
post:
  %before = atomicrmw xchg ptr %box, i64 2 acq_rel
  %slept = icmp eq i64 %before, 0
  %one = zext i1 %slept to i64
  %bit = shl i64 %one, %k
  %found = or i64 %asleep, %bit
  %more = icmp slt i64 %up, %helpers
  br i1 %more, label %each, label %done
done:
  ret i64 %found
}
define i64 @lead(ptr %boxes, i64 %helpers, ptr %work, ptr %contexts, ptr %ends, i64 %lanes,
                 ptr %next, ptr %arenas, ptr %calls, i64 %n) {
entry:
  %first = load ptr, ptr %arenas, align 8
  call void %work(ptr %contexts, ptr %ends, i64 %lanes, ptr %next, ptr %first, ptr %calls, i64 %n)
  %left = call i64 @settle(ptr %boxes, i64 %helpers)
  ret i64 %left
}
define i64 @settle(ptr %boxes, i64 %helpers) {
entry:
  br label %each
each:
  %k = phi i64 [0, %entry], [%up, %settled]
  %looks = phi i64 [0, %entry], [%here, %settled]
  %more = icmp slt i64 %k, %helpers
  br i1 %more, label %back, label %done
back:
  %up = add i64 %k, 1
  %far = mul i64 %k, SIZE
  %box = getelementptr i64, ptr %boxes, i64 %far
  %revoked = cmpxchg ptr %box, i64 2, i64 1 acq_rel acquire
  br label %look
look:
  %here = phi i64 [%looks, %back], [%after, %again]
  %state = load atomic i64, ptr %box acquire, align 8
  %busy = icmp eq i64 %state, 3
  br i1 %busy, label %again, label %settled
again:
  PAUSE
  %after = add i64 %here, 1
  %tired = icmp sgt i64 %after, 100000
  br i1 %tired, label %left, label %look
settled:
  br label %each
left:
  %rest = sub i64 %helpers, %k
  ret i64 %rest
done:
  ret i64 0
}
"""
