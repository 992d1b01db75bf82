"""What ranks cost: the model of many, and the page."""


import json

import pytest

from autograd.mpi import FEW
from autograd.ranks import ALONE
from experiments.ranks import __main__ as program
from experiments.ranks import matrices
from experiments.ranks.model import CLUSTER, Network, Step, exchange_seconds, speed_up
from experiments.ranks.page import markdown, parameters
from experiments.ranks.rows import ROWS, objective

AT_ONCE = Network("nothing", 0.0, 0.0, float("inf"))
STEP = Step(1.0, 0.0, 1000, 8, 1_000_000, 3, 0.0)  # 256 lanes


def test_without_a_network_ranks_are_as_fast_as_their_busiest_lanes():
    assert speed_up(STEP, 1, AT_ONCE) == 1
    assert speed_up(STEP, 64, AT_ONCE) == pytest.approx(64)
    assert speed_up(STEP, 100, AT_ONCE) == pytest.approx(256 / 3)  # the busiest has three
    assert speed_up(STEP, 1024, AT_ONCE) == pytest.approx(256)


def test_what_each_rank_does_for_itself_bounds_the_speed_up():
    assert speed_up(STEP._replace(replicated=0.1), 1024, AT_ONCE) < 11


def test_an_exchange_takes_its_rounds_and_its_bytes():
    network = Network("slow", 1.0, 0.125, 1000.0)
    few = STEP._replace(sums=FEW // 256)
    assert exchange_seconds(few, 8, network) == pytest.approx(3 + 3 + 8 * FEW / 1000)
    many = STEP._replace(sums=1000)
    parts = 1 + 7 * 0.125 + 32 * 8000 / 1000
    assert exchange_seconds(many, 8, network) == pytest.approx(3 + parts + 3 + 8000 / 1000)


def test_sums_and_lanes_of_the_model_are_those_of_a_step():
    row = ROWS[0]._replace(points=200)
    assert parameters(row._asdict()) == objective(row, ALONE, 1).size


def test_the_page_shows_what_was_measured_and_what_is_modelled(tmp_path, monkeypatch, capsys):
    ways = {
        "1 x 1": {"step_ms": 100.0, "exchange_ms": 0.2, "steps": 5},
        "1 x 2": {"step_ms": 52.0, "exchange_ms": 0.2, "steps": 5},
        "2 x 1": {"step_ms": 51.0, "exchange_ms": 0.51, "steps": 5},
        "4 x 1": {"step_ms": 60.0, "exchange_ms": 1.0, "steps": 5},
    }
    seen = {"ways": ways, "few_points_ms": 1.0}
    monkeypatch.setattr(program, "measure", lambda row: {**row._asdict(), **seen})
    assert program.main(["--only", ROWS[0].name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "ranks.json").read_text())["rows"]
    page = (tmp_path / "ranks.md").read_text()
    assert page == markdown([row])
    cells = [cell.strip() for cell in page.split(ROWS[0].name)[1].splitlines()[0].split("|")[1:-1]]
    assert cells == ["100", "52", "51", "1.0 %", "60", "51.5"]  # 49 of 97 lanes
    assert CLUSTER.name in page
    capsys.readouterr()


def test_matrices_of_solvers_are_measured_one_by_one(monkeypatch, capsys):
    monkeypatch.setattr(matrices, "KERNELS", ((5, 9),))
    monkeypatch.setattr(matrices, "TRIANGLES", ((9, 5),))
    monkeypatch.setattr(matrices, "_SECONDS", 0.0)
    matrices.main()
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[:3] for line in told] == [["kernel", "5", "9"], ["triangle", "9", "5"]]
    assert all(float(line[3]) > 0 for line in told)
