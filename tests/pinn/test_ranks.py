"""Runs that several ranks share: the bits of one process, whatever their number."""

import json
from pathlib import Path

PROGRAM = Path(__file__).with_name("ranks_program.py")


def test_2_3_and_8_ranks_give_the_bits_of_one_process(start_ranks):
    expected = _printed(start_ranks(1, PROGRAM, "process"))
    for count in (2, 3, 8):
        found = _printed(start_ranks(count, PROGRAM, "ranks"))
        assert found.keys() == expected.keys()
        for name, outcome in expected.items():
            assert found[name] == outcome, (count, name)


def _printed(process):
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(out)
