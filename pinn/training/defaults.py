"""The stages that are used where none are given."""

from __future__ import annotations

from pinn.optimizers import LBFGS, Adam, Stage


def default_training() -> list[Stage]:
    """Return the stages that are used where none are given: Adam to settle, then L-BFGS."""
    return [Adam(steps=500, learning_rate=5e-3, final_rate=1e-3), LBFGS(steps=6000)]
