"""Kernels for the GPU, without one: their text, compiled as host code, against numpy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import autograd as T
from autograd import devices
from autograd.ops.registry import REGISTRY
from autograd.plan import optimize, trace
from autograd.plan.codegen import cuda_kernel
from autograd.plan.executors import make_executor
from autograd.plan.executors.cupy_executor import CupyExecutor
from autograd.plan.passes.clusters import Loop, Operand, Step, fuse, in_gpu_loops
from autograd.strict import StrictArray
from autograd.strict.kernels import HostElementwise, compiler

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C++ compiler")


def test_the_text_of_a_kernel():
    loop = Loop(
        "float32",
        ("full", "row"),
        1,
        (
            Step("mul", (Operand("input", 0), Operand("input", 1))),
            Step("tanh", (Operand("step", 0),)),
            Step("sub", (Operand("literal", 1.0), Operand("number", 0))),
            Step("maximum", (Operand("step", 1), Operand("step", 2))),
        ),
        (1, 3),
    )
    kernel = cuda_kernel(loop)
    assert kernel.in_params == "float32 x0, float32 x1, float32 c0"
    assert kernel.out_params == "float32 y0, float32 y1"
    assert kernel.operation.splitlines() == [
        "typedef float R;",
        "const R a0 = x0;",
        "const R a1 = x1;",
        "const R s0 = a0 * a1;",
        "const R s1 = tanh(s0);",
        "const R s2 = R(1.0) - c0;",
        "const R s3 = (s1 >= s2 || s1 != s1) ? s1 : s2;",
        "y0 = s1;",
        "y1 = s3;",
    ]


def test_every_input_is_read_before_anything_is_written(random_program):
    program, _ = random_program(0, "float64")
    for instruction in fuse(program, in_gpu_loops).instructions:
        if instruction.op.name == "fused":
            lines = cuda_kernel(instruction.attributes["loop"]).operation.splitlines()
            writes = [k for k, line in enumerate(lines) if re.match(r"y\d+ = s\d+;", line)]
            reads = [k for k, line in enumerate(lines) if re.search(r"\bx\d+\b", line)]
            assert reads and max(reads) < min(writes)


@pytest.mark.skipif(devices.cuda_is_available(), reason="there is a GPU")
def test_without_a_gpu_the_executor_says_so():
    program = optimize(trace(lambda a: [a * a], [T.tensor(np.ones(5))])[0])
    with pytest.raises(devices.DeviceError, match="device 'cuda'"):
        make_executor("cupy", program)


def test_transcendental_functions_join_the_loops():
    program = optimize(trace(lambda a: [T.tanh(a * a) - T.sin(a)], [T.tensor(np.ones(5))])[0])
    assert [i.op.name for i in fuse(program, in_gpu_loops).instructions] == ["fused"]


@needs_compiler
def test_every_operation(stand_in, dtype):
    """One kernel with a step for each operation, on ordinary and on special numbers."""
    names = sorted(name for name, op in REGISTRY.items() if in_gpu_loops(op))
    two = {name for name in names if len(REGISTRY[name].inputs) == 2}
    steps = tuple(
        Step(name, tuple(Operand("input", k) for k in range(2 if name in two else 1)))
        for name in names
    )
    kernel = HostElementwise(
        *cuda_kernel(Loop(dtype.name, ("full", "full"), 0, steps, tuple(range(len(steps)))))
    )
    a = np.array([0.3, -0.7, 0.999, -2.5, 0.0, np.nan, np.inf, 1.0], dtype)
    b = np.array([1.5, 0.2, -0.4, np.nan, 3.0, 1.0, 2.0, np.nan], dtype)
    outputs = [StrictArray(np.empty_like(a)) for _ in names]
    kernel(StrictArray(a), StrictArray(b), *outputs)
    with np.errstate(all="ignore"):
        for name, output in zip(names, outputs, strict=True):
            ufunc = getattr(np, REGISTRY[name].ufunc)
            expected = ufunc(a, b) if name in two else ufunc(a)
            np.testing.assert_allclose(
                output._host, expected, rtol=8 * np.finfo(dtype).eps, err_msg=name
            )


@needs_compiler
@pytest.mark.parametrize("seed", range(2))
def test_random_programs_give_the_numbers_of_numpy(stand_in, random_program, seed, dtype):
    program, arrays = random_program(seed, dtype.name)
    executor = make_executor("cupy", program, [stand_in.from_host(a, 0) for a in arrays])
    assert type(executor) is CupyExecutor
    executor.run()
    reference = make_executor("numpy", program, arrays)
    reference.run()
    tolerance = {"float32": 2e-5, "float64": 1e-13}[dtype.name]
    for got, expected in zip(executor.outputs, reference.outputs, strict=True):
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(stand_in.to_host(got), expected, rtol=0, atol=tolerance * scale)


@needs_compiler
def test_a_loop_that_writes_over_its_inputs(stand_in):
    def fn(a, w):
        low, high = (a @ w).unbind(0)
        return [T.stack([low * 2.0 + high, high * low - 1.0]) @ w]

    a, w = np.random.default_rng(0).normal(size=(2, 30, 4)), np.eye(4)
    program = optimize(trace(fn, [T.tensor(a), T.tensor(w)])[0])
    executor = make_executor("cupy", program, [stand_in.from_host(x, 0) for x in (a, w)])
    executor.run()
    expected = np.stack([a[0] * 2 + a[1], a[1] * a[0] - 1])
    found = stand_in.to_host(executor.outputs[0])
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.gpu
def test_random_programs_on_a_gpu(random_program):
    if not devices.cuda_is_available():
        pytest.skip("no usable GPU")
    backend = devices.backend("cuda")
    for dtype, tolerance in (("float32", 2e-5), ("float64", 1e-13)):
        program, arrays = random_program(1, dtype)
        executor = make_executor("cupy", program, [backend.from_host(a, 0) for a in arrays])
        executor.run()
        reference = make_executor("numpy", program, arrays)
        reference.run()
        for got, expected in zip(executor.outputs, reference.outputs, strict=True):
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(
                backend.to_host(got), expected, rtol=0, atol=tolerance * scale
            )


@needs_compiler
def test_the_whole_objective_runs_on_the_device(gpu):
    pinn = pytest.importorskip("pinn")
    from pinn.training.experiment import Experiment

    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(
        domain=x * t,
        unknowns=["u"],
        equations={"burgers": "u_t + u*u_x - nu*u_xx"},
        parameters=[pinn.Parameter("nu", 0.1, lower=0)],
        conditions=[pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0, hard=True)],
    )
    settings = {"sampling": pinn.Sampling(interior=40, initial=10), "model": pinn.MLP(5, 2)}
    on_device = Experiment(problem, device="cuda", **settings).objective()
    on_host = Experiment(problem, **settings).objective()
    theta = on_host.theta + 0.1
    found, expected = on_device.value_and_gradient(theta), on_host.value_and_gradient(theta)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        on_device.jacobian(theta)[1], on_host.jacobian(theta)[1], rtol=1e-9, atol=1e-12
    )
    direction = np.random.default_rng(0).normal(size=on_host.size)
    np.testing.assert_allclose(
        on_device.jvp(theta, direction), on_host.jvp(theta, direction), rtol=1e-9, atol=1e-12
    )
