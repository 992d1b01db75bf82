"""Fields that move: frames on one scale, as GIF and film."""

import io
import subprocess

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from pinn.figures.animation import NoFilm, animation
from pinn.figures.field_data import FieldData

X = np.linspace(-1, 1, 41)
TIMES = (0.0, 0.5, 1.0)


def bump(t, name="u", reference=True, plane=True):
    shape = (X[:, None] if plane else X) - t
    exact = np.exp(-8 * shape**2) * np.ones_like(X)
    return FieldData(
        name, {"x": X, "y": X} if plane else {"x": X}, (1 + t) * exact,
        exact if reference else None, fixed={"t": t}, units={"t": "s"},
    )  # fmt: skip


def meshes(figure):
    return [axes.collections[0] for axes in figure.axes if axes.get_title(loc="left")]


def test_each_frame_has_its_field_reference_and_error_on_the_scale_of_all():
    moving = animation([bump(t) for t in TIMES])
    assert moving.count == 3
    for i, t in enumerate(TIMES):
        moving.show(i)
        data = bump(t)
        drawn = meshes(moving.figure)
        for mesh, values in zip(drawn, (data.values, data.reference, data.error), strict=True):
            np.testing.assert_array_equal(mesh.get_array(), values.T)
        assert drawn[0].get_clim() == drawn[1].get_clim()
        assert drawn[0].get_clim()[1] == max(bump(t).reference.max() for t in TIMES)
        largest = np.abs(bump(1.0).error).max()
        assert drawn[2].get_clim() == (-largest, largest)
        titles = [mesh.axes.get_title(loc="left") for mesh in drawn]
        held = f"$t$ = {t:g} s"
        assert all(held in title for title in titles)
        assert drawn[2].axes.texts[0].get_text() == data.summary()


def test_a_field_alone_and_a_line_move_as_well():
    moving = animation([bump(t, reference=False) for t in TIMES])
    moving.show(2)
    (mesh,) = meshes(moving.figure)
    np.testing.assert_array_equal(mesh.get_array(), bump(1.0).values.T)
    moving = animation([bump(t, plane=False) for t in TIMES])
    top, bottom = moving.figure.axes
    moving.show(2)
    data = bump(1.0, plane=False)
    network, reference = top.get_lines()
    np.testing.assert_array_equal(network.get_ydata(), data.values)
    np.testing.assert_array_equal(reference.get_ydata(), data.reference)
    np.testing.assert_array_equal(bottom.get_lines()[0].get_ydata(), np.abs(data.error))
    assert top.get_ylim()[1] >= 2.0 and top.get_title(loc="left") == data.title()


@pytest.mark.parametrize("plane", [True, False])
def test_pictures_of_what_moves_are_those_of_the_figure_drawn_anew(plane):
    moving = animation([bump(t, plane=plane) for t in TIMES])
    for i, picture in enumerate(moving.pictures(40)):
        moving.show(i)
        canvas = FigureCanvasAgg(moving.figure)
        canvas.draw()
        whole = np.asarray(canvas.buffer_rgba())[..., :3]
        assert picture.shape == whole.shape
        # But for the edges of lines that are drawn once more.
        assert np.mean(np.any(np.abs(picture.astype(int) - whole) > 8, axis=-1)) < 0.02
        assert whole.std() > 10


def test_a_gif_has_all_frames_and_repeats():
    data = animation([bump(t) for t in TIMES]).gif()
    picture = Image.open(io.BytesIO(data))
    assert (picture.n_frames, picture.info["loop"], picture.info["duration"]) == (3, 0, 120)
    pixels = []
    for i in range(3):
        picture.seek(i)
        pixels.append(np.asarray(picture.convert("RGB"), float))
    assert pixels[0].shape == pixels[2].shape
    assert np.abs(pixels[2] - pixels[0]).mean() > 3  # they differ
    # What is white and what is in the colour maps keeps its colour.
    assert (pixels[0][:3, :3] == 255).all()
    yellow = 255 * np.array(colormaps["viridis"](1.0)[:3])
    assert np.abs(pixels[2] - yellow).max(axis=-1).min() < 4
    assert len(data) < 200_000


def test_a_gif_that_would_take_too_long_is_left_out():
    assert animation([bump(t) for t in (*TIMES, 2.0)]).gif(seconds=0.0) is None


@pytest.mark.skipif(not FFMpegWriter.isAvailable(), reason="needs ffmpeg")
def test_a_film_has_all_frames(tmp_path):
    path = tmp_path / "film.mp4"
    animation([bump(t) for t in TIMES]).save(path)
    asked = ["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    raw = subprocess.run(asked, check=True, capture_output=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(3, -1).astype(float)
    assert np.abs(frames[2] - frames[0]).mean() > 1


def test_without_ffmpeg_there_is_a_sentence_and_no_film(monkeypatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(NoFilm, match="ffmpeg, which is not found: install it, or take gif"):
        animation([bump(0.0)]).mp4()


def test_what_does_not_move_together_is_refused(tmp_path):
    for fields in ([], [bump(0.0), bump(1.0, "v")], [bump(0.0), bump(1.0, plane=False)]):
        with pytest.raises(ValueError, match="a field or more of one unknown in the same"):
            animation(fields)
    with pytest.raises(ValueError, match=r"ends in .gif or .mp4, got '.*x.avi'"):
        animation([bump(0.0)]).save(tmp_path / "x.avi")


def test_frames_are_drawn_at_a_size_that_stays_small():
    (picture,) = animation([bump(0.0)]).pictures()
    assert picture.dtype == np.uint8 and max(picture.shape) <= 1200
