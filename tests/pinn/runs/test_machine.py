"""What a summary says of the machine that a run was on."""

from __future__ import annotations

from autograd.plan.executors import default_executor
from pinn.runs import machine_and_versions


def test_the_executor_is_that_of_the_device():
    assert machine_and_versions()["executor"] == default_executor()
    assert machine_and_versions("cpu")["executor"] == default_executor()
    assert machine_and_versions("cuda")["executor"] == "cuda"
