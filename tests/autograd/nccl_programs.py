"""Programs that the tests start as several ranks with a strict test device each, as
`nccl_programs.py NAME`: rank 0 prints what all ranks found, as JSON.
"""

import hashlib
import json
import sys
import warnings

import numpy as np
from mpi4py import MPI

from autograd.mpi import world
from autograd.plan.chunks import Chunked
from autograd.ranks import RankFailed
from autograd.strict import counted, strict_cuda
from autograd.strict import nccl as stand_in
from tests.autograd.plan.lanes.functions_of_points import everything, parameters, rows_of

ranks = world()
COUNTS = (1, 40, 700)


def bits(device, executor):
    """A digest of what steps give for some numbers of points, and what is copied on the way."""
    leaves = [p.detach().to(device="cuda").requires_grad_() for p in parameters()]
    fn, kinds = everything(leaves)
    step = Chunked(fn, leaves, kinds, executor=executor, chunk=20, ranks=ranks)
    digest, copied = hashlib.sha256(), []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for count in COUNTS:
            rows = [device.from_host(r, 0) for r in rows_of(count)]
            step(rows)
            with counted() as counts:
                found = step(rows)
            ranks.settle()
            copied.append([counts.uploads, counts.downloads, counts.synchronisations])
            for one in found:
                digest.update(device.to_host(one).tobytes())
    said = [str(w.message) for w in said if w.category is RuntimeWarning]
    return {"digest": digest.hexdigest(), "copied": copied, "said": said}


def tiles(executor="auto"):
    """Each rank has a device of its own, and NCCL."""
    with strict_cuda(kernels=True, nccl=stand_in) as device:
        device.xp.cuda.places[0] = f"bus {ranks.number}"
        return bits(device, executor)


def operations():
    """The same operation by operation, in chunks."""
    return tiles("cupy")


def without():
    """There is no NCCL on one of them."""
    with strict_cuda(kernels=True, nccl=None if ranks.number else stand_in) as device:
        device.xp.cuda.places[0] = f"bus {ranks.number}"
        return bits(device, "auto")


def shared():
    """All ranks have one device."""
    with strict_cuda(kernels=True, nccl=stand_in) as device:
        return bits(device, "auto")


def _ended(run):
    """How a run of all ranks ended, and whether they can exchange again after it."""
    with strict_cuda(nccl=stand_in) as device:
        device.xp.cuda.places[0] = f"bus {ranks.number}"
        try:
            with ranks.together():
                run(device)
        except (RankFailed, ArithmeticError) as error:
            said = f"{type(error).__name__}: {error}"
        else:
            said = "well"
        device.xp.cuda.runtime.streamQuery = lambda stream: 0
        with ranks.together():
            return said, _exchanged(device)


def _exchanged(device):
    mine = ranks.share(6)
    sums = device.from_host(1.0 + np.arange(mine.start, mine.stop).reshape(-1, 1), 0)
    total = ranks.exchange(sums, 6)
    ranks.settle()
    return device.to_host(total).tolist()


def faulty():
    """The device of rank 1 fails, so that what the others have asked for never arrives."""

    def run(device):
        _exchanged(device)
        not_ready, illegal_address = 600, 700
        status = illegal_address if ranks.number == 1 else not_ready
        device.xp.cuda.runtime.streamQuery = lambda stream: status
        ranks.exchange(device.xp.zeros((len(ranks.share(6)), 2)), 6)
        ranks.settle()
        raise ArithmeticError("an illegal address")  # of the copy to the host

    return _ended(run)


def not_made():
    """The last rank cannot join the others, who wait for it."""

    class Refused(stand_in.NcclCommunicator):
        def __init__(self, *arguments):
            if ranks.number == ranks.size - 1:
                stand_in.NcclCommunicator = usual
                raise ArithmeticError("no memory for a communicator")
            stand_in.NcclCommunicator = usual
            while True:
                MPI.COMM_WORLD.Iprobe()

    usual = stand_in.NcclCommunicator
    stand_in.NcclCommunicator = Refused
    return _ended(_exchanged)


def gone_wrong():
    """What rank 0 asked for has gone wrong since."""

    def run(device):
        _exchanged(device)
        if ranks.number == 0:
            usual = stand_in.NcclCommunicator.check_async_error

            def failing(self):
                stand_in.NcclCommunicator.check_async_error = usual
                raise ArithmeticError("a cable was pulled")

            stand_in.NcclCommunicator.check_async_error = failing
        _exchanged(device)

    return _ended(run)


if __name__ == "__main__":
    everything_found = MPI.COMM_WORLD.gather(globals()[sys.argv[1]]())
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(everything_found))
