"""A differentiable tensor with PyTorch's semantics, on numpy and cupy arrays.

import autograd as T

x = T.tensor(3.0, requires_grad=True)
(slope,) = T.grad(x**3, x, create_graph=True)    # 27
(curvature,) = T.grad(slope, x)                  # 18
"""
# ruff: noqa: F403

import numpy as _np

from . import (
    autograd,
    backends,
    cuda,
    dtypes,
    fft,
    func,
    functional,
    inplace,
    linalg,
    modes,
    nn,
    optim,
    quasirandom,
    random,
    special,
    testing,
    utils,
)
from .checkpoint import checkpoint
from .devices import as_device as device
from .devices import get_default_device, set_default_device
from .dtypes import *
from .engine import backward, grad
from .func import vmap
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .memory import keep_freed_memory as _keep_freed_memory
from .modes import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from .nn.dropout import torch_dropout as dropout
from .nn.functional import cosine_similarity
from .ops.creation.create import *
from .ops.creation.typed import *
from .ops.creation.windows import *
from .ops.elementwise.activations import *
from .ops.elementwise.arithmetic import *
from .ops.elementwise.cast import *
from .ops.elementwise.compare import *
from .ops.elementwise.complex import *
from .ops.elementwise.integers import *
from .ops.elementwise.piecewise import *
from .ops.elementwise.representation import *
from .ops.elementwise.smooth import *
from .ops.grids.convolution import *
from .ops.grids.gradient import *
from .ops.grids.trapezoid import *
from .ops.layout.arrange import *
from .ops.layout.gather import *
from .ops.layout.index import *
from .ops.layout.join import *
from .ops.layout.mask import *
from .ops.layout.shape import *
from .ops.matrices.covariance import *
from .ops.matrices.decompositions import cholesky_inverse, cholesky_solve
from .ops.matrices.distance import *
from .ops.matrices.einsum import *
from .ops.matrices.linalg import *
from .ops.matrices.matmul import *
from .ops.matrices.matrix_exp import *
from .ops.matrices.norm import *
from .ops.matrices.older import *
from .ops.matrices.vander import *
from .ops.positions.counts import *
from .ops.positions.order import *
from .ops.positions.replace import *
from .ops.reductions.cumulative import *
from .ops.reductions.extrema import *
from .ops.reductions.reduce import *
from .ops.reductions.running import *
from .ops.reductions.softmax import *
from .ops.special.bessel import i0
from .ops.special.distributions import igamma, igammac, logit
from .ops.special.distributions import multigammaln as mvlgamma
from .ops.special.gamma import *
from .plan.compiled import compile
from .plan.lanes.eager import install as _install_vector_code
from .plan.number_of_points import MixesPoints
from .plan.trace import TraceError
from .printing import set_printoptions
from .random import (
    Generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .saved import saved_tensors_hooks
from .serialization import load, save
from .signature import publish, publish_methods
from .switches import (
    are_deterministic_algorithms_enabled,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    set_float32_matmul_precision,
    use_deterministic_algorithms,
)
from .tensor import METHODS, Size, Tensor
from .threads import get_num_threads, set_num_threads

_keep_freed_memory()
_install_vector_code()
publish(globals())
publish_methods(METHODS)

__version__ = "0.1.0"
__distribution__ = "pinn"  # another package of this name is on the index: pinn looks for this line

dtype = _np.dtype
half, float, double = dtypes.float16, dtypes.float32, dtypes.float64
short, int, long = dtypes.int16, dtypes.int32, dtypes.int64
cfloat, cdouble = dtypes.complex64, dtypes.complex128
bool = dtypes.bool_
finfo, iinfo = _np.finfo, _np.iinfo
newaxis = None
inf, nan, pi, e = _np.inf, _np.nan, _np.pi, _np.e
