"""Benchmarks: one training step of ours beside PyTorch's and JAX's, on the same problems.

`python -m experiments.bench` runs them; see cli.py for what it measures and how.
"""
