"""The loop that trains, what it reports, and what it calls on its way."""

from pinn.training.auto import Auto, default_training
from pinn.training.callbacks import Callback, check_callbacks, notify
from pinn.training.course import Choice, Course, Decision
from pinn.training.loop import Training, train
from pinn.training.plan import PLANS, InTurn, Plan, Scale, Situation
from pinn.training.points.redraw import Redraw, RedrawOverfit
from pinn.training.records import (
    Resume,
    StageInfo,
    StageReport,
    StepRecord,
    TrainingResult,
)
from pinn.training.shown.progress import Progress

PLANS.add("auto", Auto)

__all__ = [
    "PLANS", "Auto", "Callback", "Choice", "Course", "Decision", "InTurn", "Plan", "Progress",
    "Redraw", "RedrawOverfit", "Resume", "Scale", "Situation", "StageInfo", "StageReport",
    "StepRecord", "Training", "TrainingResult", "check_callbacks", "default_training", "notify",
    "train",
]
