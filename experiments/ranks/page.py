"""The results of ranks as a page: what was measured, and what the model makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.bench.report import number, table
from experiments.ranks.model import CLUSTER, Network, Step, exchange_seconds, speed_up, step_seconds
from experiments.resumable import machine_line

MANY = (8, 16, 64, 256, 1024)
# Between processes of one machine, through its memory.
_HERE = Network("the memory of one machine", 0.5e-6, 0.2e-6, 5e9)
_MEASURED = """\
One step (loss and gradient of Burgers' equation) on ranks of one thread, beside threads of one
process; milliseconds, medians over the steps of turns. In per cent: what the exchange takes of a
step with two ranks, on the rank that waits least. Four ranks share two cores. The last column is
what the model below says of two ranks."""
_MODELLED = f"""\
A core each, {CLUSTER.name} between them ({1e6 * CLUSTER.alpha:g} us, {CLUSTER.beta / 1e9:g} GB/s);
experiments/ranks/model.py has the formula. Not measured: how many times as fast as one rank. Points
make 16 lanes, or one of each 1024 points up to 256; more ranks than lanes do nothing."""
_EXCHANGES = 3  # a group of blocks each: the equation, the start, the boundary


def parameters(row: Mapping[str, Any]) -> int:
    """Return how many numbers a network of two coordinates and one unknown has."""
    width, depth = row["width"], row["depth"]
    return 3 * width + (depth - 1) * width * (width + 1) + width + 1


def step_of(row: Mapping[str, Any]) -> Step:
    """Return what the measurement with one rank and one thread says of a step.

    What an exchange takes besides the network is what two ranks were seen to take for it.
    """
    one, two = row["ways"]["1 x 1"], row["ways"]["2 x 1"]
    itemsize = 8 if row["precision"] == "float64" else 4
    replicated = 1e-3 * row["few_points_ms"]
    step = Step(
        1e-3 * one["step_ms"] - replicated, replicated, parameters(row), itemsize, row["points"],
        _EXCHANGES, 0.0,
    )  # fmt: skip
    seen = 1e-3 * two["exchange_ms"] / _EXCHANGES
    return step._replace(call=max(0.0, seen - exchange_seconds(step, 2, _HERE)))


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page."""
    seen, foreseen = [], []
    for row in rows:
        ways, step = row["ways"], step_of(row)
        took = {name: way["step_ms"] for name, way in ways.items()}
        share = ways["2 x 1"]["exchange_ms"] / took["2 x 1"]
        two = 1e3 * step_seconds(step, 2, _HERE)
        times = [took["1 x 1"], took["1 x 2"], took["2 x 1"], took["4 x 1"], two]
        one, pair, ranks, four, model = map(number, times)
        seen.append([row["name"], one, pair, ranks, f"{100 * share:.1f} %", four, model])
        foreseen.append([row["name"], *(number(speed_up(step, count)) for count in MANY)])
    header = ["network, points", "1 thread", "2 threads", "2 ranks", "exchange", "4 ranks", "model"]
    page = [
        "# Ranks",
        "\n".join(sorted({f"`{row['measured']['command']}`" for row in rows})),
        "\n".join(sorted({machine_line(row) for row in rows})),
        _MEASURED,
        table(header, seen),
        "## More ranks, by the model",
        _MODELLED,
        table(["network, points", *map(str, MANY)], foreseen),
    ]
    return "\n\n".join(page) + "\n"
