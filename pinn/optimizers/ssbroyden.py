"""SSBroyden: self-scaled quasi-Newton steps with a dense inverse Hessian."""

from __future__ import annotations

import math

from pinn.optimizers.quasi_newton.dense import DenseQuasiNewton
from pinn.optimizers.quasi_newton.inverse_hessian import PLAIN, Mixture
from pinn.schema import declared


@declared
class SSBroyden(DenseQuasiNewton):
    """Quasi-Newton with a dense inverse Hessian H, a strong Wolfe search, and restarts.

    steps: most iterations; one takes one evaluation, now and then a few more. transform: what is
    minimised, "log" of the loss (which keeps its scale the same all the way down), its "sqrt", or
    its "value"; log and sqrt need a loss that is not negative, as sums of squares are.
    gradient_tolerance: the stage ends when no component of the loss's gradient is larger.
    line_search: most evaluations of one search. seconds: limit of the stage's wall time, None for
    none. hold: fewest steps between two changes of an adaptive weighting's weights.

    H takes size^2 / 2 float64 numbers and two passes over them a step: meant for up to a few
    thousand parameters. On a GPU it lies there with all vectors, as size^2 numbers. At the start,
    and after a line search that failed, the step goes along the gradient and the next H is plain
    BFGS from (y's / y'y) times the identity; a search that fails along the gradient ends the stage.
    New points and weights keep H while it is positive definite.
    Raises ValueError for a number outside its range or an unknown transform.

    Urban, Stefanou and Pons, J. Comput. Phys. 523 (2025) 113656 (arXiv 2405.04230), equations
    13-23; Kiyani et al., Comput. Methods Appl. Mech. Eng. 446 (2025) (arXiv 2501.16371).
    """

    name = "ssbroyden"

    @staticmethod
    def mixture(b: float, h: float, size: int) -> Mixture:
        a = max(b * h - 1, 0.0)  # not negative by Cauchy-Schwarz, but for rounding
        # 1 - sqrt(a / (1 + a)), without the cancellation for large a.
        gap = 1 / ((1 + a) * (1 + math.sqrt(a / (1 + a))))
        rho = min(1.0, h * gap)
        if not rho > 0 or math.isinf(a):
            return PLAIN
        lowest = (rho - 1) / a if a > 0 else -math.inf
        theta = max(lowest, min(1 / rho, (1 - b) / b))
        sigma = 1 + a * theta
        if not sigma > 0:
            return PLAIN
        # In one dimension all members are the same, and sigma is 1 but for rounding.
        root = sigma ** (1 / (1 - size)) if size > 1 else 1.0
        bound = min(1.0, 1 / b)
        tau = min(bound * root, sigma) if theta <= 0 else bound * min(root, 1 / theta)
        return Mixture(tau, (1 - theta) / sigma)
