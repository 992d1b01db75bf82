"""Train problems of the accuracy suite with one thing changed, and write down what that does.

    python -m experiments.ablations [--only NAME ...] [--budget SECONDS] [--seeds 0,1,2] [--jobs N]
                                    [--threads N] [--anew] [--out FOLDER]

A name is that of an entry of the suite, for all its changes, or of one of these, such as
burgers/order_1: the entry as it is comes with it. Each run trains for at most so many seconds; its
error is measured when training has ended and takes no part in it. After every run ablations.json
and ablations.md are written. Runs that they have are kept, so that what was cut short is gone on
with by the same command; --anew measures those that are chosen again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from experiments.ablations.ablation import AS_IT_IS, Ablation
from experiments.ablations.changes import ABLATIONS, CHANGES
from experiments.ablations.page import markdown
from experiments.ablations.verdict import told
from experiments.command_line import add_runs, chosen, parser
from experiments.resumable import Rows
from experiments.running import SEVERAL, fill

_MODULE = "experiments.ablations"


def by_name() -> dict[str, list[Ablation]]:
    """Return what the names of the command line stand for."""
    found: dict[str, list[Ablation]] = {name: [] for name in CHANGES}
    for one in ABLATIONS:
        own = found[one.entry.name]
        if one.change != AS_IT_IS:
            found[one.name] = [own[0], one]
        own.append(one)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted."""
    made = parser(_MODULE, __doc__, "these problems of the suite, or changes of them")
    add_runs(made, (60.0,), (0,))
    options = made.parse_args(arguments)
    expected = f"some of {', '.join(CHANGES)}, or one of their changes such as burgers/order_1"
    try:
        ablations = chosen(options.only, by_name(), expected)
        results = Rows(
            options.out / "ablations.json", [one.name for one in ABLATIONS], several=SEVERAL,
            summary=partial(told, ABLATIONS),
        )  # fmt: skip
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return fill(
        results, ablations, options, _MODULE, options.out / "ablations.md",
        partial(markdown, ABLATIONS),
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
