"""Solve the problems that users of DeepXDE and PINNacle solve, and write down how well.

    python -m experiments.peers [--only F5 ...] [--seconds S] [--seed N] [--anew] [--out DIR]
    python -m experiments.peers --headers [--out DIR]

Each problem is a config of experiments/peers/problems or configs, or a program of the former where
it takes more than one training, and has at most so many seconds; its error is measured when
training has ended and takes no part in it. After every row the table is written. Rows that it has
are kept, unless --only names them or --anew begins a new one. --headers trains nothing: it writes
the page, and what the table says into the headers of the configs that ship.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.bench.report import number, section, table
from experiments.command_line import positive
from experiments.measure import measure
from experiments.peers.figures import draw
from experiments.peers.headers import write_headers
from experiments.peers.rows import OWN, ROWS
from experiments.resumable import ROOT, Rows, machine_line
from pinn.checks import nearest
from pinn.files import write_text

_GOAL = 1e-3
_SECONDS = 120.0
_BY_NAME = {row.name: row for row in [*ROWS, *OWN]}


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the results as a page."""
    rows = [row | _BY_NAME[row["name"]].words for row in rows]
    own = [row for row in rows if row["name"] in {row.name for row in OWN}]
    rows = [row for row in rows if row not in own]
    reached = sum(row["reached"] for row in rows)
    header = ["row", "problem", "error", "seconds", "peer", "reference", "its error", "reached"]
    commands = sorted({row["measured"]["command"] for row in rows})
    machines = sorted({machine_line(row) for row in rows})
    page = [
        "# The problems that users of the peers solve",
        "\n".join(f"`{command}`" for command in commands),
        "\n".join(machines),
        "A row is a config of `experiments/peers/problems` or of `configs`, or a program. The "
        "error is the relative L2 error of the worst unknown, or the relative error of the worst "
        "coefficient; `seconds` is the whole call. `peer` is the error that the peer's own setting "
        "reaches, where it is known. The reference is a formula or computed by a classical method, "
        "its error the difference between two resolutions. The settings of a row are what is known "
        "of its problem, tried with the error in view; no run looks at it. Reached means an "
        f"error below {_GOAL:g}: {reached} of {len(rows)} rows measured, {len(ROWS)} in all.",
        table(header, [_line(row) for row in rows]),
        *(["## Problems of our own", table(header, [_line(row) for row in own])] if own else []),
        *section("Not reached", [
            f"{_id(row)} ({number(row.get('error'), 2)}): {_why(row)}"
            for row in rows if not row["reached"]
        ]),
        *section("Notes", [
            f"{_id(row)}: {row['note']}" for row in rows if row["note"]
        ]),
        *section("Where the peers' figures come from", [
            f"{', '.join(_id(row) for row in rows if row['peer_source'] == source)}: {source}"
            for source in dict.fromkeys(row["peer_source"] for row in rows) if source
        ]),
        *section("Warnings of the runs", [
            f"{', '.join(_id(row) for row in rows if text in row.get('warnings', []))}: {text}"
            for text in dict.fromkeys(text for row in rows for text in row.get("warnings", []))
        ]),
    ]
    return "\n\n".join(page) + "\n"


def _why(row: dict[str, Any]) -> str:
    if "failed" in row:
        return row["failed"]
    worst = max(row["errors"], key=row["errors"].__getitem__)
    told = (
        f"{worst} is the worst of {', '.join(row['errors'])}; stopped after {row['steps']} steps "
        f"({row['stop_reason']}), loss {row['loss']:.1e}"
    )
    return f"{row['reason']}; {told}" if row["reason"] else told


def _id(row: dict[str, Any]) -> str:
    return row["name"].split("_", 1)[0].upper()


def _line(row: dict[str, Any]) -> list[str]:
    return [
        _id(row), row["title"], number(row.get("error"), 2), number(row.get("seconds"), 2),
        number(row["peer"], 2), row.get("reference", "-"),
        number(row.get("reference_agreement") or None, 2), "yes" if row["reached"] else "no",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage. A problem that fails is a result too."""
    options = _parser().parse_args(arguments)
    by_id = {row.id: row for row in _BY_NAME.values()}
    try:
        for name in options.only:
            if name.upper() not in by_id:
                raise ValueError(
                    f"--only: expected some of {', '.join(by_id)}; got {name!r}"
                    f"{nearest(name.upper(), by_id)}"
                )
        results = Rows(options.out / "peers.json", _BY_NAME, options.anew and not options.headers)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.headers:
        write_text(options.out / "peers.md", markdown(results.rows))
        for file in write_headers(_BY_NAME.values(), results.rows):
            print(file.relative_to(ROOT))
        return 0
    chosen = [by_id[name.upper()] for name in options.only]
    command = f"python -m experiments.peers --seconds {options.seconds:g} --seed {options.seed}"
    for row in chosen or [one for name, one in _BY_NAME.items() if name not in results]:
        print(f"{row.id} {row.title} ...", file=sys.stderr, flush=True)
        facts, solution = measure(row, options.seconds, options.seed)
        facts["reached"] = facts.get("error", math.inf) < _GOAL
        if solution is not None:
            draw(row, solution, options.out / "peers")
        results.put(facts, command)
        write_text(options.out / "peers.md", markdown(results.rows))
        print("  ".join(_line(row.words | facts)), flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.peers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="ID",
                        help="measure these rows, again where the table has them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=positive, default=_SECONDS,
                        help=f"limit of the training of each row ({_SECONDS:g})")
    parser.add_argument("--anew", action="store_true", help="begin a new table")
    parser.add_argument("--headers", action="store_true",
                        help="write the page, and the errors of the table into the headers of the "
                        "configs that ship, and measure nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results", metavar="DIR",
                        help="where the table goes (experiments/results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
