"""Solvers on several GPUs, one of which fails: real processes, with strict test devices."""

import json
from pathlib import Path

import pytest

from autograd.strict.kernels import compiler

PROGRAM = Path(__file__).with_name("failing_rank.py")


@pytest.mark.parametrize("solver", ["adam", "ssbroyden", "levenberg_marquardt"])
def test_no_solver_waits_for_what_a_failed_rank_owes(start_ranks, solver):
    if compiler() is None:
        pytest.skip("no C++ compiler")
    out, err = (process := start_ranks(3, PROGRAM, solver)).communicate(timeout=240)
    assert process.returncode == 0, err
    failed = "ArithmeticError: an illegal address"
    told = f"RankFailed: rank 1 of 3 failed: {failed}"
    assert json.loads(out) == [told, failed, told]
