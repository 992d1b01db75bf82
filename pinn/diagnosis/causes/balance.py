"""Blocks that are starved by one that dominates the loss."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding

# What a block's loss would be if it did not hold at all is its pull; pulls so far apart, and a
# block that holds so much worse than the one that pulls more, are told of.
_PULLS, _WORSE, _LEAST = 1e3, 5.0, 1e-4


def balance(seen: Examination) -> Iterator[Finding]:
    """Tell of the blocks that hold badly beside one that weighs much more.

    The residual of a block over the size of its terms says how well it holds, in no units; the
    square of that size times the weight, how much of the loss depends on it. So many orders as lie
    between the latter the starved block is buried under the other one. Both are root mean squares,
    as the loss has them.
    """
    sizes = {n: size for n, size in seen.terms.items() if size > 0 and seen.weights[n] > 0}
    # of data only what is beyond their noise counts, as in `shares`
    rms = {n: math.sqrt(seen.fresh[n]) / size for n, size in sizes.items()}
    shares = {n: min(share, seen.shares[n]) for n, share in rms.items() if seen.shares[n] > 0}
    if len(shares) < 2:
        return
    pulls = {n: seen.weights[n] * sizes[n] ** 2 for n in shares}
    worst = max(shares, key=shares.__getitem__)
    strong = max(pulls, key=pulls.__getitem__)
    apart = pulls[strong] / pulls[worst]
    if shares[worst] < max(_LEAST, _WORSE * shares[strong]) or apart < _PULLS:
        return
    starved = [
        n for n, share in shares.items()
        if share >= max(_LEAST, _WORSE * shares[strong]) and pulls[strong] / pulls[n] >= _PULLS
    ]  # fmt: skip
    # One of them alone would be raised above the others, which would be starved by it then. Rounded
    # towards what it is, but for rounding: too much of a weight starves the others.
    weights = {
        n: 10.0 ** math.floor(math.log10(pulls[strong] / pulls[n]) + 1e-6) * seen.weights[n]
        for n in starved
    }
    given = {n: w for n, w in seen.weights.items() if w != 1}
    # The largest weight is 1, so that the loss keeps its size.
    raised = {**seen.weights, **weights}
    largest = max(raised.values())
    lowered = {n: w / largest for n, w in raised.items() if w != largest}
    few = len(raised) > 1 + len(weights) and max(weights.values()) <= 1e6
    norms = seen.gradients
    evidence = (
        f"{worst} is off by {shares[worst]:.2g} of its terms, {strong} by {shares[strong]:.2g}; "
        f"not met at all, {strong} would give a loss of {pulls[strong]:.1g} and {worst} one of "
        f"{pulls[worst]:.1g}; their gradients are {norms[strong]:.1g} and {norms[worst]:.1g}"
    )
    names = f"{', '.join(starved)} {'are' if len(starved) > 1 else 'is'}"
    yield Finding(
        "balance", f"{strong} dominates, {names} starved", evidence,
        (Change("weighting", {**given, **weights} if few else lowered),), math.log10(apart),
    )  # fmt: skip
