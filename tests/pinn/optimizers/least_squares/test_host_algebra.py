"""Linear algebra on the host: shared out among ranks, with the bits of one."""

import json
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("algebra_program.py")
# What each matrix is made of, and whether ranks share that: the first ones are too small.
PARTS = {
    "kernels": [(3, False), (3, True), (10, True)],
    "triangles": [(2, False), (1, False), (2, True), (4, True)],
}
MOST = {("kernels", 2): 6, ("kernels", 3): 4, ("kernels", 8): 2,
        ("triangles", 2): 2, ("triangles", 3): 2, ("triangles", 8): 1}  # fmt: skip
"""Parts of the last one that a rank takes."""


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def told(start_ranks, known):
    """A function that returns what each of so many ranks made of the matrices."""

    def told(count, kind):
        if (count, kind) not in known:
            out, err = (process := start_ranks(count, PROGRAM, kind)).communicate(timeout=240)
            assert process.returncode == 0, err
            known[count, kind] = json.loads(out)
        return known[count, kind]

    return told


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("kind", ["kernels", "triangles"])
def test_ranks_share_out_matrices_with_the_bits_of_one(told, kind, count):
    (one,), many = told(1, kind), told(count, kind)
    for number, (digest, error, _) in enumerate(one):
        assert error < 1e-11
        assert {rank[number][0] for rank in many} == {digest}
        taken = [rank[number][2] for rank in many]
        parts, shared = PARTS[kind][number]
        assert sum(taken) == parts * (1 if shared else count)
    assert max(taken) == MOST[kind, count]


@pytest.mark.parametrize("count", [2, 3])
def test_memory_of_ranks_counts_what_they_exchange(told, count):
    for number, shape in enumerate([(120, 300), (301, 400), (1503, 1600), (2600, 450)]):
        most, said = zip(*(rank[number] for rank in told(count, "memory")), strict=True)
        assert max(most) < 1.03 * said[0]
        if shape[0] < shape[1]:  # J'J they share out, and each takes less
            assert min(most) > 0.97 * said[0]
