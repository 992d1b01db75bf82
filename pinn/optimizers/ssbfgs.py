"""SSBFGS: BFGS that scales its inverse Hessian up where it was too small along the step."""

from __future__ import annotations

from pinn.optimizers.quasi_newton.dense import DenseQuasiNewton
from pinn.optimizers.quasi_newton.inverse_hessian import Mixture
from pinn.schema import declared


@declared
class SSBFGS(DenseQuasiNewton):
    """Self-scaled BFGS: the inverse Hessian is divided by tau = min(1, y's / s'Bs) at each step.

    steps, transform, gradient_tolerance, line_search, seconds, hold, and how much memory it takes:
    as for SSBroyden, which besides mixes BFGS with DFP by what each step has shown.

    Al-Baali, Comput. Optim. Appl. 9 (1998) 191; as used for networks by Urban, Stefanou and Pons,
    J. Comput. Phys. 523 (2025) 113656 (arXiv 2405.04230).
    """

    name = "ssbfgs"

    @staticmethod
    def mixture(b: float, h: float, size: int) -> Mixture:
        return Mixture(min(1.0, 1 / b), 1.0)
