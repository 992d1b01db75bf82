"""The loop that trains, what it reports, and what it calls on its way."""

from pinn.training.callbacks import Callback, check_callbacks, notify
from pinn.training.defaults import default_training
from pinn.training.loop import Redraw, Training, train
from pinn.training.progress import Progress
from pinn.training.records import Resume, StageInfo, StageReport, StepRecord, TrainingResult

__all__ = [
    "Callback", "Progress", "Redraw", "Resume", "StageInfo", "StageReport", "StepRecord",
    "Training", "TrainingResult", "check_callbacks", "default_training", "notify", "train",
]
