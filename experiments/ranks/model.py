"""How long a step takes on many ranks: the lanes of the busiest, and the rounds of an exchange.

    t(R) = replicated + work * ceil(lanes / R) / lanes + exchanges * x(R)
    x(R) = call + meet + sum, in seconds, with r = ceil(log2 R) rounds:
    meet = r alpha,  sum = r alpha + b lanes S / beta              where lanes S is small, else
    sum = alpha + (R - 1) o + b ceil(lanes / R) S / beta + r alpha + b S / beta

for S sums of b bytes a lane: ranks meet by recursive doubling; of many sums each rank gets a part
from all others (pairwise, o of the processor's time each), adds it up and hands it on. alpha, beta
and o are those of the LogGP model (Alexandrov et al. 1995).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from autograd.mpi import FEW
from autograd.plan.pieces import lanes_for


class Network(NamedTuple):
    """alpha: seconds that a message takes. overhead: of the processor for each. beta: bytes/s."""

    name: str
    alpha: float
    overhead: float
    beta: float


# What vendors and measurements state for InfiniBand HDR (200 Gbit/s) through MPI.
CLUSTER = Network("200 Gbit/s InfiniBand", 1.5e-6, 0.3e-6, 20e9)


class Step(NamedTuple):
    """What is known of a step on one rank.

    work: seconds of all lanes on one core. replicated: of what each rank does. sums: numbers a lane
    adds up. itemsize: their bytes. points: of the largest block. exchanges: a step. call: seconds
    of an exchange besides the network.
    """

    work: float
    replicated: float
    sums: int
    itemsize: int
    points: int
    exchanges: int
    call: float


def exchange_seconds(step: Step, ranks: int, network: Network) -> float:
    """Return the time of one exchange between so many ranks."""
    if ranks == 1:
        return 0.0
    lanes, rounds = lanes_for(step.points), math.ceil(math.log2(ranks))
    meet = rounds * network.alpha
    bytes_a_lane = step.sums * step.itemsize
    if lanes * step.sums <= FEW:
        added = rounds * network.alpha + lanes * bytes_a_lane / network.beta
    else:
        mine = math.ceil(lanes / ranks)
        parts = network.alpha + (ranks - 1) * network.overhead + mine * bytes_a_lane / network.beta
        added = parts + rounds * network.alpha + bytes_a_lane / network.beta
    return step.call + meet + added


def step_seconds(step: Step, ranks: int, network: Network) -> float:
    """Return the time of a step on so many ranks, a core each."""
    lanes = lanes_for(step.points)
    busiest = math.ceil(lanes / ranks) / lanes
    exchanged = step.exchanges * exchange_seconds(step, ranks, network)
    return step.replicated + step.work * busiest + exchanged


def speed_up(step: Step, ranks: int, network: Network = CLUSTER) -> float:
    """Return how many times as fast so many ranks are as one."""
    return step_seconds(step, 1, network) / step_seconds(step, ranks, network)
