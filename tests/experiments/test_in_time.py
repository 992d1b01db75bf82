"""The table of equations in time alone: its formulas, references and results files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import in_time
from experiments.in_time import ROWS


@pytest.mark.parametrize(("name", "slope"), [
    ("decay", lambda t, u: [-u[0]]),
    ("logistic growth to 1e6", lambda t, u: [u[0] * (1 - u[0] / 1e6)]),
    ("a stiff equation, k = 1000", lambda t, u: [-1000 * (u[0] - np.cos(t))]),
    ("a chain of decays, k = 1000", lambda t, u: [-u[0], u[0] - 1000 * u[1], 1000 * u[1]]),
    ("a pulse of a hundredth", lambda t, u: [-u[0] + 100 * np.exp(-(((t - 5) / 0.01) ** 2))]),
])  # fmt: skip
def test_a_formula_satisfies_its_equations_and_starts(name, slope):
    row, h = ROWS[name], 1e-7
    t = np.concatenate([np.geomspace(1e-4, 1e-2, 9), np.linspace(0.1, row.end, 60), [5.005]])
    before, at, after = (np.array(row.exact(t + k * h)) for k in (-1, 0, 1))
    slopes = np.array(slope(t, at))
    size = np.abs(slopes).max(axis=1, keepdims=True) + np.abs(at).max(axis=1, keepdims=True)
    assert np.max(np.abs((after - before) / (2 * h) - slopes) / size) < 1e-6
    starts = [values[0] for values in row.starts.values()]
    np.testing.assert_allclose([u[0] for u in row.exact(np.zeros(1))], starts, atol=1e-12)


@pytest.mark.parametrize("name", ["pendulum from 2.5", "van der Pol, mu = 100", "Robertson"])
def test_references_agree(name):
    found, apart = ROWS[name].reference(np.linspace(0, ROWS[name].end, 50))
    assert found.shape == (len(ROWS[name].starts), 50)
    assert np.all((apart > 0) & (apart < 1e-6 * np.abs(found).max(axis=1)))


def test_a_row_is_measured_and_written_with_what_measured_it(tmp_path, capsys):
    assert in_time.main(["--only", "decay", "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "in_time.json").read_text())["rows"]
    assert row["error"] < 1e-10 and row["trusted"]
    assert row["measured"]["command"] == "python -m experiments.in_time --seed 0"
    page = (tmp_path / "in_time.md").read_text()
    assert "| decay " in page and "references apart" in page
    capsys.readouterr()
    assert in_time.main(["--only", "decay", "--out", str(tmp_path)]) == 0  # is there already
    assert capsys.readouterr().out == ""


def test_wrong_usage_is_a_sentence(tmp_path, capsys):
    assert in_time.main(["--only", "decai", "--out", str(tmp_path)]) == 2
    assert "did you mean 'decay'" in capsys.readouterr().err
