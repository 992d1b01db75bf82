"""A table of problems, solved one after the other, as a results file and a page."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.command_line import chosen, interrupted, parser
from experiments.resumable import Rows
from pinn.files import write_text

Row = Mapping[str, Any]


def measure_all(
    options: Namespace,
    name: str,
    problems: Mapping[str, Any],
    measure: Callable[[Any], Row],
    page: Callable[[Sequence[Row]], str],
    line: Callable[[Row], Sequence[str]],
    command: str,
) -> int:
    """Measure the problems that are asked for; returns 0, or 2 for wrong usage, 130 for Ctrl-C.

    options: those of `command_line.parser`, and a seed. name: of the results files. measure: the
    figures of a problem. page, line: the text of all rows, and the cells of one. command: what
    measures them. The results are written after every row; a row that is there stays, but anew.
    """
    try:
        names = chosen(
            options.only, {one: [one] for one in problems}, f"some of {', '.join(problems)}"
        )
        rows = Rows(options.out / f"{name}.json", problems)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    try:
        for one in names:
            if one in rows and not options.anew:
                continue
            print(f"{one} ...", file=sys.stderr, flush=True)
            rows.put({"name": one, "seed": options.seed, **measure(problems[one])}, command)
            write_text(options.out / f"{name}.md", page(rows.rows))
            (row,) = (row for row in rows.rows if row["name"] == one)
            print("  ".join(line(row)), flush=True)
    except KeyboardInterrupt:
        return interrupted()
    return 0


def measure_seed(
    arguments: Sequence[str] | None,
    name: str,
    told: str,
    problems: Mapping[str, Any],
    measure: Callable[[Any, int], Row],
    page: Callable[[Sequence[Row]], str],
    line: Callable[[Row], Sequence[str]],
) -> int:
    """Measure the problems of the program experiments.NAME with a seed; returns as `measure_all`.

    arguments: its command line. told: its text of help. measure: the figures of a problem by seed.
    """
    made = parser(f"experiments.{name}", told, "these problems")
    made.add_argument("--seed", type=int, default=0)
    options = made.parse_args(arguments)
    return measure_all(
        options, name, problems, lambda one: measure(one, options.seed), page, line,
        f"python -m experiments.{name} --seed {options.seed}",
    )  # fmt: skip
