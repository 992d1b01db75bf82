"""Train the problems of the accuracy suite with several seeds, and write down how well.

    python -m experiments.suite [--only NAME ...] [--budget SECONDS] [--seeds 0,1,2] [--jobs N]
                                [--threads N] [--anew] [--out FOLDER]

Each problem is a config of experiments/suite/problems and trains for at most so many seconds; its
error is measured when training has ended and takes no part in it. After every run suite.json and
suite.md are written. Runs that they have are kept, so that what was cut short is gone on with by
the same command; --anew measures those that are chosen again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from experiments.command_line import add_runs, chosen, parser
from experiments.resumable import Rows
from experiments.running import SEVERAL, fill
from experiments.suite.entries import ENTRIES
from experiments.suite.entry import BUDGET, Entry
from experiments.suite.page import markdown
from experiments.suite.verdict import told

_MODULE = "experiments.suite"
_BY_NAME: dict[str, list[Entry]] = {}
for _entry in ENTRIES:
    for _name in (_entry.name, str(_entry.number)):
        _BY_NAME.setdefault(_name, []).append(_entry)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted."""
    made = parser(_MODULE, __doc__, "these problems, by name or number")
    add_runs(made, (BUDGET,), (0, 1, 2))
    options = made.parse_args(arguments)
    names = [entry.name for entry in ENTRIES]
    expected = f"some of {', '.join(names)}, or the numbers of problems"
    try:
        entries = chosen(options.only, _BY_NAME, expected)
        results = Rows(
            options.out / "suite.json", names, several=SEVERAL, summary=partial(told, ENTRIES)
        )
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return fill(
        results, entries, options, _MODULE, options.out / "suite.md", partial(markdown, ENTRIES)
    )


if __name__ == "__main__":
    sys.exit(main())
