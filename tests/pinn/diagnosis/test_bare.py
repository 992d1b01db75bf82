"""No condition is said to be missing in the configs that ship."""

import dataclasses
from pathlib import Path

import pytest

import pinn
from pinn.config import load
from pinn.diagnosis.held import HeldByModel
from pinn.diagnosis.missing import missing
from pinn.diagnosis.statement import Statement

CONFIGS = Path(__file__).parents[3] / "configs"


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.yaml")))
def test_no_condition_is_said_to_be_missing(name):
    experiment = load(CONFIGS / f"{name}.yaml").experiment
    if isinstance(experiment.model, pinn.AutoModel):  # what a trial may choose
        experiment = dataclasses.replace(experiment, model=experiment.model.trained(1))
    objective = experiment.objective()
    assert missing(Statement(objective.problem), HeldByModel(objective)) == []
