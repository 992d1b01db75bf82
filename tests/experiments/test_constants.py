"""Every constant of the problems here is used: a check that tells of one is mistaken."""

from importlib import import_module

import pytest

from experiments.newcomer_problems import ROWS
from experiments.suite.entries import ENTRIES
from pinn.config import load
from pinn.training.experiment import Experiment
from pinn.training.unused import unused_constants


@pytest.mark.parametrize("name", ROWS)
def test_the_problems_of_newcomers_use_their_constants(name):
    assert unused_constants(Experiment(ROWS[name].problem())) == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_problems_of_the_suite_use_their_constants(entry):
    if entry.file.suffix == ".yaml":
        experiment = load(entry.file).experiment
    else:
        program = import_module(f"experiments.suite.problems.{entry.name}")
        experiment = Experiment(program.PROBLEM)
    assert unused_constants(experiment) == []
