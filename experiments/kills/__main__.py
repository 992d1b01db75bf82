"""Kill training runs at random moments, go on with them, and compare with runs never stopped.

    python -m experiments.kills --times 50

Results go to experiments/results/kills.json and kills.md after every case; the same command
goes on where it was cut.  The exit code is 1 where a run did not end as the one that never stopped.
"""

from __future__ import annotations

import sys

from experiments.command_line import chosen, count, interrupted, parser
from experiments.kills.cases import BY_NAME, CASES
from experiments.kills.killing import kill_and_compare
from experiments.kills.page import different, markdown
from experiments.resumable import Rows
from pinn.files import write_text


def main(arguments: list[str] | None = None) -> int:
    """Measure what the table lacks, and write it."""
    made = parser("experiments.kills", __doc__, only="these cases")
    made.add_argument("--times", type=count, default=50, metavar="N", help="kills in all (50)")
    made.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    given = made.parse_args(arguments)
    try:
        cases = chosen(given.only, BY_NAME, "the name of a case")
        results = Rows(given.out / "kills.json", [case.name for case in CASES], several=("seed",))
    except ValueError as error:
        made.error(str(error))
    command = f"python -m experiments.kills --times {given.times} --seed {given.seed}"
    try:
        for place, case in enumerate(cases):
            if (case.name, given.seed) in results and not given.anew:
                continue
            # Where the kills cannot be shared out evenly, the first cases have one more.
            times = given.times // len(cases) + (place < given.times % len(cases))
            row = {**kill_and_compare(case, times, given.seed), "seed": given.seed}
            results.put(row, command)
            write_text(given.out / "kills.md", markdown(results.rows))
            print(f"{case.name}: {times} kills, {different(row)} of {row['runs']} runs differ",
                  flush=True)
    except KeyboardInterrupt:
        return interrupted()
    return int(any(map(different, results.rows)))


if __name__ == "__main__":
    sys.exit(main())
