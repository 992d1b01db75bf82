"""Where ranks of MPI meet: real processes, of which one fails or is to end."""

import pytest


@pytest.mark.parametrize("number", [0, 2])
def test_a_rank_that_fails_ends_the_others_with_its_sentence(told, number):
    found = told(3, "failing", number)
    for rank, (said, then) in enumerate(found):
        assert then == "again"
        failed = f"RankFailed: rank {number} of 3 failed: ValueError: a page is missing"
        assert said == ("ValueError: a page is missing" if rank == number else failed)


def test_what_rank_0_raises_when_asked_ends_all(told):
    (first, _), *others = told(2, "failing_callback")
    assert first == "ArithmeticError: no room"
    assert others == [["RankFailed: rank 0 of 2 failed: ArithmeticError: no room", "again"]]


def test_an_interruption_of_rank_0_is_that_of_all(told):
    assert told(3, "interrupted") == [["KeyboardInterrupt: ", "again"]] * 3


def test_ranks_that_hold_other_numbers_are_told_apart(told):
    for said, _ in told(3, "unlike"):
        assert said.startswith("RankFailed: rank 2 of 3 holds other numbers than rank 0")
