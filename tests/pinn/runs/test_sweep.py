"""The table of a sweep: what it says of runs by their codes, reasons and directories."""

from pinn.runs import Run
from pinn.runs.sweep import Sweep


def test_a_run_that_was_asked_to_end_is_not_called_running(tmp_path):
    """The same directory, of one whose worker was lost and may still write there, is."""
    run = Run.create(tmp_path / "seed=0")
    try:
        for reason, state in (("", "interrupted"), ("its worker was lost", "running")):
            found = Sweep(["seed"], [["0"]], [run.directory], [None], [reason])
            assert str(found).splitlines()[1].split()[:2] == ["0", state]
    finally:
        run.release()
