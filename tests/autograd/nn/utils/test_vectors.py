"""Parameters as a vector."""

import pytest

import autograd as T
from autograd import nn


def parameters():
    return [
        nn.Parameter(T.tensor([[1.0, 2.0], [3.0, 4.0]])),
        nn.Parameter(T.tensor(5.0)),
        nn.Parameter(T.tensor([6.0])),
    ]


def test_vector_round_trip_is_in_place():
    many = parameters()
    vector = nn.utils.parameters_to_vector(many)
    assert vector.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert vector.requires_grad
    arrays = [p._data for p in many]
    nn.utils.vector_to_parameters(vector.detach() * 2, many)
    assert many[0].tolist() == [[2.0, 4.0], [6.0, 8.0]] and many[1].item() == 10
    assert all(p._data is a for p, a in zip(many, arrays, strict=True))


def test_vector_of_another_size_is_refused_before_anything_is_written():
    many = parameters()
    with pytest.raises(ValueError, match=r"have 6 elements, the vector has shape \[7\]"):
        nn.utils.vector_to_parameters(T.zeros(7), many)
    assert many[1].item() == 5
