"""How far a solution is from the true one, without a reference."""

from pinn.estimates.estimate import error_estimate
from pinn.estimates.noise_band import NoiseBand
from pinn.estimates.record import ErrorEstimate
from pinn.estimates.unseen import not_determined, undetermined

__all__ = ["ErrorEstimate", "NoiseBand", "error_estimate", "not_determined", "undetermined"]
