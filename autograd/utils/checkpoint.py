"""What torch.utils.checkpoint holds: values that a backward pass computes again."""

from ..checkpoint import checkpoint, checkpoint_sequential

__all__ = ["checkpoint", "checkpoint_sequential"]
