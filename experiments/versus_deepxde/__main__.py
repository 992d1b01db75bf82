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

import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.command_line import chosen, count, interrupted, parser, positive
from experiments.resumable import Rows
from experiments.versus_deepxde.figure import figure
from experiments.versus_deepxde.page import markdown
from experiments.versus_deepxde.pair import BY_NAME, PAIRS
from experiments.versus_deepxde.sides import MISSING, Run, apart, compared
from experiments.versus_deepxde.verdict import verdict
from pinn.files import write_text

_MODULE = "experiments.versus_deepxde"
_BY_ID = {pair.row.id: [pair] for pair in PAIRS}


def main(arguments: Sequence[str] | None = None, run: Run = apart) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted.

    run: what trains one side.
    """
    options = _options(arguments)
    try:
        ids = [name.upper() for name in options.only]
        pairs = chosen(ids, _BY_ID, f"some of {', '.join(_BY_ID)}")
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
        f"python -m {_MODULE} --seconds {options.seconds:g} "
        f"--seed {options.seed} --threads {options.threads}"
    )
    for pair in pairs:
        if pair.name in had and not options.anew:
            continue
        print(f"{pair.row.id} {pair.title} ...", file=sys.stderr, flush=True)
        try:
            row = compared(pair.name, options.seconds, options.seed, options.threads, run)
        except KeyboardInterrupt:
            return interrupted()
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


def _options(arguments: Sequence[str] | None) -> Namespace:
    made = parser(_MODULE, __doc__, "these problems, by their ids such as F3")
    made.add_argument("--seconds", type=positive, default=600.0,
                      help="limit of the training of each side (600)")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=count, default=2, help="of each side (2)")
    return made.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
