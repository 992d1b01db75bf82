"""Solve problems with DeepXDE's own settings and with ours: error against wall time.

    python -m experiments.versus_deepxde [--only F3 ...] [--seconds S] [--seed N] [--threads N]
                                         [--anew] [--out FOLDER]

Each side trains in a process of its own, DeepXDE first, with the same number of threads and for
`--seconds` at most; looks at the error are left out of the times. After every problem
versus_deepxde.json, .md and .png are written. Problems that they have, measured with the same
settings and without failing, are kept, so that what was cut short is gone on with by the same
command; --anew measures those that are chosen again. DeepXDE with PyTorch is needed, here alone:
pip install deepxde torch.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.resumable import ROOT, Rows
from experiments.versus_deepxde.figure import figure
from experiments.versus_deepxde.page import markdown
from experiments.versus_deepxde.pair import BY_NAME, PAIRS, Pair
from experiments.versus_deepxde.sides import MISSING, Run, apart, compared
from experiments.versus_deepxde.verdict import verdict
from pinn.checks import nearest
from pinn.files import write_text

_SECONDS = 600.0


def chosen(ids: Sequence[str]) -> list[Pair]:
    """Return the problems of ids, all for none; ValueError for another."""
    by_id = {pair.row.id: pair for pair in PAIRS}
    for one in ids:
        if one.upper() not in by_id:
            raise ValueError(
                f"--only: expected some of {', '.join(by_id)}; got {one!r}"
                f"{nearest(one.upper(), by_id)}"
            )
    return [by_id[one.upper()] for one in ids] or PAIRS


def main(arguments: Sequence[str] | None = None, run: Run = apart) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted.

    run: what trains one side.
    """
    options = _parser().parse_args(arguments)
    try:
        pairs = chosen(options.only)
        results = Rows(options.out / "versus_deepxde.json", BY_NAME)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if run is apart and not (find_spec("deepxde") and find_spec("torch")):
        print(MISSING, file=sys.stderr)
        return 2
    asked = {"limit_seconds": options.seconds, "seed": options.seed, "threads": options.threads}
    had = {
        row["name"] for row in results.rows
        if verdict(row) and all(row[key] == value for key, value in asked.items())
    }  # fmt: skip
    command = (
        f"python -m experiments.versus_deepxde --seconds {options.seconds:g} "
        f"--seed {options.seed} --threads {options.threads}"
    )
    for pair in pairs:
        if pair.name in had and not options.anew:
            continue
        print(f"{pair.row.id} {pair.title} ...", file=sys.stderr, flush=True)
        try:
            row = compared(pair.name, options.seconds, options.seed, options.threads, run)
        except KeyboardInterrupt:
            print("interrupted: the same command goes on", file=sys.stderr)
            return 130
        results.put(row, command)
        _write(options.out, results.rows)
        print(f"{pair.row.id} {_said(row)}", flush=True)
    return 0


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    write_text(folder / "versus_deepxde.md", markdown(rows))
    figure(rows).savefig(folder / "versus_deepxde.png", dpi=110)


def _said(row: dict[str, Any]) -> str:
    found = verdict(row)
    if found is None:
        return "; ".join(
            f"{side}: {row[side]['failed']}" for side in ("deepxde", "ours")
            if "failed" in row[side]
        )  # fmt: skip
    return (
        f"DeepXDE {found.error:.1e} after {found.seconds:.3g} s; ours the same after "
        f"{found.our_seconds:.3g} s, {found.our_error:.1e} at its time"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.versus_deepxde", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="these problems")
    parser.add_argument("--seconds", type=_positive, default=_SECONDS,
                        help=f"limit of the training of each side ({_SECONDS:g})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=_count, default=2, help="of each side (2)")
    parser.add_argument("--anew", action="store_true",
                        help="measure these problems again where the table has them")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results",
                        metavar="FOLDER", help="where the table goes (experiments/results)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text}")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, got {text}")
    return value


if __name__ == "__main__":
    sys.exit(main())
