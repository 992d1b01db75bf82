"""The warnings about a problem and its solution."""

from __future__ import annotations


class ProblemWarning(UserWarning):
    """A problem seems to be stated incompletely, or to contradict itself; given before training."""


class UnsolvedWarning(ProblemWarning):
    """Training has ended, and the equations do not seem to hold, or data do not fit."""
