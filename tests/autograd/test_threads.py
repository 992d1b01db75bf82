"""How many threads products take: what the BLAS is told while one runs, and what it is told after.

A library that only keeps its number stands for BLAS where one with several threads is needed: the
machine of the tests may have one core.
"""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import autograd as T
from autograd import threads
from autograd.threads import Blas, one_blas_thread, one_thread_everywhere


class Library(Blas):
    """A BLAS with a number of threads and nothing else."""

    __slots__ = ("number", "told")

    def __init__(self, number):
        super().__init__(lambda: self.number, self.tell)
        self.number = number
        self.told = []

    def tell(self, number):
        self.number = number
        self.told.append(number)


@pytest.fixture
def library(monkeypatch):
    library = Library(8)
    monkeypatch.setattr(threads, "numpy_libraries", lambda: (library,))
    monkeypatch.setattr(threads, "_libraries", {"libopenblas": library})
    monkeypatch.setattr(threads, "_chosen", None)
    return library


@pytest.fixture
def products(monkeypatch, library):
    """The number of threads that each product of numpy ran with."""
    found = []
    matmul = np.matmul

    def noting(*args, **kwargs):
        found.append(library.number)
        return matmul(*args, **kwargs)

    monkeypatch.setattr(np, "matmul", noting)
    return found


def ones(*shape):
    return T.ones(*shape, dtype=T.float64)


def test_a_small_product_takes_one_thread_and_gives_the_others_back(products, library):
    x, w = ones(2000, 20), ones(20, 20)
    T.nn.functional.linear(x, w, None)
    (x @ w).sum()
    T.einsum("ni,ij->nj", x, w)
    assert products == [1, 1, 1]
    assert library.number == 8


def test_a_tiny_product_is_left_to_blas_which_takes_one_thread_for_it(products, library):
    x, w = ones(200, 20), ones(20, 20)
    _ = x @ w
    _ = ones(64, 64) @ ones(64, 64)
    _ = x @ ones(20, 1), x @ ones(20), ones(20) @ w
    assert set(products) == {8}
    assert library.told == []


def test_a_matrix_and_a_vector_are_not_tiny_for_long(products, library):
    """BLAS divides their product among threads when it is an eighth of a product of matrices."""
    x = ones(64, 200)
    _ = x @ ones(200, 1), x @ ones(200), ones(64) @ x, ones(1, 64) @ x
    assert products == [1, 1, 1, 1]


def test_a_large_product_takes_them_all(products, library):
    side = 1 << 9
    _ = ones(side, side) @ ones(side, 2)
    _ = T.zeros(side, side, dtype=T.float64) @ ones(side, side)
    assert products == [1, 8]
    assert library.told == [1, 8]


def test_many_small_matrices_are_many_small_products(products):
    _ = ones(40_000, 8, 8) @ ones(40_000, 8, 8)  # together more than one that takes all threads
    assert products == [1]


def test_the_gradient_of_a_product_takes_one_thread_too(products):
    w = ones(20, 20).requires_grad_()
    T.nn.functional.linear(ones(3000, 20), w, None).sum().backward()
    assert products == [1, 1]


def test_a_library_of_one_thread_is_told_nothing(products, library):
    library.number = 1
    _ = ones(300, 300) @ ones(300, 3)
    assert products == [1] and library.told == []


def test_a_product_where_blas_has_one_thread_already_holds_nothing(library, monkeypatch):
    monkeypatch.setattr(threads, "_hold", lambda libraries: pytest.fail("held"))
    library.number = 1
    _ = ones(300, 300) @ ones(300, 3)


def test_a_product_that_fails_gives_the_threads_back(library, monkeypatch):
    def failing(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(np, "matmul", failing)
    with pytest.raises(MemoryError):
        ones(300, 300) @ ones(300, 3)
    assert library.number == 8 and library.users == 0


def test_holds_nest(library):
    with one_blas_thread():
        with one_blas_thread():
            assert library.number == 1
        assert library.number == 1
    assert library.number == 8


def test_holds_of_several_threads_overlap(library):
    """The first to come is the first to go: the last one gives back what the first one found."""
    inside, leave = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(10)
    with one_blas_thread():
        leave.set()
        thread.join(10)
        assert library.number == 1  # still held
    assert library.number == 8


def test_holds_in_many_threads_at_once_end_where_they_began(library):
    def often():
        for _ in range(200):
            with one_blas_thread():
                assert library.number == 1

    runners = [threading.Thread(target=often) for _ in range(8)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert library.number == 8 and library.users == 0


def test_a_forked_child_starts_with_the_usual_number(library):
    """The thread that held the library is not there in the child to let it go."""
    holding = threads._hold((library,))
    try:
        threads._start_anew()
        assert library.number == 8 and library.users == 0
    finally:
        threads._let_go((library,), holding)
    assert library.number == 8 and library.users == 0
    with one_blas_thread():
        assert library.number == 1
    assert library.number == 8


# ---- what users choose


def test_the_number_that_was_set_is_the_number_there_is(library, products):
    T.set_num_threads(3)
    assert T.get_num_threads() == 3 and library.number == 3
    _ = ones(512, 512) @ ones(512, 512)
    assert products == [3]


def test_a_number_set_while_the_library_is_held_counts_from_the_end(library):
    with one_blas_thread():
        assert T.get_num_threads() == 8
        T.set_num_threads(4)
        assert library.number == 1 and T.get_num_threads() == 4
    assert library.number == 4


@pytest.mark.parametrize("count", [0, -1])
def test_a_number_that_is_not_positive_is_refused(count):
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        T.set_num_threads(count)


@pytest.mark.parametrize("count", ["a", 1.5, True, None])
def test_what_is_no_int_is_refused(count):
    match = f"set_num_threads expects an int, but got {type(count).__name__}"
    with pytest.raises(RuntimeError, match=match):
        T.set_num_threads(count)


def test_a_number_beyond_32_bits_is_refused():
    with pytest.raises(ValueError, match="overflow"):
        T.set_num_threads(1 << 40)


# ---- the libraries that are there


def numbers():
    import threadpoolctl

    return [one["num_threads"] for one in threadpoolctl.threadpool_info()
            if one["user_api"] == "blas"]  # fmt: skip


def test_every_loaded_library_is_held():
    import scipy.linalg  # noqa: F401

    before = numbers()
    with one_thread_everywhere():
        assert set(numbers()) <= {1}
    assert numbers() == before


def test_the_real_library_does_what_it_is_told():
    libraries = threads.numpy_libraries()
    if not libraries:
        pytest.skip("no BLAS that can be told a number of threads")
    before = T.get_num_threads()
    try:
        T.set_num_threads(2)
        assert 1 <= T.get_num_threads() <= 2
        T.set_num_threads(1)
        assert T.get_num_threads() == 1 and set(n.get() for n in libraries) == {1}
    finally:
        threads._chosen = None
        for library in libraries:
            library.put(before)
    assert T.get_num_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_product_in_a_forked_child_ends():
    """The lock that guards the holds may be taken by another thread at the time of the fork."""
    before = numbers()
    threads._lock.acquire()
    try:
        child = os.fork()
        if not child:
            result = (ones(3, 3) @ ones(3, 3)).sum().item()
            os._exit(0 if result == 27 and numbers() == before else 1)
    finally:
        threads._lock.release()
    _, status = os.waitpid(child, 0)
    assert status == 0
