"""Ablations of the suite: the table of changes, what follows from runs, the page, the command."""

import json
import math
import re

import pytest

from experiments.ablations import __main__ as program
from experiments.ablations.ablation import AS_IT_IS, PROBLEMS, Ablation, Change
from experiments.ablations.changes import ABLATIONS, CHANGES
from experiments.ablations.page import markdown
from experiments.ablations.verdict import Verdict, compared, lines_of, told
from experiments.measure import experiment
from experiments.suite.entries import ENTRIES
from experiments.suite.entry import Entry
from pinn.schema import dump

CHANGED = [one for one in ABLATIONS if one.change != AS_IT_IS]
_ABSENT = object()
_DECLARED = {}


def declared(case):
    if case.name not in _DECLARED:
        _DECLARED[case.name] = dump(experiment(case))
    return _DECLARED[case.name]


def places(one, other, here=()):
    """Give the places at which two trees of plain data differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from places(one.get(key, _ABSENT), other.get(key, _ABSENT), (*here, key))
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(
        other
    ):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from places(*pair, (*here, str(number)))
    elif one is _ABSENT or other is _ABSENT or one != other:
        yield here


def is_below(place, path):
    """Whether a place is at a path, which may leave out the names of models and stages."""
    rest = iter(place)
    return all(key in rest for key in path)


def test_names_are_those_of_entries_and_of_one_change_each():
    names = [one.name for one in ABLATIONS]
    assert len(set(names)) == len(names) and set(CHANGES) <= {entry.name for entry in ENTRIES}
    assert all(re.fullmatch(r"[a-z0-9_]+/[a-z0-9_]+", one.name) for one in CHANGED)
    for own in CHANGES.values():
        assert own and len({change.what for change in own}) == len(own)


def test_statements_are_those_of_the_folder():
    files = {one.file for one in CHANGED if one.change.statement}
    assert files == set(PROBLEMS.glob("*.yaml"))
    assert all(one.change.replaced for one in CHANGED if one.change.statement)


@pytest.mark.parametrize("ablation", CHANGED, ids=lambda one: one.name)
def test_an_ablation_differs_from_its_entry_in_what_it_says_and_in_nothing_else(ablation):
    change = ablation.change
    found = list(places(declared(ablation.entry), declared(ablation)))
    said = [text.partition("=")[0].split(".") for text in change.settings]
    said += [text.split(".") for text in change.replaced]
    for place in found:
        assert any(is_below(place, path) for path in said), place
    for path in said:
        assert any(is_below(place, path) for place in found), path


@pytest.mark.parametrize(
    "name", sorted({one.name for one in CHANGED if one.change.statement})
)
def test_a_problem_that_is_stated_otherwise_is_on_the_same_domain_with_the_same_answer(name):
    (ablation,) = (one for one in CHANGED if one.name == name)
    usual, other = experiment(ablation.entry).problem, experiment(ablation).problem
    assert other.domain == usual.domain and other.reference == usual.reference
    assert other.constants["nu" if "burgers" in name else "d"] == usual.constants[
        "nu" if "burgers" in name else "d"
    ]
    assert ablation.reference is ablation.entry.reference


def run(name, error, seed=0, budget=60.0, fresh=1e-9, agreement=None, steps=120):
    return {
        "name": name, "seed": seed, "budget_seconds": budget, "error": error,
        "errors": {"u": error}, "seconds": 61.5, "cpu_seconds": 110.0, "fresh_loss": fresh,
        "loss": fresh, "steps": steps, "reference": "formula", "reference_agreement": agreement,
        "network": "mlp 3x20", "parameters": 921, "setbacks": [], "warnings": [],
        "stop_reason": "time limit",
        "stages": [{"name": "levenberg_marquardt", "steps": steps, "seconds": 60.0,
                    "reason": "time limit", "loss": fresh, "fresh_loss": fresh}],
        "measured": {"command": "python -m experiments.ablations", "versions": {},
                     "machine": {"cpu": "c", "cores": 2}, "executor": "numpy"},
    }  # fmt: skip


def failed(name):
    kept = {key: run(name, 0.0)[key] for key in ("name", "seed", "budget_seconds", "measured")}
    return {**kept, "failed": "ValueError: no such thing"}


ENTRY = Entry("a", 1, "Problem A", {300.0: 1e-6})
OWN = [
    Ablation(ENTRY, change)
    for change in (AS_IT_IS, *(Change(key, f"less {key}") for key in ("p", "q", "r", "s")))
]


def test_a_setting_helps_where_the_error_is_twice_as_large_without_it():
    assert compared(2.1e-6, 1e-6) is Verdict.HELPS and compared(math.inf, 1e-6) is Verdict.HELPS
    assert compared(2e-6, 1e-6) is Verdict.NOTHING and compared(0.5e-6, 1e-6) is Verdict.NOTHING
    assert compared(0.4e-6, 1e-6) is Verdict.HURTS and compared(1e-6, math.inf) is Verdict.HURTS
    assert compared(math.inf, math.inf) is None
    assert compared(9e-13, 1e-14) is Verdict.NOTHING and compared(1.1e-12, 1e-14) is Verdict.HELPS
    assert compared(9e-8, 1e-8, known=1e-7) is Verdict.NOTHING


def test_a_line_has_the_median_of_the_seeds_and_its_ratio_to_that_of_the_setting():
    runs = [run("a", 3e-6, 0), run("a", 1e-6, 1, steps=99), run("a", 1e-7, 2)]
    runs += [run("a/p", 5e-6, 0), run("a/p", 7e-6, 1), run("a/r", math.nan), failed("a/s")]
    usual, p, r, s = lines_of(OWN, runs)
    assert (usual.what, usual.error, usual.steps) == ("the suite's setting", 1e-6, 99)
    assert usual.seeds == [0, 1, 2] and usual.ratio is None and usual.verdict is None
    assert (p.name, p.error, p.ratio, p.verdict) == ("a/p", 7e-6, pytest.approx(7), "helps")
    for lost in (r, s):
        assert lost.error is None and lost.ratio is None and lost.verdict is Verdict.HELPS
    (alone,) = lines_of(OWN, [run("a/p", 1e-6)])
    assert alone.ratio is None and alone.verdict is None
    found = told(OWN, [*runs, run("a", 1e-5, budget=5.0)])["lines"]
    assert [(one["budget_seconds"], one["name"]) for one in found] == [
        (5.0, "a"), (60.0, "a"), (60.0, "a/p"), (60.0, "a/r"), (60.0, "a/s")
    ]  # fmt: skip
    assert json.loads(json.dumps(found))[2]["verdict"] == "helps"


def test_the_page_has_a_table_for_each_problem_and_what_follows():
    runs = [run("a", 1e-6), run("a/p", 1.2e-5, fresh=3e-7), run("a/q", 1.5e-6),
            run("a/r", 2e-7), failed("a/s")]  # fmt: skip
    page = markdown(OWN, runs)
    assert "`python -m experiments.ablations`" in page and "### Problem A" in page
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in page.splitlines() if line.startswith("|")
    }  # fmt: skip
    assert cells["with"][-2:] == ["ratio", "the suite's setting"]
    assert cells["the suite's setting"] == ["1e-09", "1e-06", "61.5", "120", "-", "-"]
    assert cells["less p"] == ["3e-07", "1.2e-05", "61.5", "120", "12", "helps"]
    assert cells["less s"] == ["-", "-", "-", "-", "-", "helps"]
    assert (
        "The suite's setting helps: the error is more than 2 times as large with less p (12); "
        "less s (failed). The suite's setting makes no difference: the error is the same within a "
        "factor of 2 with less q (1.5). The suite's setting hurts: the error is less than 1/2 as "
        "large with less r (0.2)."
    ) in page
    assert (
        "Of 4 changes the suite's setting helps beside 2, makes no difference beside 1 and hurts "
        "beside 1."
    ) in page
    assert "- a/s, 60 s, seed 0: ValueError: no such thing" in page
    page = markdown(ABLATIONS, [run("burgers", 1e-6), run("burgers/plain", 1e-4)])
    assert (
        "- burgers/plain: `experiments/ablations/problems/burgers_dirichlet.yaml`, "
        "`model.auto.features=null`, `sampling.density=null`"
    ) in page
    assert "- burgers:" not in page
    assert "There is nothing to compare yet." in markdown(OWN, runs[:1])


def test_changes_are_measured_with_their_entry_written_and_gone_on_with(tmp_path, capsys):
    arguments = ["--budget", "0.3", "--out", str(tmp_path)]
    assert program.main(["--only", "reaction/muon", *arguments]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == [
        "reaction", "reaction/muon"
    ]  # fmt: skip
    assert program.main(["--only", "reaction/muon", *arguments]) == 0
    assert capsys.readouterr().out == ""
    found = json.loads((tmp_path / "ablations.json").read_text())
    usual, changed = found["rows"]
    assert usual["stages"][0]["name"] == "levenberg_marquardt"
    assert changed["stages"][0]["name"] == "muon"
    assert usual["measured"]["command"] == (
        "python -m experiments.ablations --budget 0.3 --seeds 0 --jobs 1"
    )
    assert [line["name"] for line in found["lines"]] == ["reaction", "reaction/muon"]
    assert "| Muon" in (tmp_path / "ablations.md").read_text()


def test_names_choose_an_entry_with_all_of_its_changes_or_one_of_them(tmp_path, capsys):
    chosen = program.by_name()
    assert [one.name for one in chosen["van_der_pol"]] == [
        "van_der_pol", "van_der_pol/windows_1", "van_der_pol/windows_3",
        "van_der_pol/continuation", "van_der_pol/small"
    ]  # fmt: skip
    assert [one.name for one in chosen["kdv/causal"]] == ["kdv", "kdv/causal"]
    assert program.main(["--only", "burgers/order_3", "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "some of burgers, " in told and "did you mean 'burgers/order_" in told
