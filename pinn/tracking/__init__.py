"""Logs of runs in other tools: TensorBoard, Weights & Biases, MLflow."""

from pinn.tracking.log import Log, Opening
from pinn.tracking.mlflow import MLflow
from pinn.tracking.tensorboard import TensorBoard
from pinn.tracking.tracker import TRACKERS, Tracker
from pinn.tracking.wandb import WandB

__all__ = ["TRACKERS", "Log", "MLflow", "Opening", "TensorBoard", "Tracker", "WandB"]
