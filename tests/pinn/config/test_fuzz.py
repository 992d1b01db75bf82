"""Mutated configs and expressions: taken, or refused with file, line and a sentence."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import pinn

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from experiments.fuzz.configs import configs  # noqa: E402
from experiments.fuzz.expressions import random_text  # noqa: E402
from experiments.fuzz.mutations import all_mutations, random_mutation, read, write  # noqa: E402
from experiments.fuzz.trying import try_config, try_expression  # noqa: E402
from pinn.config import load  # noqa: E402

CONFIGS = configs()
PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u", "v"], {"f": "u_t + v", "g": "v_t - u"},
    constants={"nu": 0.1, "k": 2}, parameters=[pinn.Parameter("a", 0.1)],
)  # fmt: skip


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
        finding = try_config(write(changed), path)
        assert finding is None, write(changed)


def test_mutated_expressions_are_taken_or_refused():
    rng = np.random.default_rng(0)
    for _ in range(400):
        text = random_text(rng)
        assert try_expression(text, PROBLEM) is None, repr(text)
