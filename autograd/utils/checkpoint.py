"""What torch.utils.checkpoint holds: values that a backward pass computes again."""

from ..checkpoint import checkpoint

__all__ = ["checkpoint"]
