"""The combinatorics of the chain and product rules, against counts that are known."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from autograd.jets.indices import chain_terms, closure, product_terms

BELL = [1, 1, 2, 5, 15, 52, 203, 877]  # OEIS A000110
STIRLING_OF_6 = {1: 1, 2: 31, 3: 90, 4: 65, 5: 15, 6: 1}  # OEIS A008277, row 6


@pytest.mark.parametrize("order", range(1, 8))
def test_the_terms_of_the_chain_rule_count_set_partitions(order):
    for index in [(0,) * order, tuple(range(order))]:
        assert sum(count for _, _, count in chain_terms(index)) == BELL[order]


def test_a_high_derivative_has_as_many_terms_as_its_order_has_partitions_and_no_more_work():
    # OEIS A000041, A002774, and the Bell number of 16: so many set partitions.
    terms = chain_terms((0,) * 16)
    assert len(terms) == 231 and sum(count for _, _, count in terms) == 10_480_142_147
    assert len(chain_terms((0,) * 6 + (1,) * 6)) == 1043


def test_a_derivative_whose_chain_rule_is_beyond_use_is_refused():
    with pytest.raises(ValueError, match="order 9 in 9 coordinates has more than 5000 terms"):
        chain_terms(tuple(range(9)))


def test_the_terms_with_m_factors_are_stirling_numbers():
    found = Counter()
    for m, blocks, count in chain_terms((0,) * 6):
        assert m == len(blocks)
        found[m] += count
    assert found == STIRLING_OF_6


def test_the_fourth_derivative_of_a_composition_is_the_textbook_one():
    # y4 = f4 x1^4 + 6 f3 x1^2 x2 + f2 (4 x1 x3 + 3 x2^2) + f1 x4
    one, two, three, four = ((0,) * n for n in range(1, 5))
    assert set(chain_terms(four)) == {
        (4, (one,) * 4, 1), (3, (one, one, two), 6), (2, (one, three), 4), (2, (two, two), 3),
        (1, (four,), 1),
    }  # fmt: skip


def test_every_term_holds_all_coordinates():
    index = (0, 0, 1, 2)
    for _, blocks, _ in chain_terms(index):
        assert Counter(c for block in blocks for c in block) == Counter(index)


@pytest.mark.parametrize("order", range(0, 7))
def test_leibniz_counts_are_binomials(order):
    terms = product_terms((0,) * order)
    assert {len(left): count for left, _, count in terms} == {
        k: math.comb(order, k) for k in range(order + 1)
    }
    assert sum(count for *_, count in product_terms(tuple(range(order)))) == 2**order


def test_leibniz_counts_of_a_mixed_derivative():
    counts = {(left, right): n for left, right, n in product_terms((0, 0, 1))}
    assert counts[(0,), (0, 1)] == 2 and counts[(0, 0), (1,)] == 1 and len(counts) == 6


def test_the_closure_holds_all_sub_indices_once_and_in_order():
    assert closure([(0, 0, 1)]) == ((0,), (1,), (0, 0), (0, 1), (0, 0, 1))
    assert closure([()]) == ()
    assert closure([(1,), (0,), (1,)]) == ((0,), (1,))
