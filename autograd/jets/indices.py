"""Multi-indices and the combinatorics of higher chain and product rules.

A multi-index is a sorted tuple of coordinate numbers: `()` is the function itself, `(0, 0)` the
second derivative in coordinate 0, `(0, 1)` the mixed one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

Index = tuple[int, ...]

MOST_TERMS = 5000
"""Terms that the chain rule may have for one derivative; order 8 in 8 coordinates has 4140."""


def closure(indices: Iterable[Index]) -> tuple[Index, ...]:
    """Return all non-empty sub-indices of `indices`, by order, then lexicographically."""
    found: set[Index] = set()
    for index in indices:
        found.update(_subindices(index))
    found.discard(())
    return tuple(sorted(found, key=lambda index: (len(index), index)))


@cache
def _subindices(index: Index) -> frozenset[Index]:
    subs: set[Index] = {()}
    for coordinate in index:
        subs |= {tuple(sorted((*sub, coordinate))) for sub in subs}
    return frozenset(subs)


@cache
def chain_terms(index: Index) -> tuple[tuple[int, tuple[Index, ...], int], ...]:
    """Return Faa di Bruno's terms for the derivative `index` of f(x).

    Each term `(m, (b1, ..., bm), count)` stands for `count * f^(m) * x_b1 * ... * x_bm`: the set
    partitions of the positions of `index`, collected (Hardy, Electronic J. Combin. 13, 2006, R1).
    They come from those of one derivative less, so that equal ones are never told apart: of the
    twelfth derivative there are 77, and 4 213 597 partitions. ValueError where there are more than
    MOST_TERMS.
    """
    counts: Counter[tuple[Index, ...]] = Counter({(): 1})
    if index:
        counts.clear()
        last = index[-1]
        for _, blocks, count in chain_terms(index[:-1]):
            counts[tuple(sorted((*blocks, (last,))))] += count
            for k, block in enumerate(blocks):
                counts[tuple(sorted((*blocks[:k], (*block, last), *blocks[k + 1 :])))] += count
    if len(counts) > MOST_TERMS:
        raise ValueError(
            f"the chain rule of a derivative of order {len(index)} in {len(set(index))} "
            f"coordinates has more than {MOST_TERMS} terms; lower its order, or introduce an "
            "unknown for a derivative of lower order"
        )
    ordered = sorted(counts.items(), key=lambda item: (len(item[0]), item[0]))
    return tuple((len(blocks), blocks, count) for blocks, count in ordered)


@cache
def product_terms(index: Index) -> tuple[tuple[Index, Index, int], ...]:
    """Return Leibniz' terms `(b, c, count)`: the derivative `index` of x*y sums count x_b y_c."""
    counts: Counter[tuple[Index, Index]] = Counter({((), ()): 1})
    for coordinate in index:
        before, counts = counts, Counter()
        for (left, right), count in before.items():
            counts[(*left, coordinate), right] += count
            counts[left, (*right, coordinate)] += count
    return tuple((left, right, count) for (left, right), count in sorted(counts.items()))
