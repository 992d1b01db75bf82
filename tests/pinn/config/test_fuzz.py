"""Mutated configs and expressions: taken, or refused with file, line and a sentence."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from experiments.fuzz.configs import configs  # noqa: E402
from experiments.fuzz.mutations import all_mutations, random_mutation, read, write  # noqa: E402
from experiments.fuzz.texts import make_expression, try_config, try_expression  # noqa: E402
from pinn.config import load  # noqa: E402

CONFIGS = configs()


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_is_what_it_was_before_it_was_mutated(name, tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(CONFIGS[name])
    expected = load(path).data
    path.write_text(write(read(CONFIGS[name])))
    assert load(path).data == expected


@pytest.mark.parametrize("name", CONFIGS)
def test_a_mutated_config_is_taken_or_refused_with_its_place(name, tmp_path):
    """Some mutations of one place, of all kinds and at places all over, and some of several."""
    root, path = read(CONFIGS[name]), tmp_path / "case.yaml"
    rng = np.random.default_rng(0)
    several = (random_mutation(root, rng, 3) for _ in range(10))
    stride = sum(1 for _ in all_mutations(root)) // 30 | 1
    for changed in [*islice(all_mutations(root), 0, None, stride), *several]:
        try_config(write(changed).encode(), path)


def test_mutated_expressions_are_taken_or_refused(tmp_path):
    rng = np.random.default_rng(0)
    taken = [try_expression(make_expression(rng), tmp_path) for _ in range(400)]
    assert 0 < sum(taken) < 200
