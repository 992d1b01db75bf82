"""Where the buffers of a tile lie: those that are never needed together share their place."""

import numpy as np
import pytest

from autograd.plan.lanes.instructions import Blank, Buffer, Copy, Layout, Numbers, Product, Take
from autograd.plan.lanes.memory import Arena


def rows(buffer):
    return buffer.first + np.arange(buffer.count)


def test_each_product_of_a_list_gives_its_place_back_by_itself():
    buffers = [Buffer(1, 1), *(Buffer(2 + 4 * k, 4) for k in range(4))]
    points, first, second, third, last = buffers
    weights = Numbers(0, np.arange(4).reshape(4, 1))
    calls = [
        Take(0, 0, 1, points),
        Product(weights, np.stack([rows(points)] * 2), (first, second)),
        Copy(rows(first), third),  # the last that reads it, and the second is still needed
        Copy(rows(third), last),
        Blank(np.concatenate([rows(second), rows(last)])),
    ]
    arena = Arena(Layout(np.dtype("float64"), calls=calls, buffers=buffers))
    assert not set(arena.place(rows(second))) & set(arena.place(rows(last)))
    assert arena.rows == 1 + 1 + 3 * 4  # zeros, a column of points, three of the four


@pytest.mark.parametrize("width", [16, 20, 32, 64, 100, 128])
def test_channels_of_equal_width_do_not_all_begin_at_equal_places_of_a_cache(width):
    buffers = [Buffer(1 + width * k, width) for k in range(16)]
    calls = [Take(0, 0, 1, one) for one in buffers]
    calls.append(Blank(np.concatenate([rows(one) for one in buffers])))
    layout = Layout(np.dtype("float64"), calls=calls, buffers=buffers)
    arena = Arena(layout, row_bytes=256)
    starts = np.array([arena.place(rows(one))[0] for one in buffers])
    counts = np.bincount(starts * 256 % 4096 // 256, minlength=16)
    assert counts.max() == 1  # sixteen channels begin at the sixteen places that there are
    assert np.all(np.diff(np.sort(starts)) >= width)
    packed = Arena(layout)
    assert packed.rows == 1 + 16 * width
    assert arena.rows <= packed.rows + 16 * 4
