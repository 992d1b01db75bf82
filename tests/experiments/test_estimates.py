"""The table of estimates of solutions that were cut short."""

import json

from experiments.estimates import counts, main, markdown

MEASURED = {
    "command": "python -m experiments.estimates", "machine": {"cpu": "a", "cores": 2},
    "versions": {"numpy": "2"}, "executor": "numpy",
}  # fmt: skip


def run(error, estimate, trusted=True, agreement=None, name="burgers", seed=0, **more):
    estimated = {"errors": {"u": estimate}, "trusted": trusted, "doubts": [], "unexplained": 0.9}
    return {
        "name": name, "seed": seed, "budget_seconds": 2.0, "error": error, "errors": {"u": error},
        "estimate": estimated, "reference_agreement": agreement, "measured": MEASURED, **more,
    }  # fmt: skip


RUNS = [
    run(1e-2, 0.5e-2), run(1e-2, 0.2e-2, seed=1), run(1e-2, 0.05e-2, seed=2),
    run(1e-2, 0.9e-2, trusted=False, seed=3), run(1e-2, 0.01e-2, trusted=False, seed=4),
    run(1e-9, 1e-2, agreement=1e-8, seed=5),  # which the reference cannot tell
    {**run(0.0, 0.0, seed=6), "estimate": None, "error": None, "failed": "it failed"},
]  # fmt: skip


def test_what_is_believed_and_what_is_right_are_counted_apart():
    assert counts(RUNS) == {
        "runs": 5, "believed": 3, "believed_within": 1, "believed_below_a_third": 2,
        "believed_below_a_tenth": 1, "lowest_believed": 0.05, "highest_believed": 0.5,
        "doubted_within": 1,
    }  # fmt: skip


def test_the_page_has_a_line_for_each_problem_and_names_what_is_wrong():
    page = markdown(RUNS)
    assert "3 of 5 estimates are believed: 1 of these within a factor 3" in page
    assert "| burgers | 2       | 5    | 0.01  | 3        | 0.5, 0.2, 0.05" in page
    assert "burgers, 2 s, seed 2: error 0.01, estimate 0.05 of it; unexplained 0.9" in page
    assert "burgers, 2 s, seed 6: it failed" in page


def test_runs_are_measured_for_each_budget_and_kept(tmp_path, capsys):
    arguments = ["--only", "beam", "--budget", "0.1,0.2", "--seeds", "0", "--out", str(tmp_path)]
    assert main(arguments) == 0
    rows = json.loads((tmp_path / "estimates.json").read_text())["rows"]
    assert [row["budget_seconds"] for row in rows] == [0.1, 0.2]
    assert "--budget 0.1,0.2 --seeds 0 --jobs 1" in rows[0]["measured"]["command"]
    assert "beam, seed 0" in capsys.readouterr().out
    assert main(arguments) == 0 and not capsys.readouterr().out
    assert main(["--only", "beem"]) == 2
    assert "did you mean 'beam'" in capsys.readouterr().err
