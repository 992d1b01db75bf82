"""How far windows of time have come: what is told of the rest, and whether others are tried."""

import numpy as np

from pinn.training.judging.trial import Budget
from pinn.training.windows.road import Road, is_of_limit


def test_where_little_is_solved_and_half_of_the_time_is_left_another_model_is_tried():
    now = [0.0]

    def road_at(end: float, spent: float) -> Road:
        now[0] = 0.0
        road = Road(0.0, 10.0, "t", Budget(100.0, lambda: now[0], 0.0))
        now[0] = spent
        road.went_to(end, np.ones(1))
        return road

    little = road_at(0.5, spent=30.0)
    assert little.is_over(1e-60) and little.rest(stuck=False) is None
    assert not road_at(5.0, spent=30.0).is_over(1e-60)
    late = road_at(0.5, spent=80.0)
    assert late.is_over(1.0) and late.rest(stuck=False).what.startswith("solved up to t = 0.5 of")
    assert "do not follow it" in road_at(5.0, spent=80.0).rest(stuck=True).why


def test_the_time_for_all_is_told_by_windows_that_go_on_growing_and_that_do_not():
    now = [0.0]
    road = Road(0.0, 127.0, "t", Budget(40.0, lambda: now[0], 0.0))
    for number in range(4):  # lengths 1, 2, 4, 8 in ten seconds each: three are to come
        now[0] += 10.0
        road.went_to(2.0 ** (number + 1) - 1, np.ones(1))
    # (40 + 30) / 0.75; of lengths of 3.75 in the mean 29.9 are to come
    assert "93 to 450 s would do" in road.rest(stuck=False).why
    assert is_of_limit(road.rest(stuck=False))


def test_windows_of_one_length_tell_one_number_of_seconds():
    now = [0.0]
    road = Road(0.0, 20.0, "t", Budget(40.0, lambda: now[0], 0.0))
    for number in range(8):
        now[0] += 4.0
        road.went_to(number + 1.0, np.ones(1))
    assert "about 110 s would do" in road.rest(stuck=False).why  # 20*4/0.75
    assert not is_of_limit(road.rest(stuck=True))
