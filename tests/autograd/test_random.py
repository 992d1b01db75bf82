"""Generators: seeds, exact states, independence."""

import numpy as np
import pytest

import autograd as T
from autograd import random as R
from autograd.ops.creation.create import rand, randint, randn, randperm


def test_a_seed_fixes_the_stream():
    first = rand(4, generator=R.Generator().manual_seed(3))
    assert first.tolist() == rand(4, generator=R.Generator().manual_seed(3)).tolist()
    assert first.tolist() != rand(4, generator=R.Generator().manual_seed(4)).tolist()
    expected = np.random.Generator(np.random.PCG64(3)).random(4, dtype=np.float32)
    assert first.numpy().tolist() == expected.tolist()


def test_manual_seed_of_the_default_stream():
    generator = R.manual_seed(1)
    assert generator is R.default_generator and R.initial_seed() == 1
    first = randn(3).tolist()
    R.manual_seed(1)
    assert randn(3).tolist() == first


def test_states_continue_exactly_also_between_halves_of_a_draw():
    generator = R.Generator().manual_seed(7)
    rand(3, generator=generator)  # an odd number of 32-bit draws leaves half of one behind
    state = generator.get_state()
    assert state.dtype == T.uint8 and state.ndim == 1
    after = [rand(5, generator=generator).tolist(), randint(9, (5,), generator=generator).tolist()]
    other = R.Generator().set_state(T.tensor(state.numpy()))
    again = [rand(5, generator=other).tolist(), randint(9, (5,), generator=other).tolist()]
    assert after == again and other.initial_seed() == 7
    generator.set_state(state)
    assert rand(5, generator=generator).tolist() == after[0]
    twin = generator.clone_state()
    assert randperm(9, generator=twin).tolist() == randperm(9, generator=generator).tolist()


def test_the_default_state_can_be_kept_and_put_back():
    before = R.get_rng_state()
    first = rand(3).tolist()
    R.set_rng_state(before)
    with R.fork_rng():
        rand(10)
    assert rand(3).tolist() == first


def test_seeds_of_the_system_differ():
    assert R.Generator().initial_seed() != R.Generator().initial_seed()
    generator = R.Generator()
    assert generator.seed() == generator.initial_seed()
    R.seed()
    assert R.initial_seed() == R.default_generator.initial_seed()


def test_seeds_wrap_around_and_are_checked():
    a, b = R.Generator().manual_seed(-1), R.Generator().manual_seed(2**64 - 1)
    assert rand(2, generator=a).tolist() == rand(2, generator=b).tolist()
    with pytest.raises(RuntimeError, match="a seed lies in"):
        R.Generator().manual_seed(2**64)
    with pytest.raises(AttributeError):
        R.Generator().manual_seed(1.5)


def test_foreign_states_are_refused():
    with pytest.raises(TypeError, match="uint8 Tensor"):
        R.Generator().set_state([1])
    with pytest.raises(ValueError, match="wrong size"):
        R.Generator().set_state(T.zeros(3))


def test_repr_names_device_and_seed():
    assert repr(R.Generator().manual_seed(3)) == "<Generator device=cpu initial_seed=3>"
