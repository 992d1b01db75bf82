"""Weights & Biases."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Literal

from pinn.schema import Count, declared
from pinn.tracking.log import Log, Opening
from pinn.tracking.tracker import TRACKERS, Tracker


@declared
class WandB(Tracker):
    """Logs a run with Weights & Biases, with pip install "pinn[wandb]".

    project, entity: where it goes. name: of the run, NAME-SEED where left out. mode: "online" or
    "offline", which writes files for `wandb sync`; what WANDB_MODE says where left out. id: of a
    run that is gone on with; a run directory remembers it (wandb.json). every, figures: see
    pinn.tracking.Tracker. The files of W&B are in wandb/ of the run directory, or of the working
    directory without one.
    """

    package = "wandb"

    project: str = "pinn"
    name: str | None = None
    entity: str | None = None
    mode: Literal["online", "offline"] | None = None
    id: str | None = None
    every: Count | None = None
    figures: bool = True

    def open(self, opening: Opening) -> Log:
        return _Run(self, opening)


TRACKERS.add("wandb", WandB)


class _Run(Log):
    """A run of its own, whatever run the user's program may have open."""

    def __init__(self, tracker: WandB, opening: Opening) -> None:
        import wandb

        known = tracker.id or opening.remembered("wandb")
        self._wandb = wandb
        self._run: Any = wandb.init(
            project=tracker.project, entity=tracker.entity, name=tracker.name or opening.name,
            mode=tracker.mode, id=known, resume="allow" if known else None,
            dir=None if opening.folder is None else str(opening.folder),
            config=dict(opening.settings), reinit="create_new",
            settings=wandb.Settings(console="off", silent=True),
        )  # fmt: skip
        opening.remember("wandb", self._run.id)
        # Steps go back where training does; W&B's own count does not.
        self._run.define_metric("step")
        self._run.define_metric("*", step_metric="step")

    @property
    def where(self) -> str:
        return self._run.dir if self._run.offline else self._run.url

    def numbers(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log({**values, "step": step})

    def text(self, step: int, sentence: str) -> None:
        self._run.log({"event": sentence, "step": step})

    def figure(self, step: int, name: str, png: bytes) -> None:
        from PIL import Image

        with Image.open(io.BytesIO(png)) as image:
            self._run.log({f"figures/{name}": self._wandb.Image(image), "step": step})

    def close(self, results: Mapping[str, float], state: str) -> None:
        self._run.summary.update({**{f"final/{k}": v for k, v in results.items()}, "state": state})
        self._run.finish(exit_code=1 if state == "failed" else 0)
