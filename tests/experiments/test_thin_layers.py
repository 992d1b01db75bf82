"""Problems with thin layers: their formulas solve them, and a row can be measured."""

import dataclasses
import json

import numpy as np
import pytest

from experiments import thin_layers
from experiments.thin_layers import ROWS


@pytest.mark.parametrize("name", ROWS)
def test_formulas_solve_the_equation_and_vanish_on_walls(name):
    row = ROWS[name]
    places = row.places()
    h = 1e-3 * row.width
    far = np.all([(x > 0.1 * row.width) & (x < 1 - 0.1 * row.width) for x in places], axis=0)
    inside = [np.longdouble(x[far]) for x in places]
    walls = np.any([(x == 0) | (x == 1) for x in places], axis=0)
    assert np.abs(row.exact(*[x[walls] for x in places])).max() < 1e-15

    def moved(k, by):
        return row.exact(*[x + by * (j == k) for j, x in enumerate(inside)])

    values = {"eps": row.eps, "u": row.exact(*inside), "exp": np.exp}
    for k, c in enumerate(row.domain.coordinates):
        values[c] = inside[k]
        values[f"u_{c}"] = (moved(k, h) - moved(k, -h)) / (2 * h)
        values[f"u_{c}{c}"] = (moved(k, h) - 2 * values["u"] + moved(k, -h)) / h**2
    residual = np.abs(eval(row.equation, {}, values))
    # differences of second order, beside slopes of one over the width
    assert residual.max() < 2e-6 * max(1.0, row.eps / row.width**2)


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    name = "reaction along a line, eps = 0.01"
    monkeypatch.setitem(ROWS, name, dataclasses.replace(ROWS[name], seconds=4))
    assert thin_layers.main(["--only", name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "thin_layers.json").read_text())["rows"]
    assert row["error"] < 1e-8
    assert row["measured"]["command"] == "python -m experiments.thin_layers --seed 0"
    assert name in (tmp_path / "thin_layers.md").read_text()
