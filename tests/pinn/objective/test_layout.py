"""The layout of theta: which of its numbers are matrices, other tensors and coefficients."""

import numpy as np

import pinn
from pinn.objective import Layout
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"diffusion": "a*u_xx - k*u"}, [pinn.Dirichlet("u", 1)],
    parameters=[pinn.Parameter("k", 2.0)], fields=[pinn.Field("a", ["x"], pinn.MLP(2, 1))],
)  # fmt: skip


def layout():
    setup = Experiment(PROBLEM, pinn.MLP(width=3, depth=2), pinn.Sampling(interior=5))
    objective = setup.objective()
    return objective, objective.layout


def test_the_parts_lie_one_after_the_other_and_are_the_tensors():
    objective, found = layout()
    assert found.size == objective.size
    ends = [part.place.stop for part in found.parts]
    assert [part.place.start for part in found.parts] == [0, *ends[:-1]]
    for part, tensor in zip(found.parts, objective.parameters.tensors, strict=True):
        np.testing.assert_array_equal(part.of(objective.theta), tensor.detach().numpy())


def test_matrices_are_the_weights_of_layers_of_all_networks():
    _, found = layout()
    assert {part.name: part.shape for part in found.matrices} == {
        "model.weight0": (3, 1), "model.weight1": (3, 3), "model.weight2": (1, 3),
        "a.weight0": (2, 1), "a.weight1": (1, 2),
    }  # fmt: skip


def test_coefficients_are_no_numbers_of_a_network():
    _, found = layout()
    assert np.flatnonzero(~found.networks).tolist() == [found["k"].place.start]
    assert [part.name for part in found.parts if part.is_coefficient] == ["k"]


def test_a_part_of_a_vector_is_a_view_of_it():
    found = Layout.of([("a", (2, 3), False), ("b", (), True), ("c", (4,), False)])
    vector = np.arange(11.0)
    found["a"].of(vector)[1, 2] = -1.0
    assert vector.tolist() == [0, 1, 2, 3, 4, -1, 6, 7, 8, 9, 10]
    assert found["b"].of(vector) == 6.0
    assert found.mask([found["a"], found["b"]]).tolist() == [True] * 7 + [False] * 4


def test_a_vector_of_which_nothing_is_known_is_one_tensor():
    found = Layout.of_vector(4)
    assert (found.size, found.matrices) == (4, ())
    assert found.networks.all()


def test_a_vector_is_taken_apart_into_matrices_of_a_shape_and_put_together_again():
    layout = Layout.of([
        ("model.weight0", (3, 2), False), ("model.bias0", (3,), False),
        ("model.weight1", (3, 3), False), ("model.weight2", (3, 3), False),
        ("model.weight3", (1, 3), False), ("k", (), True),
    ])  # fmt: skip
    vector = np.random.default_rng(0).standard_normal(layout.size)
    for stacked, count in ((layout.stacked, 3), (layout.broad, 2)):
        rest, stacks = stacked.of(vector)
        assert [stack.shape for stack in stacks] == list(stacked.shapes) and len(stacks) == count
        np.testing.assert_array_equal(stacks[0][0], layout["model.weight0"].of(vector))
        np.testing.assert_array_equal(stacks[1][1], layout["model.weight2"].of(vector))
        np.testing.assert_array_equal(rest, vector[stacked.apart])
        np.testing.assert_array_equal(stacked.together(rest, stacks), vector)
        for within, stack in zip(stacked.within, stacks, strict=True):
            np.testing.assert_array_equal(vector[stacked.taken][within], stack)
    assert layout.broad.rest.size == 3 + 3 + 1


def test_places_lie_where_vectors_do():
    layout = Layout.of([("model.weight0", (2, 2), False), ("k", (), True)])
    there = layout.placed(np.ndarray.tolist)
    assert there.weights == [True] * 4 + [False] and there.stacked.rest == [4]
    assert there == layout and type(layout.weights) is np.ndarray
