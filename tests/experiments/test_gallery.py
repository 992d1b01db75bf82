"""The gallery has every config that ships, and its page is what its rows say."""

import json
from pathlib import Path

import numpy as np
import pytest

import pinn
from experiments import gallery

ROOT = Path(__file__).parents[2]
STORED = json.loads((ROOT / "experiments/results/gallery.json").read_text(encoding="utf-8"))["rows"]


def test_every_config_that_ships_is_in_it_once():
    shipped = [path.stem for path in (ROOT / "configs").glob("*.yaml")]
    assert sorted(gallery.NAMES) == sorted(shipped)
    assert sorted(row["name"] for row in STORED) == sorted(shipped)


def test_the_page_is_what_the_rows_say():
    assert (ROOT / "docs/gallery.md").read_text(encoding="utf-8") == gallery.page(STORED)


def test_pictures_are_small():
    sizes = {name: (ROOT / f"docs/gallery/{name}.png").stat().st_size for name in gallery.NAMES}
    assert max(sizes.values()) < 60_000, sizes


@pytest.mark.parametrize("name", gallery.NAMES)
def test_the_header_of_a_config_is_read_whole(name):
    header = gallery.told(name)
    assert header.title.endswith(".") and header.shows.endswith(".") and header.try_.endswith(".")
    assert "error:" not in header.try_ and "Shows" not in header.title
    assert " after " in header.error


def test_what_a_run_ended_with_is_told_in_a_sentence():
    row = {"cpu_seconds": 12.3, "rel_l2": {"u": 1.234e-5}, "estimated": {}, "parameters": {},
           "standard_errors": {}}  # fmt: skip
    assert gallery.ended(row) == "error 1.2e-05, after 12 s of one core."
    row |= {"rel_l2": {}, "estimated": {"u": 1e-3, "v": 2e-3}, "parameters": {"k": 0.30123456},
            "standard_errors": {"k": 0.0012}}  # fmt: skip
    assert gallery.ended(row) == (
        "k = 0.301235 ± 0.001; estimated error 1.0e-03 of u, 2.0e-03 of v, after 12 s of one core."
    )


@pytest.mark.filterwarnings("ignore::pinn.UnsolvedWarning")
def test_the_picture_is_that_of_the_unknown_coefficient():
    problem = pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"], fields=[pinn.Field("q", ["x"])],
        equations={"string": "u_xx + q"},
        conditions=[pinn.Dirichlet("u", 0, hard=True),
                    pinn.Data("u", {"x": np.array([0.2, 0.5]), "u": np.array([0.1, 0.2])})],
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(4, 1), pinn.Sampling(20), [pinn.Adam(steps=1)], error_bars=False
    )
    drawn = []
    field_data = solution.field_data
    solution.field_data = lambda name, **held: drawn.append(name) or field_data(name, **held)
    png = gallery.picture(solution)
    assert drawn == ["q"] and png.startswith(b"\x89PNG") and len(png) < 60_000
