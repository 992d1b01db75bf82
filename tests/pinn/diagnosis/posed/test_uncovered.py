"""Parts of a domain without an equation are told before training, no others."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.diagnosis import preflight
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.uncovered import uncovered
from pinn.training.experiment import Experiment

BC, P, EQ = pinn.Dirichlet, pinn.Problem, pinn.Equation
X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)
CONFIGS = Path(__file__).parents[3] / "configs"
ZERO = [BC("u", 0)]
HALF = EQ("u_xx + 1", on="x < 0.5")
DISC = pinn.Disk((0.5, 0.5), 0.3)

OPEN = {
    "half of a line": (P(X, ["u"], {"e": HALF}, ZERO), 0.5),
    "a region": (
        P(X * Y, ["u"], {"e": EQ("laplacian(u) + 1", on="left")}, ZERO,
          regions={"left": "x < 0.3"}), 0.7,
    ),
    "all but a disc": (
        P(X * Y, ["u"], {"e": EQ("laplacian(u) + 1", on=DISC)}, ZERO), 1 - 0.09 * np.pi,
    ),
    "a gap": (
        P(X, ["u"], {"e": EQ("u_xx + 1", on="x < 0.5"), "f": EQ("u_xx - 1", on="x > 0.7")}, ZERO),
        0.2,
    ),
    "a gap between media": (
        P(X, ["a", "b"], {"l": EQ("a_xx", on="x < 0.4"), "r": EQ("b_xx", on="x > 0.6")},
          [BC("a", 0, on="x=0"), BC("b", 0, on="x=1")]), 0.2,
    ),
    "later": (
        P(X * T, ["u"], {"e": EQ("u_t - u_xx", on="t < 0.3")}, [*ZERO, pinn.Initial("u", 0)]), 0.7,
    ),
    "a function": (P(X, ["u"], {"e": EQ(lambda s: s.u_xx + 1, on="x < 0.5")}, ZERO), 0.5),
    "a choice of zero": (P(X, ["u"], {"e": "where(x < 0.4, u_xx + 1, 0)"}, ZERO), 0.6),
    "a factor of zero": (
        P(X, ["u"], {"e": "k*(u_xx + 1)"}, ZERO, regions={"left": "x < 0.3"},
          piecewise={"k": {"left": 1, "elsewhere": 0}}), 0.7,
    ),
    "one unknown too many": (
        P(X, ["u", "v"], {"e": "u_xx + v", "f": EQ("v_xx + 1", on="x < 0.5")}, [*ZERO, BC("v", 0)]),
        0.5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_the_share_without_an_equation_is_told(name):
    problem, share = OPEN[name]
    (sentence,) = uncovered(Statement(problem))
    told = float(re.search(r"in about (\d+) % of the domain, as at", sentence)[1])
    assert told == pytest.approx(100 * share, abs=1)
    assert "so that nothing determines" in sentence


def test_it_is_said_before_training_with_a_place_and_the_part():
    (sentence,) = preflight(Experiment(OPEN["half of a line"][0], pinn.MLP(4, 1)).objective())
    assert sentence.startswith(
        "no equation holds in about 50 % of the domain, as at x = 0.75 (equation 'e' holds on "
        "x < 0.5 alone), so that nothing determines 'u' there; let it hold everywhere"
    )
    (sentence,) = uncovered(Statement(OPEN["one unknown too many"][0]))
    assert "only 'e' holds, fewer equations than the 2 unknowns" in sentence


COVERED = {
    "everywhere": P(X, ["u"], {"e": "u_xx + 1"}, ZERO),
    "two halves": P(X, ["u"], {"e": HALF, "f": EQ("2*u_xx + 1", on="x > 0.5")}, ZERO),
    "two media": P(
        X, ["a", "b"], {"l": EQ("a_xx + 1", on="x < 0.4"), "r": EQ("b_xx + 1", on="x > 0.4")},
        [BC("a", 0, on="x=0"), BC("b", 0, on="x=1")],
    ),
    "an unknown of one half": P(
        X, ["u", "v"], {"e": "u_xx + 1", "f": EQ("v_xx + u", on="x < 0.5")}, [*ZERO, BC("v", 0)]
    ),
    "an electrode in half of an electrolyte": P(
        X, ["s", "u"],
        {"s": EQ("s_xx - s + u", on="x < 0.5"), "u": "u_xx - where(x < 0.5, u - s, 0)"},
        [pinn.Neumann("s", 1, on="x=0"), pinn.Operator("s_x", at={"x": 0.5}), BC("u", 0, on="x=1")],
    ),
    "measured elsewhere": P(
        X, ["u"], {"e": HALF}, [*ZERO, pinn.Data("u", {"x": [0.6, 0.7, 0.8], "u": [0, 0, 0]})]
    ),
    "a source in one half": P(X, ["u"], {"e": "u_xx + where(x < 0.5, 1, 0)"}, ZERO),
    "another equation there": P(X, ["u"], {"e": "where(x < 0.5, u_xx + 1, u_xx)"}, ZERO),
    "a choice by the unknown": P(X, ["u"], {"e": "where(u < 0.5, u_xx, 0)"}, ZERO),
    "an inequality": P(X, ["u"], {"e": "max(where(x < 0.5, 1, 0) - u, 0)", "f": "u_xx"}, ZERO),
    "a seam": P(
        X * Y, ["u"], {"e": EQ("laplacian(u)", on="x < 0.5"), "f": EQ("u_xx + u_yy", on="x>0.505")},
        ZERO,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COVERED)
def test_of_what_is_covered_nothing_is_said(name):
    assert list(uncovered(Statement(COVERED[name]))) == []


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.yaml")))
def test_no_config_that_ships_leaves_a_part_open(name):
    problem = load(CONFIGS / f"{name}.yaml").experiment.problem
    assert list(uncovered(Statement(problem))) == []
