"""Inverse problems with noise: what is called exact solves them, and a row can be measured."""

import json

import numpy as np
import pytest

import pinn
from experiments import noisy_data
from experiments.noisy_data import ROWS


def slopes(function, at, name, step=1e-3):
    """The first and second derivative by differences of fourth order."""
    near = {j: function(**at | {name: at[name] + j * step}) for j in (-2, -1, 0, 1, 2)}
    first = (8 * (near[1] - near[-1]) - near[2] + near[-2]) / (12 * step)
    second = 16 * (near[1] + near[-1]) - near[2] - near[-2] - 30 * near[0]
    return first, second / (12 * step**2)


def pressure(x, y, t):
    return -(np.cos(2 * x) + np.cos(2 * y)) / 4 * np.exp(-0.4 * t)


@pytest.mark.parametrize("name", ROWS)
def test_what_is_called_exact_solves_the_equations(name):
    row = ROWS[name]
    low, high = np.array(list(row.domain.bounds.values())).T
    inside = np.random.default_rng(0).uniform(0.01, 0.99, (50, len(low)))
    at = dict(zip(row.domain.coordinates, (low + (high - low) * inside).T, strict=True))
    exact = {**row.exact, **dict.fromkeys(row.unmeasured, pressure)}
    values = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "pi": np.pi, **at}
    values |= {one: truth for one, (_, truth) in row.coefficients.items()}
    for one, function in exact.items():
        values[one], values[f"laplacian({one})"] = function(**at), 0.0
        for c in at:
            first, second = slopes(function, at, c)
            values |= {f"{one}_{c}": first, f"{one}_{2 * c}": second}
            if c != "t":
                values[f"laplacian({one})"] += second
    if "a_x" in values:
        flux = "a_x*u_x + a_y*u_y + a*(u_xx + u_yy)"
        values["div(a*grad(u))"] = eval(flux, {}, values)
    for text in row.equations.values():
        terms = {one: f"v{k}" for k, one in enumerate(values) if "(" in one}
        named = values | {short: values[one] for one, short in terms.items()}
        for one, short in terms.items():
            text = text.replace(one, short)
        assert np.abs(eval(text, {}, named)).max() < 1e-6


STARTED = [(name, one) for name, row in ROWS.items() for one in row.conditions
           if isinstance(one, pinn.Initial)]  # fmt: skip


@pytest.mark.parametrize(("name", "condition"), STARTED, ids=str)
def test_what_is_called_exact_has_the_start_that_is_given(name, condition):
    at = ROWS[name].places()
    at["t"] = 0 * at["t"]
    known = {"exp": np.exp, "sin": np.sin, "pi": np.pi, **at}
    given = eval(str(condition.value), {}, known)
    np.testing.assert_allclose(ROWS[name].exact[condition.unknown](**at), given, atol=1e-12)


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    name = "a spring"
    monkeypatch.setattr(noisy_data, "_SECONDS", 4)
    assert noisy_data.main(["--only", name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "noisy_data.json").read_text())["rows"]
    assert 0 < row["default"]["errors"]["u"] < 1  # how small, a busy machine decides
    assert any("grow heavier" in one for one in row["default"]["decisions"])
    assert not any("grow heavier" in one for one in row["equal"]["decisions"])
    assert row["measured"]["command"] == "python -m experiments.noisy_data --seed 0"
    assert name in (tmp_path / "noisy_data.md").read_text()
