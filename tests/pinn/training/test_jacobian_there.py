"""Solvers that take the Jacobian, on a device: the steps of the host, and no matrix comes home."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pinn
from autograd.strict import counted
from pinn.cli.verdict import verdict
from pinn.optimizers import Diverged
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Watched
from pinn.training.loop import Redraw, train
from pinn.training.records import Resume

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"logistic": "u_t - u*(1 - u)"}, [pinn.Initial("u", 0.1)]
)  # fmt: skip
STAGES = {
    "levenberg_marquardt": pinn.LevenbergMarquardt(6),
    "columns": pinn.LevenbergMarquardt(6, scaling="columns", order=1),
    "gauss_newton": pinn.GaussNewton(2, cutoff=1e-4),
    "engd": pinn.ENGD(4),
    "spring": pinn.SPRING(6),
    "dsgnar": pinn.DSGNAR(2, radii=6),
}
# A step's waits at most, where it is taken at the first or second trial.
WAITS = {
    "levenberg_marquardt": 14, "columns": 12, "gauss_newton": 6, "engd": 7, "spring": 8,
    "dsgnar": 32,
}  # fmt: skip
MANY, FEW = 120, 20  # more rows than numbers, and fewer
EDGE = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "0.01*(u_t + log(1 - u))"}, [pinn.Initial("u", 2)]
)  # fmt: skip


def experiment(device, points=MANY, problem=PROBLEM, **options):
    sampling = pinn.Sampling(interior=points, initial=1)
    settings = {"model": pinn.MLP(24, 1), "sampling": sampling, **options}
    return Experiment(problem, device=device, **settings)


class Kept:
    """Notes steps as they are told, and what had been asked of the device by then."""

    def __init__(self, counts=None):
        self.records, self.counts, self.seen = [], counts, []

    def on_step(self, record):
        state = {name: np.array(array) for name, array in record.solver_state.items()}
        self.records.append(dataclasses.replace(record, solver_state=state))
        if self.counts is not None:
            c = self.counts
            self.seen.append((c.uploads, c.downloads, c.synchronisations, c.sent, c.fetched))


def trained(device, stages, every=None, resume=None, counts=None, **options):
    setup, kept = experiment(device, **options), Kept(counts)
    objective = setup.objective()

    def draw(number):
        return setup.draw_points(number, lambda at: objective.residuals(objective.theta, at))

    redraw = None if every is None else Redraw(every, draw)
    return train(objective, stages, [kept], redraw, resume=resume), kept


def agree(found, expected, tolerance):
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected, strict=True):
        assert (a.step, a.draw) == (b.step, b.draw)
        np.testing.assert_allclose(a.loss, b.loss, rtol=tolerance)
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=tolerance)


@pytest.mark.parametrize("points", [MANY, FEW])
@pytest.mark.parametrize("name", STAGES)
def test_steps_are_those_of_the_host(gpu, name, points):
    (result, kept), (expected, steps) = (
        trained(device, [STAGES[name]], points=points) for device in ("cuda", "cpu")
    )
    agree(kept.records, steps.records, 1e-6)
    assert (result.reason, result.message) == (expected.reason, expected.message)


def test_float32_rows_become_float64_there(gpu):
    stages = [pinn.LevenbergMarquardt(3, order=1)]
    (_, found), (_, expected) = (
        trained(device, stages, precision="float32") for device in ("cuda", "cpu")
    )
    for a, b in zip(found.records, expected.records, strict=True):
        np.testing.assert_allclose(a.loss, b.loss, rtol=2e-3)


@pytest.mark.parametrize("name", STAGES)
def test_the_jacobian_never_comes_home(stand_in, name):
    """A step has so many copies, of a few vectors in all."""
    with counted() as counts:
        _, kept = trained("cuda", [STAGES[name]], points=700, counts=counts)
    objective = experiment("cuda", points=700).objective()
    rows, size = objective.rows, objective.size
    for _, downloads, waits, sent, fetched in np.diff(kept.seen, axis=0):
        assert downloads == waits <= WAITS[name]
        # evaluations along paths and searches bring rows home, of which some are tried
        assert sent + fetched < 8 * 20 * (rows + size) < 8 * rows * size / 2


def test_copies_of_a_step_are_counted(stand_in):
    """One that is taken at once, with geodesic acceleration."""
    stages = [pinn.LevenbergMarquardt(4, order=2, damping=1.0)]
    with counted() as counts:
        _, kept = trained("cuda", stages, counts=counts)
    first = np.diff(kept.seen, axis=0)[0]
    # finite? gradient, norms; a factor? step; r, the bend along it, t_2; the loss
    assert first[1] == first[2] == 9
    # weights of the rows of two blocks, twice; the damping; a direction, the bend; theta
    assert first[0] == 2 * 2 + 1 + 2 + 1


def test_points_that_are_drawn_anew_and_runs_that_go_on_on_another_device(gpu):
    stages = [pinn.LevenbergMarquardt(8, redraw=3)]
    whole = {device: trained(device, stages, every=3)[1].records for device in ("cpu", "cuda")}
    assert [record.draw for record in whole["cuda"]][-1] > 0
    agree(whole["cuda"], whole["cpu"], 1e-5)
    for device, other in (("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "cuda")):
        _, rest = trained(device, stages, every=3, resume=Resume(whole[other][3]))
        agree(rest.records, whole[device][4:], 1e-5)
        if device == other:
            for a, b in zip(rest.records, whole[device][4:], strict=True):
                assert a.theta.tobytes() == b.theta.tobytes() and a.loss == b.loss


def test_a_jacobian_that_is_not_finite_is_told_as_on_the_host_and_asked_for_once(stand_in):
    said = []
    for device in ("cpu", "cuda"):
        objective = experiment(device, problem=EDGE).objective()
        watched, theta = Watched(objective), np.full(objective.size, 3.0)
        memory = None
        if device == "cuda":
            memory = objective.on_device.xp.empty((objective.rows, objective.size), np.float64)
            fine = watched.jacobian(objective.theta * 0, memory)  # recorded
            with counted() as counts:
                fine = watched.jacobian(objective.theta * 0, memory)
            assert fine[1] is memory and counts.synchronisations == 1 == counts.fetched
        with np.errstate(all="ignore"), pytest.raises(Diverged) as raised:
            watched.jacobian(theta, memory)
        said.append(str(raised.value))
    assert said[0] == said[1] and "block 'e' is not finite at " in said[0]


def test_steps_into_numbers_that_are_not_finite_end_as_on_the_host(gpu):
    # searches come back from there, and a solver that searches for nothing does not
    searching = pinn.LevenbergMarquardt(6, order=1)
    for stage, reason in ((searching, "step limit"), (pinn.SPRING(6), "diverged")):
        (there, kept), (here, expected) = (
            trained(device, [stage], problem=EDGE) for device in ("cuda", "cpu")
        )
        assert there.reason == here.reason == reason
        if expected.records:
            agree(kept.records, expected.records, 1e-6)
        else:
            assert there.message.split(", first")[0] == here.message.split(", first")[0]


@pytest.mark.parametrize(
    "stage", [pinn.LevenbergMarquardt(), pinn.GaussNewton(), pinn.ENGD(), pinn.SPRING()]
)
def test_a_jacobian_beyond_what_is_free_there_is_refused_with_the_numbers(stand_in, stage):
    there, here = (experiment(device).objective() for device in ("cuda", "cpu"))
    assert stage.check(there) == stage.check(here) == []
    stand_in.xp.free = 1 << 18
    with pytest.raises(ValueError) as raised:
        stage.check(there)
    assert f"{stage.name}: a Jacobian of 121 rows for 73 trainable numbers" in str(raised.value)
    assert "expected at most 0.0 GiB, what is free on cuda:0. Use fewer" in str(raised.value)
    assert stage.check(here) == []


def test_memory_that_runs_out_there_ends_as_a_sentence_with_the_bytes(stand_in, monkeypatch):
    # what is free when training begins may be taken by others later
    stage = pinn.LevenbergMarquardt(2)
    monkeypatch.setattr(type(stage), "check", lambda stage, function: [])
    stand_in.xp.free = 8 * 1300 * 73
    with pytest.raises(MemoryError) as raised:
        trained("cuda", [stage], points=1300)
    assert verdict(raised.value) == (4, (
        f"out of memory: Out of memory allocating {8 * 1301 * 73:,} bytes; take fewer points "
        "(sampling.interior) or a smaller model"
    ))  # fmt: skip
