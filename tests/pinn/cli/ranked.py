"""The command line as a rank of several; `--fails N STEP` lets rank N fail in that step.

    ranked.py [--fails N STEP] train CONFIG ...
"""

import sys

from autograd.mpi import world
from pinn.cli import run
from pinn.training.callbacks import Relayed

if sys.argv[1] == "--fails":
    number, step = map(int, sys.argv[2:4])
    del sys.argv[1:4]
    usual = Relayed.on_step

    def on_step(self, record):
        """Fail as a rank does whose memory is used up."""
        if world().number == number and record.step == step:
            raise MemoryError("no more is free")
        usual(self, record)

    Relayed.on_step = on_step
run()
