"""Problems whose conditions are trained: their formulas solve them, and a row can be measured."""

import json
import math

import numpy as np
import pytest

import autograd as T
from experiments import equation_weights
from experiments.equation_weights import ROWS
from pinn.training.experiment import Experiment

FUNCTIONS = {"pi": math.pi, "sin": T.sin, "cos": T.cos, "exp": T.exp, "sqrt": math.sqrt}


class Formulas(T.nn.Module):
    """A network that is the reference of a problem, whatever it has learned."""

    def __init__(self, problem):
        super().__init__()
        self.problem = problem
        self.none = T.nn.Parameter(T.zeros(1, dtype=T.float64))

    def forward(self, points):
        columns = {name: points[:, j] for j, name in enumerate(self.problem.domain.coordinates)}
        values = [eval(self.problem.reference[name], {**FUNCTIONS, **columns})
                  for name in self.problem.unknowns]  # fmt: skip
        return T.stack(values, dim=1) * (1 + self.none)


@pytest.mark.parametrize("name", ROWS)
def test_formulas_solve_equations_and_conditions(name):
    problem = ROWS[name].problem()
    objective = Experiment(problem, Formulas(problem)).objective()
    found = objective.residuals(np.zeros(1))
    assert len(found) > len(problem.equations)
    for block, rows in found.items():
        assert np.abs(rows).max() < 1e-9, block


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(equation_weights, "_LIMIT", 2)
    assert equation_weights.main(["--only", "elasticity", "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "equation_weights.json").read_text())["rows"]
    assert row["weights"] == {"balance_x": 0.001, "balance_y": 0.001}
    assert all(0 < error < np.inf for error in row["errors"].values())
    assert set(row["errors"]) == {"default", "default, all 1", "layers", "layers, all 1"}
    assert row["measured"]["command"] == "python -m experiments.equation_weights --seed 0"
    page = (tmp_path / "equation_weights.md").read_text()
    assert "- elasticity (two displacements, given on the boundary; balance_x 0.001" in page
