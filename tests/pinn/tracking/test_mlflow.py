"""MLflow reads back what was logged; skipped without the package (see conftest.py)."""

import pytest

import pinn

mlflow = pytest.importorskip("mlflow", reason="pip install 'pinn[mlflow]'")

pytestmark = pytest.mark.filterwarnings("ignore")  # it is not ours what the package uses


@pytest.fixture
def store(tmp_path):
    return {
        "tracking_uri": f"sqlite:///{tmp_path}/runs.db", "artifacts": (tmp_path / "files").as_uri()
    }


def test_every_number_of_a_run_is_read_back_and_gone_on_with(
    train, numbers_of_a_line, store, tmp_path
):
    steps = {}
    solution = train(
        pinn.MLflow(**store, every=3), lambda record: steps.update({record.step: record})
    )
    client = mlflow.MlflowClient(tracking_uri=store["tracking_uri"])
    experiment = client.get_experiment_by_name("pinn")
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.status, run.info.run_name) == ("FINISHED", "decay-0")
    assert numbers_of_a_line <= run.data.metrics.keys()
    loss = client.get_metric_history(run.info.run_id, "loss")
    assert [one.step for one in loss] == [1, 3, 6, 7, 9]
    assert all(one.value == steps[one.step].loss for one in loss)
    assert run.data.metrics["final/rel_l2/u"] == solution.report.rel_l2["u"]
    assert run.data.params["model.mlp.width"] == "4"
    files = {one.path for one in client.list_artifacts(run.info.run_id, "figures")}
    assert {"figures/field_u.png", "figures/history.png"} <= files

    def events(name):
        path = client.download_artifacts(run.info.run_id, name, str(tmp_path))
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    before = events("events.txt")
    assert "step 6: adam: all 6 steps done" in before

    train(pinn.MLflow(**store, run_id=run.info.run_id, figures=False))
    (again,) = client.search_runs([experiment.experiment_id])
    assert len(client.get_metric_history(again.info.run_id, "loss")) == 5 + 4
    assert events("events.txt") == before == events("events_from_0.txt")
