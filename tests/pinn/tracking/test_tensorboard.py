"""TensorBoard reads back what was logged; skipped without the package (see conftest.py)."""

import shutil

import numpy as np
import pytest

import pinn
from pinn.cli import main

pytest.importorskip("tensorboard", reason="pip install 'pinn[tensorboard]'")

HEAT = """\
problem:
  name: heat
  domain: {x: [0, pi], t: {time: [0, 1]}}
  unknowns: [u]
  equations: {heat: u_t - u_xx}
  conditions: [initial: {unknown: u, value: sin(x)}]
  reference: {u: exp(-t)*sin(x)}
model: {mlp: {width: 4, depth: 1}}
sampling: {interior: 20, initial: 5}
training: [adam: {steps: 20}]
output: {log_every: 5, checkpoint_seconds: 0}
"""


def read(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder), size_guidance={"scalars": 0, "images": 0, "tensors": 0})
    return found.Reload()


def texts(events, tag):
    return [one.tensor_proto.string_val[0].decode() for one in events.Tensors(tag)]


@pytest.fixture(autouse=True)
def foreign_warnings(recwarn):
    """The package's own code may use what its dependencies call old."""


def test_every_number_of_a_run_is_read_back(train, numbers_of_a_line, tmp_path):
    records = {}
    solution = train(
        pinn.TensorBoard(str(tmp_path), every=2),
        lambda record: records.update({record.step: record}),
    )
    events = read(tmp_path)
    assert numbers_of_a_line | {"parameters/k", "damping"} <= set(events.Tags()["scalars"])
    loss = events.Scalars("loss")
    assert [one.step for one in loss] == [1, 2, 4, 6, 7, 8, 9]
    np.testing.assert_allclose(
        [one.value for one in loss], [records[one.step].loss for one in loss], rtol=1e-6
    )
    (error,) = events.Scalars("final/rel_l2/u")
    assert error.value == pytest.approx(solution.report.rel_l2["u"], rel=1e-6)
    assert error.step == 9
    assert "adam: all 6 steps done" in texts(events, "events")
    assert "    model.mlp.width: 4" in texts(events, "config")[0]
    image = events.Images("figures/field_u")[0]
    assert image.encoded_image_string.startswith(b"\x89PNG") and image.width > 300


def test_a_run_that_goes_on_continues_its_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heat.yaml").write_text(HEAT)
    command = ["train", "heat.yaml", "--out", "run", "--quiet", "--track", "tensorboard"]
    assert main([*command, "--set", "training.0.adam.steps=12"]) == 0
    before = [one.step for one in read("run/tensorboard").Scalars("loss")]
    assert before == [1, 5, 10, 12]
    assert main([*command, "--extend"]) == 0
    events = read("run/tensorboard")
    assert [one.step for one in events.Scalars("loss")] == [1, 5, 10, 12, 15, 20]
    assert len(list((tmp_path / "run/tensorboard").iterdir())) == 2


def test_what_came_after_the_checkpoint_is_no_longer_shown(tmp_path):
    from pinn.tracking.log import Opening

    tracker = pinn.TensorBoard(str(tmp_path))
    first = tracker.open(Opening("a", {"seed": 0}))
    for step in (1, 2, 3, 4):
        first.numbers(step, {"loss": float(step)})
    first.close({}, "interrupted")
    second = tracker.open(Opening("a", {"seed": 0}, step=2))
    second.numbers(3, {"loss": 30.0})
    second.close({}, "finished")
    assert [(one.step, one.value) for one in read(tmp_path).Scalars("loss")] == [
        (1, 1.0), (2, 2.0), (3, 30.0)
    ]  # fmt: skip


def test_overwrite_removes_the_log_of_the_run_before_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heat.yaml").write_text(HEAT)
    command = ["train", "heat.yaml", "--out", "run", "--quiet", "--track", "tensorboard"]
    assert main([*command, "--set", "training.0.adam.steps=2"]) == 0
    (tmp_path / "run/tensorboard/notes.txt").write_text("mine")
    assert main([*command, "--overwrite", "--set", "training.0.adam.steps=3"]) == 0
    assert [one.step for one in read("run/tensorboard").Scalars("loss")] == [1, 3]
    assert (tmp_path / "run/tensorboard/notes.txt").read_text() == "mine"


def test_a_folder_that_is_gone_on_the_way_costs_the_run_nothing(train, tmp_path):
    folder = tmp_path / "logs"
    folder.write_text("a file is there")
    with pytest.warns(RuntimeWarning, match="TensorBoard: .*the run goes on without this log"):
        assert train(pinn.TensorBoard(str(folder))).report.steps == 9
    shutil.rmtree(tmp_path)


def test_python_has_to_say_where():
    with pytest.warns(RuntimeWarning, match="expected the folder of the event files"):
        problem = pinn.Problem(pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"},
                               [pinn.Initial("u", 1.0)])  # fmt: skip
        pinn.solve(
            problem, pinn.MLP(width=2, depth=1), pinn.Sampling(interior=4), [pinn.Adam(2)],
            callbacks=[pinn.TensorBoard(figures=False)],
        )
