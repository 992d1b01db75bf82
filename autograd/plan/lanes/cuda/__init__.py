"""Tiles of points as kernels for a GPU: CUDA C from the same calls as the host's machine code."""
