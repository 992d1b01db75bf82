"""The page of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.bench.report import number, section, table
from experiments.resumable import machine_line

Row = Mapping[str, Any]


def markdown(rows: Sequence[Row]) -> str:
    """Return the results as a page."""
    kills = sum(len(row["kills"]) for row in rows)
    runs = sum(row["runs"] for row in rows)
    equal = runs - sum(map(different, rows))
    page = [
        "# Runs that are killed",
        "\n".join(sorted({f"`{row['measured']['command']}`" for row in rows})),
        "\n".join(sorted({machine_line(row) for row in rows})),
        "Each run is a process of `pinn train --resume`, ended by SIGKILL at a random step, or at "
        "a random moment of the time that a whole one takes (imports, the trial of models, the "
        "writing of files and figures), and gone on with until it ends by itself. Then all that "
        "it left is compared with what a run left that never stopped: every line of the metrics "
        "and every number of the summary but times, the arrays of the solution and the last "
        "checkpoint (parameters, points, weights, the solver's memory), the figures' bytes. "
        "`parts` counts what is compared, `at steps` is the last step logged when each kill came.",
        f"{kills} kills in {runs} runs: {equal} of {runs} ended as the run that never stopped.",
        table(
            ["case", "what it trains", "seconds", "parts", "kills", "at steps", "runs", "equal"],
            [
                [row["name"], row["what"], number(row["seconds"]), str(row["parts"]),
                 str(len(row["kills"])), ", ".join(str(kill["steps"]) for kill in row["kills"]),
                 str(row["runs"]), str(row["runs"] - different(row))]
                for row in rows
            ],
        ),
        *section("What differed", [
            f"{row['name']}: {', '.join(names[:20])}"
            for row in rows for names in row["differ"] if names
        ]),
    ]  # fmt: skip
    return "\n\n".join(page) + "\n"


def different(row: Row) -> int:
    """Return how many runs of a case did not end as the one that never stopped."""
    return sum(bool(names) for names in row["differ"])
