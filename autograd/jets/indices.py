"""Multi-indices and the combinatorics of higher chain and product rules.

A multi-index is a sorted tuple of coordinate numbers: `()` is the function itself, `(0, 0)` the
second derivative in coordinate 0, `(0, 1)` the mixed one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

Index = tuple[int, ...]


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
    """
    counts: Counter[tuple[Index, ...]] = Counter()
    for partition in _set_partitions(len(index)):
        blocks = sorted(tuple(index[p] for p in block) for block in partition)
        counts[tuple(blocks)] += 1
    ordered = sorted(counts.items(), key=lambda item: (len(item[0]), item[0]))
    return tuple((len(blocks), blocks, count) for blocks, count in ordered)


def _set_partitions(size: int) -> Iterator[list[list[int]]]:
    if size == 0:
        yield []
        return
    for partition in _set_partitions(size - 1):
        last = size - 1
        yield [*partition, [last]]
        for k in range(len(partition)):
            yield [*partition[:k], [*partition[k], last], *partition[k + 1 :]]


@cache
def product_terms(index: Index) -> tuple[tuple[Index, Index, int], ...]:
    """Return Leibniz' terms `(b, c, count)`: the derivative `index` of x*y sums count x_b y_c."""
    counts: Counter[tuple[Index, Index]] = Counter()
    for mask in range(1 << len(index)):
        left = tuple(c for k, c in enumerate(index) if mask >> k & 1)
        right = tuple(c for k, c in enumerate(index) if not mask >> k & 1)
        counts[left, right] += 1
    return tuple((left, right, count) for (left, right), count in sorted(counts.items()))
