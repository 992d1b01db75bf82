"""Problems with narrow sources: their series solve them, and a row can be measured."""

import dataclasses
import json

import numpy as np
import pytest

from experiments import narrow_sources
from experiments.narrow_sources import ROWS


@pytest.mark.parametrize("name", [name for name in ROWS if ROWS[name].w >= 0.01])
def test_series_solve_the_equation_and_vanish_on_walls(name, monkeypatch):
    """By differences of fourth order on the grid, made finer than the source."""
    row = ROWS[name]
    count = {1: 2001, 2: 401, 3: 61}[len(row.domain.coordinates)]
    monkeypatch.setattr(narrow_sources, "_GRIDS", dict.fromkeys((1, 2, 3), count))
    u, at = row.exact(row.w), row.places()
    h = 1 / (count - 1)
    slopes, seconds = {}, {}
    for k, c in enumerate(row.domain.coordinates):
        near = {j: np.roll(u, -j, axis=k) for j in (-2, -1, 1, 2)}
        slopes[c] = (8 * (near[1] - near[-1]) - near[2] + near[-2]) / (12 * h)
        seconds[c] = (16 * (near[1] + near[-1]) - near[2] - near[-2] - 30 * u) / (12 * h**2)
        if c != "t":
            assert np.abs(np.take(u, [0, -1], axis=k)).max() < 1e-13 * np.abs(u).max()
    values = {"w": row.w, "u": u, "exp": np.exp, "sin": np.sin, "pi": np.pi, **at}
    values |= {f"{c * n}".join(["u_", ""]): d[c] for n, d in ((1, slopes), (2, seconds)) for c in d}
    values["laplacian"] = lambda _: sum(seconds.values())
    left, right = (eval(side, {}, values) for side in row.equation.split(" = "))
    inside = (slice(3, -3),) * u.ndim
    residual = np.abs(left - right)[inside]
    assert residual.max() < 2e-2 * (h / row.w / 0.25) ** 4 * np.abs(right).max()


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    name = "bar, w = 0.01"
    monkeypatch.setitem(ROWS, name, dataclasses.replace(ROWS[name], seconds=6))
    assert narrow_sources.main(["--only", name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "narrow_sources.json").read_text())["rows"]
    assert row["error"] < 1e-9
    assert row["measured"]["command"] == "python -m experiments.narrow_sources --seed 0"
    assert name in (tmp_path / "narrow_sources.md").read_text()
