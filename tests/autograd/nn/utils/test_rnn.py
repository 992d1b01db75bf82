"""Sequences of different lengths in one tensor."""

import pytest

import autograd as T
from autograd.nn.utils.rnn import pad_sequence, unpad_sequence


def test_shorter_sequences_are_filled_up():
    a, b = T.tensor([1.0, 2.0, 3.0], requires_grad=True), T.tensor([4.0])
    assert pad_sequence([a, b]).tolist() == [[1, 4], [2, 0], [3, 0]]
    rows = pad_sequence([a, b], batch_first=True, padding_value=9.0)
    assert rows.tolist() == [[1, 2, 3], [4, 9, 9]]
    left = pad_sequence([a, b], True, padding_side="left")
    assert left.tolist() == [[1, 2, 3], [0, 0, 4]]
    (found,) = T.grad((rows * rows).sum(), a)
    assert found.tolist() == [2, 4, 6]
    lengths = T.tensor([3, 1])
    for batch_first in (True, False):
        padded = pad_sequence([a, b], batch_first)
        again = unpad_sequence(padded, lengths, batch_first)
        assert [one.tolist() for one in again] == [a.tolist(), b.tolist()]


def test_sequences_that_differ_in_more_are_refused():
    with pytest.raises(RuntimeError, match=r"got .\[2, 3\], \[2, 4\]"):
        pad_sequence([T.ones(2, 3), T.ones(2, 4)])
    with pytest.raises(RuntimeError, match="'right' or 'left'"):
        pad_sequence([T.ones(2)], padding_side="top")
