"""What tests of equations share: work measured without a clock."""

from __future__ import annotations

import sys

import pytest


def _calls_made(work, *arguments):
    """Return how many functions are called by work(*arguments): the same number on any machine."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work(*arguments)
    finally:
        sys.setprofile(before)
    return count


@pytest.fixture
def calls_made():
    return _calls_made
