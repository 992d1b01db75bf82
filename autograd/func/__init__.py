"""Functions made of functions: derivatives as functions of the arguments, one function for many
examples, and modules as functions of their parameters.

What they return can be differentiated where it depends on what requires grad, the arguments or
tensors from outside, and is detached where it does not.  All of them go together: `vmap(grad(u))`,
`vmap(hessian(u), in_dims=(None, 0))`, `grad(grad(u))`.
"""

from .gradients import grad, grad_and_value, linearize, vjp
from .jacobians import hessian, jacfwd, jacrev
from .modules import functional_call, stack_module_state
from .pushes import jvp
from .vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
