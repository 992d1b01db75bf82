"""BFGS: quasi-Newton steps with a dense inverse Hessian, without scaling."""

from __future__ import annotations

from pinn.optimizers.quasi_newton.dense import DenseQuasiNewton
from pinn.optimizers.quasi_newton.inverse_hessian import PLAIN, Mixture
from pinn.schema import declared


@declared
class BFGS(DenseQuasiNewton):
    """BFGS with a dense inverse Hessian, a strong Wolfe search, and restarts.

    steps, transform, gradient_tolerance, line_search, seconds, hold, and how much memory it takes:
    as for SSBroyden, which scales H at each step besides and does better on most of these losses.

    Nocedal and Wright, Numerical Optimization, 2nd ed., section 6.1 (algorithm 6.1).
    """

    name = "bfgs"

    @staticmethod
    def mixture(b: float, h: float, size: int) -> Mixture:
        return PLAIN
