"""Runs that several ranks share: the bits of one process, whatever their number."""

import json
from pathlib import Path

PROGRAM = Path(__file__).with_name("ranks_program.py")
FEW = ["first order, adaptive points", "a Jacobian"]  # for many ranks on few cores


def test_2_3_and_8_ranks_give_the_bits_of_one_process(start_ranks):
    expected = _printed(start_ranks(1, PROGRAM, "process"))
    for count, names in ((2, expected), (3, expected), (8, FEW)):
        found = _printed(start_ranks(count, PROGRAM, "ranks", *names))
        assert found == {name: expected[name] for name in names}, count


def _printed(process):
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(out)
