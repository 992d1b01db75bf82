"""What many parts check or compare."""

import math
from dataclasses import dataclass, field

import pytest

from pinn.checks import equal_with_nan

NAN = math.nan
OTHER_NAN = math.inf - math.inf


@equal_with_nan
@dataclass(frozen=True)
class Record:
    loss: float
    losses: dict[str, float] = field(default_factory=dict)
    stages: tuple[float, ...] = ()
    seconds: float = field(default=0.0, compare=False)


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        (Record(1.0), Record(1.0), True),
        (Record(NAN), Record(OTHER_NAN), True),
        (Record(NAN), Record(1.0), False),
        (Record(1.0), Record(NAN), False),
        (Record(1.0, {"u": NAN}), Record(1.0, {"u": OTHER_NAN}), True),
        (Record(1.0, {"u": NAN}), Record(1.0, {"v": NAN}), False),
        (Record(1.0, {"u": NAN}), Record(1.0, {"u": 0.0}), False),
        (Record(1.0, stages=(NAN, 1.0)), Record(1.0, stages=(OTHER_NAN, 1.0)), True),
        (Record(1.0, stages=(NAN,)), Record(1.0, stages=(NAN, NAN)), False),
        (Record(1.0, seconds=1.0), Record(1.0, seconds=2.0), True),
    ],
)
def test_records_are_equal_where_all_that_they_compare_is(one, other, are_equal):
    assert (one == other) is are_equal
    assert (one != other) is not are_equal


def test_a_record_is_equal_to_nothing_else():
    assert Record(1.0) != (1.0, {}, ())
    assert Record(1.0) != 1.0
