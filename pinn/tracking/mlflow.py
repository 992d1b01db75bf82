"""MLflow."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pinn.schema import Count, declared
from pinn.tracking.log import Log, Opening
from pinn.tracking.tracker import TRACKERS, Tracker

# What MLflow takes in one call, and of a parameter's value.
_MOST_METRICS, _MOST_PARAMS, _LONGEST = 1000, 100, 500
_STATES = {"finished": "FINISHED", "interrupted": "KILLED", "failed": "FAILED"}


@declared
class MLflow(Tracker):
    """Logs a run with MLflow, with pip install "pinn[mlflow]".

    tracking_uri: a server or a store such as sqlite:///mlflow.db; what MLFLOW_TRACKING_URI says
    where left out. experiment: made if it is not there. name: of the run, NAME-SEED where left out.
    run_id: of a run that is gone on with; a run directory remembers it (mlflow.json). artifacts:
    where figures and sentences go, of an experiment that is made here; MLflow's choice where left
    out. every, figures: see pinn.tracking.Tracker. What a run that is gone on with had logged after
    its checkpoint stays beside what it logs anew: MLflow has no way to take it back. Sentences are
    in events.txt, those of a run that is gone on with from step N in events_from_N.txt.
    """

    package = "mlflow"

    tracking_uri: str | None = None
    experiment: str = "pinn"
    name: str | None = None
    run_id: str | None = None
    artifacts: str | None = None
    every: Count | None = None
    figures: bool = True

    def open(self, opening: Opening) -> Log:
        return _Run(self, opening)


TRACKERS.add("mlflow", MLflow)


class _Run(Log):
    """A run by its id: the run that is active in the user's program is none of ours."""

    def __init__(self, tracker: MLflow, opening: Opening) -> None:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param

        self._metric = Metric
        self._client: Any = MlflowClient(tracking_uri=tracker.tracking_uri)
        self._where = tracker.tracking_uri or self._client.tracking_uri
        self._events: list[str] = []
        known = tracker.run_id or opening.remembered("mlflow")
        # Sentences are sent as a whole file: those of a run that is gone on with have their own.
        self._file = "events.txt" if known is None else f"events_from_{opening.step}.txt"
        if known is not None:
            self._id = known
            self._client.update_run(known, status="RUNNING")
            return
        run = self._client.create_run(
            self._experiment(tracker), run_name=tracker.name or opening.name
        )
        self._id = run.info.run_id
        opening.remember("mlflow", self._id)
        settings = opening.flat_settings.items()
        params = [Param(name[:250], str(value)[:_LONGEST]) for name, value in settings]
        for part in _parts(params, _MOST_PARAMS):
            self._client.log_batch(self._id, params=part)

    def _experiment(self, tracker: MLflow) -> str:
        found = self._client.get_experiment_by_name(tracker.experiment)
        if found is not None:
            return found.experiment_id
        return self._client.create_experiment(tracker.experiment, tracker.artifacts)

    @property
    def where(self) -> str:
        return f"{self._where}, run {self._id}"

    def numbers(self, step: int, values: Mapping[str, float]) -> None:
        now = int(1000 * time.time())
        metrics = [self._metric(name, value, now, step) for name, value in values.items()]
        for part in _parts(metrics, _MOST_METRICS):
            self._client.log_batch(self._id, metrics=part)

    def text(self, step: int, sentence: str) -> None:
        self._events.append(f"step {step}: {sentence}")

    def figure(self, step: int, name: str, png: bytes) -> None:
        from PIL import Image

        with Image.open(io.BytesIO(png)) as image:
            self._client.log_image(self._id, image, artifact_file=f"figures/{name}.png")

    def close(self, results: Mapping[str, float], state: str) -> None:
        self.numbers(int(results.get("steps", 0)), {f"final/{k}": v for k, v in results.items()})
        self._client.log_text(self._id, "".join(f"{one}\n" for one in self._events), self._file)
        self._client.set_terminated(self._id, status=_STATES[state])


def _parts(items: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
