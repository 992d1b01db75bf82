"""`new NAME`, and configs by the names under which they ship."""

from pathlib import Path

import pytest

from pinn.cli import main
from pinn.config import load
from pinn.config.shipped import data_of, shipped_config, shipped_folder

SHIPPED = sorted(path.stem for path in shipped_folder().glob("*.yaml"))


def test_a_config_that_ships_is_written_with_its_data(folder, capsys):
    assert main(["new", "lorenz"]) == 0
    assert capsys.readouterr().out.split() == ["lorenz.yaml", "data/force.csv", "data/lorenz.csv"]
    assert Path("lorenz.yaml").read_bytes() == shipped_config("lorenz").read_bytes()
    assert load("lorenz.yaml").experiment.problem.name == "lorenz"
    assert main(["new", "lorenz", "mine/other.yaml"]) == 0
    assert load("mine/other.yaml").experiment.problem.name == "other"


@pytest.mark.parametrize("name", SHIPPED)
def test_each_reads_what_is_copied_with_it_and_nothing_else(folder, name):
    assert main(["new", name]) == 0
    load(f"{name}.yaml")
    copied = sorted(path for path in Path("data").glob("*")) if Path("data").exists() else []
    assert copied == data_of(shipped_config(name))


def test_nothing_is_written_over(folder, capsys):
    assert main(["new", "burgers"]) == 0
    assert main(["new", "burgers"]) == 2
    assert "burgers.yaml is there already, as it ships" in capsys.readouterr().err
    Path("burgers.yaml").write_text("precious")
    assert main(["new", "burgers"]) == 2
    assert "burgers.yaml is there already, and nothing is written over it" in (
        capsys.readouterr().err
    )
    assert Path("burgers.yaml").read_text() == "precious"
    Path("data").mkdir()
    Path("data/lorenz.csv").write_text("precious")
    assert main(["new", "lorenz"]) == 2
    assert "data/lorenz.csv is there already" in capsys.readouterr().err
    assert not Path("lorenz.yaml").exists()


def test_a_name_that_does_not_ship_is_refused_with_the_nearest(folder, capsys):
    assert main(["new", "burger"]) == 2
    assert "is called 'burger'; did you mean 'burgers'" in capsys.readouterr().err


def test_the_name_is_enough_to_train_and_to_check(folder, capsys):
    assert main(["check", "ode_system"]) == 0
    assert "ode_system" in capsys.readouterr().out
    assert main(["check", "burgerz"]) == 2
    assert "burgerz: no such file, and no config that ships" in capsys.readouterr().err
    # a file of that name comes first
    Path("burgers").write_text(Path("heat.yaml").read_text())
    assert main(["check", "burgers"]) == 0
    assert "heat" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "train"])
def test_the_path_of_a_config_that_ships_is_answered_with_its_name(folder, capsys, command):
    assert main([command, "configs/burgers.yaml"]) == 2
    assert (
        "configs/burgers.yaml: no such file, and a config that ships is called 'burgers': give "
        "that name alone" in capsys.readouterr().err
    )
    assert main([command, "configs/mine.yaml"]) == 2
    assert "ships" not in capsys.readouterr().err
