"""What numpy does and cupy does not: the strict test device refuses it, too."""

from __future__ import annotations

import numpy as np
import pytest

from autograd.strict import StrictArray, missing, strict_cuda


@pytest.fixture
def backend():
    with strict_cuda() as found:
        yield found


def there(*shape):
    return StrictArray(np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape))


def test_ufuncs_take_a_place_a_dtype_and_a_rule_of_casting_alone(backend):
    x, xp = there(3), backend.xp
    xp.add(x, x, out=there(3), casting="same_kind")
    for call in (
        lambda: xp.add(x, x, where=x > 1), lambda: np.add(x, x, where=x > 1),
        lambda: xp.sqrt(x, order="C"), lambda: backend.load_special().erf(x, where=x > 1),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="Wrong arguments"):
            call()


def test_few_ufuncs_have_methods(backend):
    x = there(3)
    assert np.add.reduce(x).item() == 6.0
    for call in (
        lambda: np.maximum.reduce(x), lambda: np.subtract.accumulate(x),
        lambda: np.multiply.at(x, there(1) > 0, 2.0),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match="is not supported yet"):
            call()


def test_names_that_cupy_has_not_are_not_there(backend):
    for owner, name in (
        (there(3), "ctypes"), (there(3), "setflags"), (there(3).flags, "writeable"),
        (backend.xp, "vecdot"), (backend.xp.linalg, "multi_dot"), (backend.xp.multiply, "at"),
    ):  # fmt: skip
        assert not hasattr(owner, name)


def test_flags_are_those_of_the_memory():
    x = there(2, 3)
    assert x.flags.c_contiguous and not x.T.flags.c_contiguous
    assert x.T.flags.fnc and x.T.flags.f_contiguous and not x.flags.fnc


def test_only_an_array_of_no_dimension_is_a_number():
    x = there(1)
    assert float(x[0]) == int(x[0]) == x.item() == 1.0 and bool(x)
    for number in (float, int):
        with pytest.raises(TypeError, match="only 0-dimensional arrays"):
            number(x)
    with pytest.raises(TypeError):
        x.item(0)


def test_views_may_be_written_to(backend):
    x = there(2, 2)
    x.diagonal()[...] = 0.0
    backend.xp.broadcast_to(x, (3, 2, 2))[0] = x + 1
    assert backend.to_host(x).tolist() == [[1.0, 3.0], [4.0, 1.0]]


@pytest.mark.parametrize("dtype", [np.complex128, np.bool_, np.int16])
def test_what_no_gpu_adds_in_place_is_refused(backend, dtype):
    to, places = StrictArray(np.zeros(3, dtype)), StrictArray(np.array([0, 0]))
    with pytest.raises(TypeError, match=r"cupy\.add\.at only supports"):
        backend.scatter_add(to, places, to[:2])


def test_stacks_of_equations_are_not_broadcast(backend):
    solve = backend.xp.linalg.solve
    assert solve(there(2, 2), there(2)).shape == (2,)
    with pytest.raises(ValueError, match="a must have"):
        solve(backend.xp.broadcast_to(there(2, 2), (3, 2, 2)), there(2, 1))


def test_what_is_missing_is_missing_from_cupy_where_that_is_installed():
    cupy = pytest.importorskip("cupy")
    modules = {"numpy": cupy, "numpy.linalg": cupy.linalg}
    there = {
        f"{module}.{name}" for module, names in missing.OF_MODULES.items() for name in names
        if hasattr(modules[module], name)
    }  # fmt: skip
    assert not there | {name for name in missing.OF_ARRAYS if hasattr(cupy.ndarray, name)}
