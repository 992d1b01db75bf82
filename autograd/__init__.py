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
from .ops.activations import *
from .ops.arithmetic import *
from .ops.arrange import *
from .ops.bessel import i0
from .ops.cast import *
from .ops.compare import *
from .ops.complex import *
from .ops.convolution import *
from .ops.counts import *
from .ops.covariance import *
from .ops.create import *
from .ops.cumulative import *
from .ops.decompositions import cholesky_inverse, cholesky_solve
from .ops.distance import *
from .ops.distributions import igamma, igammac, logit
from .ops.distributions import multigammaln as mvlgamma
from .ops.einsum import *
from .ops.extrema import *
from .ops.gamma import *
from .ops.gather import *
from .ops.gradient import *
from .ops.index import *
from .ops.integers import *
from .ops.join import *
from .ops.linalg import *
from .ops.mask import *
from .ops.matmul import *
from .ops.matrix_exp import *
from .ops.norm import *
from .ops.older import *
from .ops.order import *
from .ops.piecewise import *
from .ops.reduce import *
from .ops.replace import *
from .ops.representation import *
from .ops.running import *
from .ops.shape import *
from .ops.smooth import *
from .ops.softmax import *
from .ops.trapezoid import *
from .ops.typed import *
from .ops.vander import *
from .ops.windows import *
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
