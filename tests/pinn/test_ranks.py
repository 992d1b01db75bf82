"""Runs that several ranks share: the bits of one process, whatever their number."""

import json
from pathlib import Path

import pytest

from autograd.strict.kernels import compiler

PROGRAM = Path(__file__).with_name("ranks_program.py")
THERE = [
    "a GPU each", "parts of the points there", "products of the Hessian there",
    "a Jacobian that is sketched there",
]  # fmt: skip
FEW = ["first order, adaptive points", "a Jacobian"]  # for many ranks on few cores
ESTIMATED = "its error estimated"


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler")
def test_2_3_and_8_ranks_give_the_bits_of_one_process(start_ranks):
    expected = _printed(start_ranks(1, PROGRAM, "process"))
    for count, names in ((2, expected), (3, expected), (8, FEW)):
        found = _printed(start_ranks(count, PROGRAM, "ranks", *names))
        assert found == {name: expected[name] for name in names}, count
    *_, estimate = expected[ESTIMATED]
    assert "relative_l2" in estimate
    # of a solution that all have trained, rank 0 may ask when the others have gone
    assert _printed(start_ranks(2, PROGRAM, "alone", ESTIMATED)) == estimate


def test_ranks_with_a_gpu_each_give_the_bits_of_one(start_ranks):
    if compiler() is None:
        pytest.skip("no C++ compiler")
    expected = _printed(start_ranks(1, PROGRAM, "process", *THERE))
    assert _printed(start_ranks(2, PROGRAM, "ranks", *THERE)) == expected


def _printed(process):
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(out)
