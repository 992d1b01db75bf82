"""One BLAS thread while training, whichever library brings it."""

import subprocess
import sys
import threading

import threadpoolctl

from pinn.training.resources import training_resources

SCRIPT = """
from pinn.training.resources import training_resources
import threadpoolctl
with training_resources():
    import scipy.optimize
    print(*[pool["num_threads"] for pool in threadpoolctl.threadpool_info()
            if pool["user_api"] == "blas"])
"""


def blas_threads():
    pools = threadpoolctl.threadpool_info()
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_its_own_number_again_after():
    import scipy.linalg  # noqa: F401

    before = blas_threads()
    with training_resources():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_scipys_own_blas_is_held_to_one_thread_too():
    # A process of its own: here scipy may have been loaded by another test.
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"1"}


def test_trainings_that_overlap_leave_blas_as_they_found_it():
    """The first to begin is the first to end: what it finds is given back by the last."""
    import scipy.linalg  # noqa: F401

    before = blas_threads()
    entered, leave = threading.Event(), threading.Event()

    def first():
        with training_resources():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(10)
    with training_resources():
        leave.set()
        thread.join(10)
        seen = blas_threads()
    assert set(seen) == {1}
    assert blas_threads() == before
