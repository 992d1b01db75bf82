"""The stages that are used where none are given."""

from __future__ import annotations

from pinn.optimizers import LBFGS, Adam, ExponentialDecay, SSBroyden, Stage

# Up to this size a step of the dense inverse Hessian costs no more than a gradient on a few
# thousand points, and is worth many of those of L-BFGS.
MOST_DENSE = 5000
# Of SSBroyden without a limit in time: about half a minute for a small network on two cores.
_STEPS = 5000
# Of each stage where the limit is the time.
_UNLIMITED = 10_000_000
# The share of the time that Adam may take before the quasi-Newton stage begins.
_ADAM_SHARE = 0.2


def default_training(size: int, seconds: float | None = None) -> list[Stage]:
    """Return the stages for a number of trainable numbers: Adam to settle, then quasi-Newton.

    SSBroyden where its dense inverse Hessian pays, L-BFGS for larger models. seconds: the time that
    all stages together may take, as the limit of pinn.solve; with None the number of steps is
    fixed, so that equal arguments give equal bits. Either way the last stage ends before its limit
    where the loss goes no lower.
    """
    falls = ExponentialDecay(final_rate=1e-3)
    settle, share = Adam(steps=500, learning_rate=5e-3, schedule=falls), None
    steps = _STEPS
    if seconds is not None:
        steps, share = _UNLIMITED, _ADAM_SHARE * seconds
        settle = Adam(steps=500, learning_rate=5e-3, schedule=falls, seconds=share)
    return [settle, SSBroyden(steps=steps) if size <= MOST_DENSE else LBFGS(steps=steps)]
