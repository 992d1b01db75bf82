"""The names of torch.autograd under autograd.autograd."""

import pytest

import autograd as T
import autograd.autograd as namespace


def test_row_048_grad_is_found_both_ways():
    from autograd import grad
    from autograd.autograd import grad as same

    assert grad is same
    x = T.tensor(3.0, requires_grad=True)
    assert namespace.grad(x * x, x)[0].item() == 6.0


@pytest.mark.parametrize("name", namespace.__all__)
def test_every_promised_name_is_there(name):
    assert hasattr(namespace, name)


def test_the_sub_namespaces_of_torch():
    assert namespace.function.Function is namespace.Function
    assert namespace.function.once_differentiable is namespace.once_differentiable
    assert namespace.graph.saved_tensors_hooks is namespace.saved_tensors_hooks
    assert callable(namespace.functional.jacobian)


def test_saved_tensors_hooks_see_what_is_saved():
    x = T.tensor([2.0], requires_grad=True)
    seen = []

    def pack(tensor):
        seen.append(tensor.tolist())
        return tensor.numpy() * 10

    with namespace.graph.saved_tensors_hooks(pack, lambda kept: T.tensor(kept)):
        y = x * x
    y.backward()
    assert seen == [[2.0], [2.0]] and x.grad.tolist() == [40.0]
