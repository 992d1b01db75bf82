"""TensorBoard: event files in a folder."""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinn.schema import Count, declared
from pinn.schema.errors import refuse
from pinn.tracking.log import Log, Opening
from pinn.tracking.tracker import TRACKERS, Tracker

FOLDER = "tensorboard"
"""Where the event files are in a run directory."""

EVENTS = "events.out.tfevents."
"""How the names of event files begin."""

_RGBA = 4


@declared
class TensorBoard(Tracker):
    """Logs a run for TensorBoard, with pip install "pinn[tensorboard]".

    logdir: the folder of the event files; DIR/tensorboard in the directory of a run where it is
    left out, as it may be in a config. every, figures: see pinn.tracking.Tracker. Losses and errors
    are under SCALARS, the config under TEXT and HPARAMS, fields under IMAGES. A run that is gone on
    with continues the log; what came after its checkpoint is no longer shown. Nothing of TensorFlow
    is needed.
    """

    package = "tensorboard"

    logdir: str | None = None
    every: Count | None = None
    figures: bool = True

    def open(self, opening: Opening) -> Log:
        if self.logdir is not None:
            return _Events(Path(self.logdir), opening)
        if opening.folder is None:
            refuse("expected the folder of the event files: pinn.TensorBoard('logs')", "logdir")
        return _Events(opening.folder / FOLDER, opening)


TRACKERS.add("tensorboard", TensorBoard)


class _Events(Log):
    """Event files of one run; the classes are those of the package, by their modules."""

    def __init__(self, folder: Path, opening: Opening) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
        from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb
        from tensorboard.plugins.text.metadata import create_summary_metadata
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._event, self._summary = event_pb2, summary_pb2
        self._tensor, self._types, self._shape = tensor_pb2, types_pb2, TensorShapeProto
        self._text_metadata = create_summary_metadata
        self._folder = folder
        self._writer = EventFileWriter(str(folder))
        if opening.step:
            # Steps of a run that was cut short, which are taken once more, are no longer shown.
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._add(opening.step + 1, session_log=start)
        else:
            settings = opening.flat_settings
            self._add(0, summary=hparams_pb(settings, trial_id=str(folder)))
            lines = [f"    {name}: {value}" for name, value in settings.items()]
            self._write_text(0, "config", "\n".join(lines))
        self._writer.flush()

    @property
    def where(self) -> str:
        return str(self._folder)

    def numbers(self, step: int, values: Mapping[str, float]) -> None:
        one = self._summary.Summary.Value
        pairs = [one(tag=name, simple_value=value) for name, value in values.items()]
        self._add(step, summary=self._summary.Summary(value=pairs))
        self._writer.flush()

    def text(self, step: int, sentence: str) -> None:
        self._write_text(step, "events", sentence)

    def figure(self, step: int, name: str, png: bytes) -> None:
        width, height = struct.unpack(">II", png[16:24])
        image = self._summary.Summary.Image(
            encoded_image_string=png, width=width, height=height, colorspace=_RGBA
        )
        value = self._summary.Summary.Value(tag=f"figures/{name}", image=image)
        self._add(step, summary=self._summary.Summary(value=[value]))

    def close(self, results: Mapping[str, float], state: str) -> None:
        if results:
            step = int(results.get("steps", 0))
            self.numbers(step, {f"final/{name}": value for name, value in results.items()})
        self._write_text(0, "state", state)
        self._writer.close()

    def _write_text(self, step: int, tag: str, text: str) -> None:
        one = self._shape.Dim(size=1)
        tensor = self._tensor.TensorProto(
            dtype=self._types.DT_STRING, string_val=[text.encode("utf-8")],
            tensor_shape=self._shape(dim=[one]),
        )  # fmt: skip
        metadata = self._text_metadata(display_name=tag, description="")
        value = self._summary.Summary.Value(tag=tag, metadata=metadata, tensor=tensor)
        self._add(step, summary=self._summary.Summary(value=[value]))

    def _add(self, step: int, **content: Any) -> None:
        self._writer.add_event(self._event.Event(wall_time=time.time(), step=step, **content))
