"""Which derivatives a sweep carries: single ones, and weighted sums of top ones.

A derivative that no other carried derivative depends on enters every rule linearly, so only the
weighted sum of several of them has to travel ("collapsed" Taylor mode, Dangel et al. 2025; the
forward Laplacian is the case of `sum_i u_ii`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .indices import Index, closure


@dataclass(frozen=True)
class Sum:
    """A weighted sum of derivatives: terms `(index, weight)` with distinct indices."""

    terms: tuple[tuple[Index, float], ...]

    def __str__(self) -> str:
        return " + ".join(f"{weight:g}*d{list(index)}" for index, weight in self.terms)


Key = Index | Sum


@dataclass(frozen=True)
class Channels:
    """The channels of a sweep besides the value: `singles` (closed downwards) and `sums`."""

    singles: tuple[Index, ...]
    sums: tuple[Sum, ...]

    @property
    def keys(self) -> tuple[Key, ...]:
        """All channels, singles first."""
        return (*self.singles, *self.sums)

    def give(self, key: Key) -> bool:
        """Return whether a derivative, or a sum of some, can be read from these channels."""
        if isinstance(key, Sum):
            return key in self.sums or all(index in self.singles for index, _ in key.terms)
        return key == () or key in self.singles

    @property
    def count(self) -> int:
        """The number of channels with the value itself."""
        return 1 + len(self.singles) + len(self.sums)

    @property
    def order(self) -> int:
        """The highest order of derivative carried."""
        orders = [len(index) for index in self.singles]
        orders += [len(index) for total in self.sums for index, _ in total.terms]
        return max(orders, default=0)

    def __str__(self) -> str:
        lines = [f"{self.count} channels, order {self.order}", "  value"]
        lines += [f"  d{list(index)}" for index in self.singles]
        lines += [f"  sum {total}" for total in self.sums]
        return "\n".join(lines)


def choose_channels(indices: Iterable[Index], sums: Sequence[Sum] = ()) -> Channels:
    """Return the fewest channels from which `indices` and `sums` can be read.

    A sum is carried collapsed where that saves channels: its terms are left out unless another
    channel needs them; a sum of which all but one term travel anyway is read from them.
    """
    singles = set(closure(indices))
    pending = [total for total in dict.fromkeys(sums) if total.terms]
    for total in pending:
        for index, _ in total.terms:
            singles |= set(closure([index])) - {index}
    collapsed = []
    for total in pending:
        missing = [index for index, _ in total.terms if index not in singles]
        if len(missing) > 1:
            collapsed.append(total)
        else:
            singles |= set(closure(missing))
    return Channels(tuple(sorted(singles, key=lambda index: (len(index), index))), tuple(collapsed))
