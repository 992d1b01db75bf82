"""The inverse Hessian on a device: its kernels beside the host's packed triangle."""

import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from autograd.devices import as_device
from autograd.strict import counted
from autograd.strict.kernels import TURNS
from pinn.optimizers.quasi_newton import full_inverse_hessian
from pinn.optimizers.quasi_newton.full_inverse_hessian import FullInverseHessian
from pinn.optimizers.quasi_newton.packed_inverse_hessian import PackedInverseHessian

MEMBERS = [pinn.BFGS, pinn.SSBFGS, pinn.SSBroyden]
# A part of a block, several blocks of rows, several blocks of columns.
SIZES = [1, 5, 40, 150]
NVCC = shutil.which("nvcc")


def there(device):
    """What FullInverseHessian asks of an objective on the device."""
    return SimpleNamespace(device=as_device("cuda"), xp=device.xp)


def pair(rng, size):
    """A random pair, with y's > 0."""
    s = rng.standard_normal(size)
    return s, s * np.exp(rng.standard_normal(size))


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("size", SIZES)
def test_it_learns_what_the_packed_triangle_learns(stand_in, member, size):
    rng = np.random.default_rng(size)
    found, expected = FullInverseHessian(size, there(stand_in)), PackedInverseHessian(size)
    for number in range(6):
        stand_in.xp.turns = TURNS[number % len(TURNS)]
        s, y = pair(rng, size)
        sbs = float(np.exp(rng.normal()) * (s @ y))
        on_device = [stand_in.from_host(one, 0) for one in (s, y)]
        assert found.update(*on_device, sbs, member.mixture)
        assert expected.update(s, y, sbs, member.mixture)
        matrix = expected.scale * expected.packed
        np.testing.assert_allclose(found.packed, matrix, rtol=0, atol=1e-12 * np.abs(matrix).max())
        x = rng.standard_normal(size)
        np.testing.assert_allclose(
            stand_in.to_host(found.times(stand_in.from_host(x, 0))), expected.times(x), rtol=1e-10,
            atol=1e-12 * np.abs(matrix).max(),
        )  # fmt: skip
    assert (found.scale, found.version > 6) == (1.0, True)


def test_it_stays_symmetric_to_the_last_bit(gpu):
    rng = np.random.default_rng(0)
    inverse = FullInverseHessian(40, there(gpu))
    for _ in range(10):
        s, y = (gpu.from_host(one, 0) for one in pair(rng, 40))
        inverse.update(s, y, float(np.exp(rng.normal())), pinn.SSBroyden.mixture)
    matrix = gpu.to_host(inverse._matrix)
    np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("size", SIZES)
def test_a_packed_triangle_goes_there_and_comes_back_with_the_same_bits(stand_in, size):
    rng = np.random.default_rng(1)
    packed = rng.standard_normal(size * (size + 1) // 2)
    for stand_in.xp.turns in TURNS:
        inverse = FullInverseHessian(size, there(stand_in))
        inverse.set_packed(packed, 1.0)
        np.testing.assert_array_equal(inverse.packed, packed)
        inverse.set_packed(packed, 4.0)
        np.testing.assert_array_equal(inverse.packed, 4 * packed)
    host = PackedInverseHessian(size)
    host.set_packed(packed, 1.0)
    x = rng.standard_normal(size)
    inverse.set_packed(packed, 1.0)
    found = stand_in.to_host(inverse.times(stand_in.from_host(x, 0)))
    np.testing.assert_allclose(found, host.times(x), rtol=1e-10, atol=1e-12)


def test_a_triangle_of_another_size_is_refused(gpu):
    with pytest.raises(ValueError, match="expected 6 numbers, .* 3 parameters, got shape .10,"):
        FullInverseHessian(3, there(gpu)).set_packed(np.zeros(10), 1.0)


def test_identity(gpu):
    inverse = FullInverseHessian(4, there(gpu))
    inverse.set_identity(2.5)
    host = PackedInverseHessian(4)
    host.set_identity(2.5)
    np.testing.assert_array_equal(inverse.packed, host.scale * host.packed)


def test_positive_definiteness_is_seen_for_one_wait(stand_in):
    rng = np.random.default_rng(4)
    q, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    for least, expected in ((-1e-3, False), (1e-3, True)):
        matrix = (q * [least, 1, 2, 3, 4, 5]) @ q.T
        packed = np.concatenate([matrix[j:, j] for j in range(6)])
        inverse = FullInverseHessian(6, there(stand_in))
        inverse.set_packed(packed, 1.0)
        with counted() as counts:
            assert inverse.is_positive_definite() is expected
        assert counts.synchronisations == 1
        np.testing.assert_array_equal(inverse.packed, packed)


@pytest.mark.parametrize("y", [(-1.0, -2.0), (0.0, 0.0), (2.0, -1.0)])
def test_a_pair_without_positive_curvature_is_skipped(gpu, y):
    inverse = FullInverseHessian(2, there(gpu))
    before, version = inverse.packed, inverse.version
    s, y = (gpu.from_host(np.array(one), 0) for one in ((1.0, 2.0), y))
    assert not inverse.update(s, y, 1.0, pinn.BFGS.mixture)
    np.testing.assert_array_equal(inverse.packed, before)
    assert inverse.version == version


def test_a_pair_is_one_product_one_change_and_one_wait(stand_in):
    inverse = FullInverseHessian(8, there(stand_in))
    s, y = (stand_in.from_host(one, 0) for one in pair(np.random.default_rng(0), 8))
    with counted() as counts:
        assert inverse.update(s, y, 1.0, pinn.SSBroyden.mixture)
    # The product, four inner products, the change.
    assert (counts.launches, counts.uploads) == (6, 0)
    assert (counts.downloads, counts.synchronisations) == (1, 1)


def test_a_copy_stays_there_and_is_independent(stand_in):
    rng = np.random.default_rng(2)
    first, second = FullInverseHessian(5, there(stand_in)), FullInverseHessian(5, there(stand_in))
    s, y = (stand_in.from_host(one, 0) for one in pair(rng, 5))
    first.update(s, y, 1.0, pinn.BFGS.mixture)
    with counted() as counts:
        assert second.copy(first)
    assert (counts.uploads, counts.downloads) == (0, 0)
    np.testing.assert_array_equal(second.packed, first.packed)
    before = first.packed
    second.update(s, y, 2.0, pinn.SSBroyden.mixture)
    np.testing.assert_array_equal(first.packed, before)
    assert not second.copy(FullInverseHessian(4, there(stand_in)))
    assert not second.copy(PackedInverseHessian(5))


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_nvcc_compiles_the_kernels(tmp_path, architecture):
    path = tmp_path / "kernels.cu"
    path.write_text(full_inverse_hessian._TEXT)
    done = subprocess.run(
        [NVCC, "-std=c++17", f"-arch={architecture}", "-cubin", "-Werror", "all-warnings",
         "-o", str(tmp_path / "kernels.cubin"), str(path)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
