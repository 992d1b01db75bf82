"""The results of a GPU as a page: what was measured on one, and what a step asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.bench.report import number, table, times
from experiments.gpu.steps import best
from experiments.gpu.training import FLAT
from experiments.resumable import machine_line

TARGET = 2.0
"""Times the speed of JAX, its best way."""
_NOT_RUN = """\
**Not run on a GPU.** There was none to be had: no time was measured, and no figure of this page is
one of a GPU. `python -m experiments.gpu` on a machine that has one measures them."""
_STEPS = """\
Milliseconds of a step (loss, gradient, Adam), medians of turns of up to two hundred steps, after
the last of which alone the device is waited for. Every engine's gradient is compared with ours
before anything is timed: with that on the host at 10 000 points, where ours on the GPU is compared
with it too, and with that on the GPU at more; the last but one column has the largest difference.
JAX under jit, its best way of nesting, with products of float32 as such; PyTorch with nested
`grad`. `host` is our step on the processor beside it."""
_COUNTS = """\
Counted on the strict test device, whose kernels run as host code. `arrays` are those that memory is
taken for. A burst is what Adam, Muon and SOAP take before the host hears of the first step; a graph
counts as one launch. What a burst takes does not depend on points or network; a step of the solvers
after Muon takes as many evaluations as its searches and corrections ask for."""
_RUNS = f"""\
configs/burgers.yaml with the solver in the first column, on the GPU and on the processor beside
it. Memory is that of the device; `flat`: after the last step no more than {FLAT:g} times what it
was after a tenth of them."""
_OF_NETWORKS = "A burst of Adam on each network of the bench, one group of blocks:"
_OF_SOLVERS = "Solvers on Burgers' equation with soft conditions, three groups of blocks:"
_OF_REDRAW = "New points for all blocks:"
_COUNTED = ("launches", "uploads", "downloads", "synchronisations", "allocations")
_HEADINGS = ("launches", "copies there", "copies back", "waits", "arrays")


def markdown(
    steps: Sequence[Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]],
    counts: Mapping[str, Any] | None,
) -> str:
    """Return the page; steps, runs: the rows that were measured on a GPU, which may be none."""
    page = ["# On a GPU"]
    measured = [*steps, *runs]
    if measured:
        lines = {
            f"`{row['measured']['command']}`; {row['gpu']}; {machine_line(row)}"
            f"{''.join(f'; {n} {v}' for n, v in row.get('peers', {}).items())}" for row in measured
        }  # fmt: skip
        page.append("\n".join(sorted(lines)))
    else:
        page.append(_NOT_RUN)
    if steps:
        page += ["## Steps", _STEPS, _speeds(steps), *_verdict(steps)]
    if runs:
        page += ["## Runs", _RUNS, _trained(runs)]
    if counts:
        page += [
            "## What a step asks of the device", _COUNTS,
            f"`{counts['measured']['command']}`; {machine_line(counts)}",
            _OF_NETWORKS, _counted("network", counts["networks"]),
            _OF_SOLVERS, _counted("solver", counts["solvers"]),
            _OF_REDRAW, _counted("", {"redraw": counts["redraw"]}),
        ]  # fmt: skip
    return "\n\n".join(page) + "\n"


def ratio(row: Mapping[str, Any]) -> float | None:
    """Return how many times as fast as JAX's best way we are; None where either has no time."""
    _, ours = best(row["engines"].get("ours-gpu", {}))
    _, jax = best(row["engines"].get("jax-gpu", {}))
    return jax / ours if ours and jax else None


def _speeds(steps: Sequence[Mapping[str, Any]]) -> str:
    header = ["row", "ours", "jax", "jax way", "torch", "host", "jax / ours", "host / ours",
              "gradients differ by", "notes"]  # fmt: skip
    rows = []
    for row in steps:
        engines = row["engines"]
        _, ours = best(engines.get("ours-gpu", {}))
        way, jax = best(engines.get("jax-gpu", {}))
        _, torch = best(engines.get("torch-gpu", {}))
        _, host = best(engines.get("objective", {}))
        differs = max(
            (e["gradient_difference"] for ways in engines.values() for e in ways.values()
             if "gradient_difference" in e), default=None,
        )  # fmt: skip
        rows.append([
            row["name"], number(ours), number(jax), way or "-", number(torch), number(host),
            times(ratio(row)), times(host / ours if host and ours else None),
            "-" if differs is None else f"{differs:.0e}", _notes(row),
        ])  # fmt: skip
    return table(header, rows)


def _notes(row: Mapping[str, Any]) -> str:
    """Return why engines have no time."""
    said = [
        f"{name}: {'; '.join(sorted({e['kind'] for e in entries.values() if 'error' in e}))}"
        for name, entries in row["engines"].items()
        if entries and all("error" in entry for entry in entries.values())
    ]
    said += [f"{name}: not installed" for name in row["left_out"]]
    return ", ".join(said) or "-"


def _verdict(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    ratios = {row["name"]: ratio(row) for row in steps}
    known = {name: value for name, value in ratios.items() if value is not None}
    missed = [f"{name} by {TARGET - value:.2f}" for name, value in known.items() if value < TARGET]
    if not known:
        return []
    return [
        f"Asked: at least {TARGET:g} times as fast as JAX on every row. Hit on "
        f"{len(known) - len(missed)} of {len(known)} that both could run; missed: "
        f"{', '.join(missed) or 'none'}."
    ]


def _trained(runs: Sequence[Mapping[str, Any]]) -> str:
    header = ["solver", "device", "relative L2 error", "steps", "seconds", "MiB early", "MiB last",
              "flat"]  # fmt: skip
    rows = []
    for run in runs:
        for device, one in run["devices"].items():
            if "failed" in one:
                rows.append([run["name"], device, one["failed"], *["-"] * (len(header) - 3)])
                continue
            early, last = (one["memory"][key] / 2**20 for key in ("early", "last"))
            flat = "-" if device == "cpu" else "yes" if last <= FLAT * early else "no"
            rows.append([
                run["name"], device, f"{one['rel_l2']:.1e}", str(one["steps"]),
                number(one["seconds"]), number(early), number(last), flat,
            ])  # fmt: skip
    return table(header, rows)


def _counted(what: str, counts: Mapping[str, Mapping[str, int]]) -> str:
    rows = [
        [name, str(one["steps"]), *(number(one[key] / one["steps"]) for key in _COUNTED)]
        for name, one in counts.items()
    ]
    return table([what, "steps", *(f"{heading} a step" for heading in _HEADINGS)], rows)
