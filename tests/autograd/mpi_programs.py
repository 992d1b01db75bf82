"""Programs that the tests start as several ranks: `mpi_programs.py NAME`, which prints JSON.

Rank 0 prints what all ranks found, as a list.
"""

import json
import sys
import warnings

import numpy as np
from mpi4py import MPI

from autograd.mpi import world
from autograd.ranks import ALONE, RankFailed

ranks = world()


def shares(lanes):
    """The lanes of this rank's share."""
    return list(ranks.share(lanes))


def sums_and_rows():
    """Whether sums of lanes, and rows, have the bits of one process."""
    found = []
    for dtype in (np.float32, np.float64):
        for lanes in (1, 2, 5, 16):
            for width in (0, 1, 2, 7, 1000):
                rng = np.random.default_rng(lanes * width)
                sums = (rng.normal(size=(lanes, width)) * 10.0 ** rng.integers(-8, 8)).astype(dtype)
                edges = np.concatenate([[0], np.cumsum(rng.integers(0, 4, lanes))])
                rows = rng.normal(size=(edges[-1], 3)).astype(dtype)
                mine = ranks.share(lanes)
                joined, wide = np.full_like(rows, np.nan), np.full((2, *rows.shape), np.nan)
                by_itself = np.full_like(rows, np.nan)
                part = slice(edges[mine.start], edges[mine.stop])
                joined[part] = by_itself[part] = rows[part]
                apart = wide.transpose(1, 0, 2)[:, 0]  # not dense
                apart[part] = rows[part]
                total = ranks.exchange(sums[mine.start : mine.stop], lanes, [joined, apart], edges)
                ranks.complete(by_itself, lanes, edges)
                same = total.tobytes() == ALONE.exchange(sums, lanes).tobytes()
                whole = (joined, apart, by_itself)
                found.append(same and all(np.array_equal(one, rows) for one in whole))
    return found


def agreed():
    """What rank 0 says, who was asked, and how many there are meanwhile."""
    asked = []

    def ask():
        asked.append((ranks.number, ranks.size))
        return {"said by": ranks.number}

    with ranks.together():
        found = ranks.agreed(ask)
        clock = ranks.clock()
    return {"found": found, "asked": asked, "clock": clock, "size": ranks.size}


def _ended(run):
    try:
        with ranks.together():
            run()
    except (RankFailed, KeyboardInterrupt, ValueError, ArithmeticError) as error:
        said = f"{type(error).__name__}: {error}"
    else:
        said = "well"
    with ranks.together():  # they can work together again
        return said, ranks.agreed(lambda: "again")


def failing(number):
    """One rank raises while the others exchange sums."""

    def run():
        if ranks.number == number:
            raise ValueError("a page is missing")
        ranks.exchange(np.ones((len(ranks.share(4)), 2)), 4)

    return _ended(run)


def failing_callback():
    """What rank 0 is asked raises."""

    def ask():
        raise ArithmeticError("no room")

    return _ended(lambda: ranks.agreed(ask))


def interrupted():
    """Rank 0 is asked to end, in the middle of its work."""

    def run():
        if ranks.number == 0:
            ranks.interrupt()
        for _ in range(3):
            ranks.exchange(np.ones((len(ranks.share(4)), 2)), 4)

    return _ended(run)


def unlike():
    """Ranks hold other numbers."""
    return _ended(lambda: ranks.agreed(lambda: None, np.array([1.0, ranks.number == 2])))


def warned():
    """How many warnings a rank shows."""
    with warnings.catch_warnings(record=True) as seen, ranks.together():
        warnings.warn("a doubt", stacklevel=1)
    return len(seen)


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    result = globals()[name](*map(int, arguments))
    everything = MPI.COMM_WORLD.gather(result)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(everything))
