"""The process that is watched: training that logs, writes checkpoints and draws its figures.

    python -m experiments.soak.training DIRECTORY SECONDS FIGURES_SECONDS
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pinn
from pinn.config import Override, load
from pinn.runs.figures import draw_run
from pinn.runs.recorder import Recorder
from pinn.training.callbacks import Callback
from pinn.training.records import StepRecord

CONFIG = Path(__file__).with_name("soak.yaml")


class Figures(Callback):
    """Draws the figures of a run every so many seconds; those of its end are among them."""

    def __init__(self, recorder: Recorder, seconds: float) -> None:
        self._recorder = recorder
        self._seconds = seconds
        self._last = time.monotonic()

    def on_start(self, session) -> None:
        self._session = session

    def on_step(self, record: StepRecord) -> None:
        if time.monotonic() - self._last >= self._seconds:
            draw_run(self._recorder.run, self._session.solution(record))
            self._last = time.monotonic()


def train(directory: Path, seconds: float, figures_seconds: float) -> None:
    """Train for so long in a new run directory, which the command line could have written."""
    given = [f"output.directory={directory}", f"seconds={seconds:g}"]
    config = load(CONFIG, [Override.parse(text, "soak") for text in given])
    recorder = Recorder(
        config.directory, config.text(), config.log_every, config.output.checkpoint_seconds
    )
    with recorder:
        callbacks = [recorder, Figures(recorder, figures_seconds)]
        solution = pinn.solve(**config.experiment.arguments, callbacks=callbacks)
        recorder.write_results(solution)
        draw_run(recorder.run, solution)


if __name__ == "__main__":
    train(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
