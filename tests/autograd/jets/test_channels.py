"""The choice of channels: as few as can be, on cases whose least number is known."""

from __future__ import annotations

import pytest

from autograd.jets import Sum, choose_channels


def total(*terms: tuple) -> Sum:
    return Sum(tuple((tuple(index), float(weight)) for index, weight in terms))


LAPLACIAN_3D = total(((0, 0), 1), ((1, 1), 1), ((2, 2), 1))
BIHARMONIC_2D = total(((0, 0, 0, 0), 1), ((0, 0, 1, 1), 2), ((1, 1, 1, 1), 1))


@pytest.mark.parametrize(
    ("what", "indices", "sums", "count"),
    [
        # value, u_x, u_t - nu u_xx
        ("Burgers", [(0,)], [total(((1,), 1), ((0, 0), -0.01))], 3),
        # value, u_x, u_xx, u_xxx, u_t + u_xx + u_xxxx  (u_xx travels on its own anyway)
        ("Kuramoto-Sivashinsky", [(0,)],
         [total(((1,), 1), ((0, 0), 1), ((0, 0, 0, 0), 1))], 5),
        # value, three first derivatives, the sum
        ("3-D Laplacian", [], [LAPLACIAN_3D], 5),
        ("3-D heat equation", [], [total(*LAPLACIAN_3D.terms, ((3,), -1))], 5),
        # value; x, y; xx, xy, yy; xxx, xxy, xyy, yyy; the sum
        ("2-D biharmonic", [], [BIHARMONIC_2D], 11),
        ("nothing", [], [], 1),
        ("the value", [()], [], 1),
        ("u_xyy", [(0, 1, 1)], [], 6),
        # one of two terms is there already: the other is carried plainly
        ("u_xx and its sum with u_yy", [(0, 0)], [total(((0, 0), 1), ((1, 1), 1))], 5),
        ("a sum of derivatives that travel anyway", [(0, 0), (1, 1)],
         [total(((0, 0), 1), ((1, 1), 1))], 5),
        ("the same sum twice", [], [LAPLACIAN_3D, total(*LAPLACIAN_3D.terms)], 5),
        ("two sums over the same directions", [],
         [total(((0, 0), 1), ((1, 1), 1)), total(((0, 0), 1), ((1, 1), -1))], 5),
    ],
)  # fmt: skip
def test_the_number_of_channels(what, indices, sums, count):
    channels = choose_channels(indices, sums)
    assert channels.count == count
    assert channels.count == 1 + len(channels.keys)


def test_singles_are_closed_downwards_and_hold_what_the_sums_are_built_from():
    channels = choose_channels([(0, 1)], [total(((2, 2, 2), 1), ((0, 0, 2), 1))])
    for index in channels.singles:
        for k in range(len(index)):
            assert index[:k] + index[k + 1 :] in (*channels.singles, ())
    assert {(2, 2), (0, 0), (0, 2), (0,), (2,)} <= set(channels.singles)
    assert channels.order == 3


def test_channels_tell_what_can_be_read():
    collapsed, partly = LAPLACIAN_3D, total(((0, 0), 1), ((1, 1), 1))
    channels = choose_channels([(0, 0)], [collapsed, partly])
    for key in [(), (0,), (0, 0), (1, 1), collapsed, partly, total(((0,), 2), ((1,), 3))]:
        assert channels.give(key)
    for key in [(2, 2), (0, 1), (3,), total(((0, 0), 1), ((2, 2), 1))]:
        assert not channels.give(key)


def test_a_sum_of_one_term_is_a_single():
    channels = choose_channels([], [total(((0, 0), 3))])
    assert channels.sums == () and channels.singles == ((0,), (0, 0))


def test_channels_print_what_they_carry():
    text = str(choose_channels([(0,)], [total(((1,), 1), ((0, 0), -0.5))]))
    assert text.splitlines() == [
        "3 channels, order 2", "  value", "  d[0]", "  sum 1*d[1] + -0.5*d[0, 0]"
    ]  # fmt: skip
