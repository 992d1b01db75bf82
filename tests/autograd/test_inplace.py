"""Writing into expanded tensors, and over results that a derivative needs."""

import math

import numpy as np
import pytest

import autograd as T

SHARED = "more than one element of the written-to tensor"


def zeros(*shape):
    return T.zeros(*shape, dtype=T.float64)


@pytest.mark.parametrize(
    "view",
    [
        lambda b: b.expand(2, 3),
        lambda b: b.expand(-1, 3),
        lambda b: b.expand(1, 2, 3),
        lambda b: b.broadcast_to((2, 3)),
        lambda b: b.expand_as(b),
        lambda b: b.expand(2, 3)[1],
        lambda b: T.broadcast_tensors(b, zeros(2, 3))[0],
        lambda b: b.expand(2, 3).detach(),
        lambda b: b.expand(0, 2, 3),
    ],
)
def test_an_expansion_that_repeats_nothing_is_written_into(view):
    base = zeros(2, 3)
    expanded = view(base)
    expanded.add_(2)
    expanded[...] = expanded * 3
    assert (expanded.numpy() == 6).all()
    assert base.sum().item() == 6 * expanded.numel()


def test_single_elements_of_an_expanded_tensor_are_written_for_all():
    base = zeros(1, 2)
    expanded = base.expand(3, 2)
    expanded[1] = T.tensor([1.0, 2.0])
    assert expanded.tolist() == [[1, 2]] * 3
    expanded[1:2, 0] = 7.0
    expanded[0][1].fill_(8.0)
    assert base.tolist() == [[7, 8]]
    expanded[T.tensor([0, 2])] = 3.0
    assert base.tolist() == [[3, 3]]
    base.copy_(T.tensor([[0.0, 5.0]]))
    expanded[expanded == 0] = 4.0
    assert base.tolist() == [[4, 5]]
    version = base._version[0]
    expanded.fill_(1.0)
    assert base.tolist() == [[1, 1]] and base._version[0] > version
    expanded.zero_()
    assert base.tolist() == [[0, 0]]


@pytest.mark.parametrize(
    "write",
    [
        lambda e: e.add_(1),
        lambda e: e.mul_(2),
        lambda e: e.copy_(T.ones(3, 2)),
        lambda e: e.__setitem__(slice(None), 1.0),
        lambda e: e.__setitem__((slice(1, 3), 0), 1.0),
        lambda e: e.__iadd__(T.ones(3, 2)),
    ],
)
def test_shared_elements_are_not_written_twice(write):
    with pytest.raises(RuntimeError, match=SHARED):
        write(zeros(1, 2).expand(3, 2))


def test_positions_of_an_expanded_tensor_are_not_recorded():
    u = T.ones(1, 2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=SHARED):
        u.expand(3, 2)[T.tensor([0, 1])] = 1.0


def test_gradients_of_writes_into_expanded_tensors():
    def fn(x, y):
        u = x * x
        u.expand(2, 2)[0, 1] = y * 3  # u[1], seen from both rows
        v = (x * y).expand(2)
        v.mul_(x)
        return (u.expand(2, 2) ** 2).sum() * v

    def twin(x, y):
        u = T.stack([x[0] * x[0], y * 3])
        return 2 * (u * u).sum() * (x * y * x)

    x = T.tensor(np.array([0.7, -1.2]), requires_grad=True)
    y = T.tensor(0.4, dtype=T.float64, requires_grad=True)
    found, expected = fn(x, y), twin(x, y)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    for a, b in zip(T.grad(found.sum(), (x, y)), T.grad(expected.sum(), (x, y)), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-14)
    assert T.gradcheck(fn, (x, y), order=2)


def test_filling_an_expanded_tensor_cuts_its_base_off():
    x = T.tensor(np.array([2.0]), requires_grad=True)
    u = x * 3
    u.expand(4).fill_(5.0)
    (g,) = T.grad((u * x).sum(), x)
    assert (u.item(), g.item()) == (5.0, 5.0)


def test_memory_that_was_given_read_only_is_not_written():
    array = np.zeros(3)
    array.setflags(write=False)
    for tensor in (T.from_numpy(array), T.from_numpy(array).expand(3)):
        with pytest.raises(RuntimeError, match="read-only"):
            tensor.add_(1)


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (T.sin, math.cos, lambda v: -math.sin(v)),
        (T.cos, lambda v: -math.sin(v), lambda v: -math.cos(v)),
        (T.sinh, math.cosh, math.sinh),
        (T.cosh, math.sinh, math.cosh),
    ],
)
def test_a_result_that_its_input_gives_again_may_be_overwritten(function, first, second):
    x = T.tensor(np.array([0.5]), requires_grad=True)
    y = function(x)
    y.mul_(2)
    (g,) = T.grad(y, x, create_graph=True)
    (h,) = T.grad(g, x)
    assert g.item() == pytest.approx(2 * first(0.5), rel=1e-15)
    assert h.item() == pytest.approx(2 * second(0.5), rel=1e-15)


def test_an_input_that_was_overwritten_is_still_missed():
    x = T.tensor(np.array([0.5]), requires_grad=True)
    u = x * 1
    y = u.sin()
    u.mul_(2)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        T.grad(y, x)


NAMES = {
    "abs": (), "ceil": (), "clamp_max": (1.0,), "clamp_min": (1.0,), "cos": (), "cosh": (),
    "exp": (), "expm1": (), "floor": (), "log": (), "log1p": (), "neg": (), "pow": (2.5,),
    "reciprocal": (), "relu": (), "remainder": (0.3,), "round": (), "rsqrt": (), "sigmoid": (),
    "sign": (), "sin": (), "sinh": (), "sqrt": (), "square": (), "tan": (), "tanh": (), "trunc": (),
    "addcdiv": (T.tensor([1.0, 2.0]), T.tensor(3.0)),
    "addcmul": (T.tensor([1.0, 2.0]), T.tensor(3.0)),
    "floor_divide": (0.3,), "index_add": (0, T.tensor([1]), T.ones(1, 2)),
    "lerp": (T.zeros(2), 0.3), "masked_fill": (T.tensor([True, False]), 7.0),
    "scatter": (1, T.tensor([[0], [1]]), 7.0),
    "scatter_add": (1, T.tensor([[0], [1]]), T.ones(2, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_in_place_gives_what_its_twin_does(name):
    args = [
        a.double() if isinstance(a, T.Tensor) and a.is_floating_point() else a for a in NAMES[name]
    ]
    x = T.tensor([[0.4, 0.7], [1.2, 1.9]], dtype=T.float64, requires_grad=True)
    expected = getattr(x * 1, name)(*args)
    y, base = x * 1, x * 1
    assert getattr(y, f"{name}_")(*args) is y
    getattr(base[:], f"{name}_")(*args)
    (slope,) = T.grad(expected.exp().sum(), x)
    for found in (y, base):
        assert found.tolist() == expected.tolist()
        (g,) = T.grad(found.exp().sum(), x)
        np.testing.assert_allclose(g.numpy(), slope.numpy(), rtol=1e-14)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        getattr(x, f"{name}_")(*args)


def test_random_numbers_in_place():
    def seed():
        return T.Generator().manual_seed(3)

    x = zeros(200, 300)
    assert x.uniform_(-2, 5, generator=seed()) is x
    assert x.min().item() >= -2 and x.max().item() < 5 and abs(x.mean().item() - 1.5) < 0.05
    twin = T.nn.init.uniform_(zeros(200, 300), -2, 5, seed())
    np.testing.assert_allclose(x.numpy(), twin.numpy(), rtol=1e-15)
    x.normal_(2, 3, generator=seed())
    assert abs(x.mean().item() - 2) < 0.1 and abs(x.std().item() - 3) < 0.1
    np.testing.assert_array_equal(
        x.numpy(), T.normal(2, 3, (200, 300), dtype=T.float64, generator=seed()).numpy()
    )
    T.manual_seed(1)
    a = T.zeros(3).uniform_()
    T.manual_seed(1)
    assert a.tolist() == T.rand(3).tolist() and a.dtype == T.float32


def test_random_numbers_are_written_into_leaves_without_recording_alone():
    w = T.nn.Linear(3, 4).weight
    state = T.get_rng_state()
    for fill in (w.uniform_, w.normal_, w[0].uniform_):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            fill()
    assert state.tolist() == T.get_rng_state().tolist()
    version = w._version[0]
    with T.no_grad():
        w.uniform_(-0.1, 0.1)
    assert w.is_leaf and w.requires_grad and abs(w).max().item() <= 0.1 and w._version[0] > version
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.normal_()
    assert T.grad((y * y).sum(), x)[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.zeros(2).uniform_(1, 0), r"\[from, to\) range, but found from=1 > to=0"),
        (lambda: T.zeros(2).normal_(0, -1), "std >= 0.0, but found std -1"),
        (lambda: T.zeros(2).long().uniform_(), "floating point"),
        (lambda: T.zeros(2).long().normal_(), "floating point"),
        (lambda: T.zeros(2).expand(3, 2).uniform_(), SHARED),
        (lambda: T.tensor([1]).exp_(), "can't be cast"),
    ],
)
def test_what_cannot_be_written_in_place_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


# ---- the forms in place of more operations

TWINS = {
    "acos_": (), "addmm_": ("square", "square"), "addr_": ("row", "row"), "arctan_": (),
    "atan2_": ("square",), "copysign_": ("square",), "cumprod_": (0,), "cumsum_": (1,),
    "deg2rad_": (), "digamma_": (), "divide_": (2.0,), "erf_": (), "erfinv_": (), "eq_": (0.5,),
    "exp2_": (), "fmod_": (0.3,), "frac_": (), "greater_": (0.5,), "heaviside_": ("square",),
    "hypot_": ("square",), "i0_": (), "ldexp_": ("square",), "lgamma_": (), "log2_": (),
    "logical_not_": (), "logit_": (0.1,), "lt_": (0.5,), "multiply_": ("square",),
    "negative_": (), "nextafter_": ("square",), "rad2deg_": (), "sgn_": (), "sinc_": (),
    "subtract_": (1.0,), "tril_": (), "triu_": (1,), "xlogy_": ("square",),
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_the_form_in_place_is_its_twin_in_value_and_gradient(name):
    values = np.random.default_rng(0).uniform(0.2, 0.8, (3, 3))
    other = {"square": T.tensor(values.T.copy()), "row": T.tensor(values[0].copy())}
    arguments = [other[a] if isinstance(a, str) else a for a in TWINS[name]]
    x, y = T.tensor(values, requires_grad=True), T.tensor(values, requires_grad=True)
    twin = getattr(T.Tensor, name.rstrip("_"), None) or getattr(T, name.rstrip("_"))
    expected = twin(x * 1.0, *arguments)
    clone = y * 1.0
    assert getattr(clone, name)(*arguments) is clone
    np.testing.assert_array_equal(clone.detach().numpy(), expected.detach().numpy() * 1.0)
    if expected.requires_grad:
        (T.arange(9.0).reshape(3, 3) * expected).sum().backward()
        (T.arange(9.0).reshape(3, 3) * clone).sum().backward()
        np.testing.assert_allclose(y.grad.numpy(), x.grad.numpy(), rtol=1e-15)


def test_draws_in_place():
    T.manual_seed(0)
    x = T.empty(8000).exponential_(4.0)
    assert x.mean().item() == pytest.approx(0.25, rel=0.05) and (x >= 0).all()
    assert T.empty(8000).bernoulli_(0.3).mean().item() == pytest.approx(0.3, abs=0.03)
    assert T.empty(2).bernoulli_(T.tensor([0.0, 1.0])).tolist() == [0.0, 1.0]
    with pytest.raises(RuntimeError, match="expects lambda > 0.0, but found lambda=0"):
        T.empty(2).exponential_(0)


def test_diagonals_are_filled_in_place():
    x = T.zeros(4, 3)
    assert x.fill_diagonal_(2.0) is x and x.sum().item() == 6.0
    assert T.zeros(2, 2, 2).fill_diagonal_(1.0).sum().item() == 2.0
    with pytest.raises(RuntimeError, match="2 dimensions, or more of equal length"):
        T.zeros(2, 2, 3).fill_diagonal_(1.0)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 6), (6, 2), (7, 2), (4, 1), (3, 0)])
def test_a_diagonal_goes_on_below_itself_where_it_is_to_wrap(shape, wrap):
    expected = np.zeros(shape)
    if expected.size:
        np.fill_diagonal(expected, 1.0, wrap)
    assert T.zeros(*shape).fill_diagonal_(1.0, wrap).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("dtype", "most"),
    [(T.float16, 2**11), (T.float32, 2**24), (T.float64, 2**53), (T.uint8, 255), (T.int8, 127),
     (T.int64, 2**63 - 1), (T.bool, 1)],
    ids=str,
)  # fmt: skip
def test_random_fills_with_whole_numbers_up_to_the_largest(dtype, most):
    T.manual_seed(0)
    x = T.zeros(4000, dtype=dtype)
    assert x.random_() is x
    found = x.numpy().astype(np.float64)
    assert found.min() >= 0 and 0.99 * most <= found.max() <= most
    np.testing.assert_array_equal(found, np.round(found))


def test_random_takes_one_bound_or_two():
    T.manual_seed(0)
    x = T.zeros(200)
    assert set(x.random_(3).tolist()) == {0.0, 1.0, 2.0}
    assert set(x.random_(-1, 2).tolist()) == {-1.0, 0.0, 1.0}
    again = T.zeros(200).random_(-5, 5, generator=T.Generator().manual_seed(1))
    assert again.tolist() == x.random_(-5, 5, generator=T.Generator().manual_seed(1)).tolist()
    with pytest.raises(RuntimeError, match="'from' to be less than 'to'"):
        x.random_(4, 4)
    for low, high in ((0, 300), (-1, 5)):
        with pytest.raises(RuntimeError, match=r"must lie in \[0, 255\]"):
            T.zeros(2, dtype=T.uint8).random_(low, high)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        T.zeros(2, requires_grad=True).random_()
    with pytest.raises(RuntimeError, match="complex"):
        T.zeros(2, dtype=T.complex64).random_()
