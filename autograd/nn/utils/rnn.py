"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence

from ...ops.creation.create import full
from ...ops.layout.join import cat, stack
from ...tensor import Tensor


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Return sequences (steps, ...) of different lengths as one tensor (longest, n, ...).

    batch_first    (n, longest, ...) instead.
    padding_value  what the shorter ones are filled with, at their end or (`padding_side` "left") at
                   their start.
    Raises RuntimeError for sequences that differ in more than their length, or for another side.
    """
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"padding_side must be 'right' or 'left', got {padding_side!r}")
    rest = {tuple(sequence.shape[1:]) for sequence in sequences}
    if len(rest) != 1:
        raise RuntimeError(
            "pad_sequence: expected sequences of one shape but for their lengths, got "
            f"{[list(sequence.shape) for sequence in sequences]}"
        )
    longest = max(sequence.shape[0] for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - sequence.shape[0]
        if missing:
            shape = (missing, *sequence.shape[1:])
            filler = full(shape, padding_value, dtype=sequence.dtype, device=sequence.device)
            ends = [sequence, filler] if padding_side == "right" else [filler, sequence]
            sequence = cat(ends)
        padded.append(sequence)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences that `pad_sequence` put into one tensor, given their lengths (n,)."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]
