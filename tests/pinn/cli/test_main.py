"""What all commands share."""

import platform

import numpy as np
import pytest

import pinn
from pinn.cli import main


def test_version_and_help(capsys):
    for option, start_of_output in (("--version", "pinn "), ("--help", "usage: python -m pinn ")):
        with pytest.raises(SystemExit) as caught:
            main([option])
        assert caught.value.code == 0
        assert capsys.readouterr().out.startswith(start_of_output)


def test_the_version_comes_with_those_of_what_it_computes_with(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"pinn {pinn.__version__}"
    told = dict(line.split(" ", 1) for line in lines[:-1])
    assert told["numpy"] == np.__version__ and told["python"] == platform.python_version()
    assert ", kernels " in told["blas"]
    assert told.keys() == {"python", "numpy", "scipy", "blas", "numba", "cupy"}


@pytest.mark.parametrize("arguments", [[], ["trian"], ["train"], ["train", "a", "--bogus"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ")


@pytest.mark.parametrize(("arguments", "meant"), [
    (["trian"], "train"), (["runs", "lst"], "list"), (["train", "a", "--secnds", "3"], "--seconds"),
    (["train", "a", "--seeed=3"], "--seed"), (["runs", "list", "--hlep"], "--help"),
    (["train", "a", "--frobnicate"], None),
])  # fmt: skip
def test_what_is_misspelt_is_told(arguments, meant, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    said = capsys.readouterr().err
    assert said.endswith(f"; did you mean {meant!r}?\n") if meant else "did you mean" not in said
