"""A field that moves: its frames on one scale, as a GIF or a film."""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pinn.figures.field_data import FieldData
from pinn.figures.lines import draw_error, draw_lines, error_drawn, error_limits, line_panels
from pinn.figures.lines import set_range as set_line_range
from pinn.figures.maps import draw_panels, field_scale, mesh_values
from pinn.figures.maps import error_drawn as map_error
from pinn.figures.scales import error_scale
from pinn.figures.style import AUTHOR, FILM
from pinn.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

_FRAME_SECONDS = 0.12
# Pixels an inch of a GIF, whose files stay below a megabyte or so, and of a film.
_GIF_DPI, _FILM_DPI = 60, 120
# A GIF has 256 colours: these greys, and the others shared by the colour maps that are in it.
_GREYS = 32


class NoFilm(RuntimeError):
    """Films are written by ffmpeg, and it is not there."""


@dataclass(frozen=True)
class Animation:
    """A figure with several frames: `show(i)` makes it the i-th of `count`.

    moving: the artists that differ, and those that have to be drawn over them again, in order.
    """

    figure: Figure
    count: int
    show: Callable[[int], None]
    moving: Sequence[Artist]

    def pictures(self, dpi: int = _GIF_DPI) -> Iterator[np.ndarray]:
        """Yield each frame as an array of pixels, uint8 (height, width, 3)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(self.figure)
        self.show(0)
        canvas.draw()
        # Once laid out the panels stay where they are, and all else is drawn once.
        self.figure.set_layout_engine("none")
        for artist in self.moving:
            artist.set_visible(False)
        canvas.draw()
        still, renderer = canvas.copy_from_bbox(self.figure.bbox), canvas.get_renderer()
        for artist in self.moving:
            artist.set_visible(True)
        for i in range(self.count):
            self.show(i)
            canvas.restore_region(still)
            for artist in self.moving:
                artist.draw(renderer)
            yield np.array(canvas.buffer_rgba())[..., :3]

    def gif(self, seconds: float | None = None) -> bytes | None:
        """Return the bytes of a GIF that repeats; None where it would take more than some seconds.

        seconds: of work of this thread. That is told by the first frames.
        """
        from PIL import Image

        began, pictures, spent = time.thread_time(), [], []
        for picture in self.pictures():
            pictures.append(picture)
            spent.append(time.thread_time() - began)
            if seconds is not None and len(pictures) > 2:
                # The first takes longer: all is laid out, and what stands still drawn.
                each = (spent[-1] - spent[0]) / (len(spent) - 1)
                if spent[0] + each * (self.count - 1) > seconds:
                    return None
        palette = self._palette(pictures[-1])
        frames = [
            Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
            for picture in pictures
        ]
        buffer = io.BytesIO()
        frames[0].save(
            buffer, format="GIF", save_all=True, append_images=frames[1:], loop=0, optimize=False,
            duration=round(1000 * _FRAME_SECONDS), comment=AUTHOR.encode(),
        )  # fmt: skip
        return buffer.getvalue()

    def _palette(self, picture: np.ndarray) -> Any:
        """Return an image with the one palette of all frames: with several, colours would flicker.

        Of colour maps it has even steps; of lines what is in a picture.
        """
        from PIL import Image

        maps = {
            drawn.get_cmap().name: drawn.get_cmap() for drawn in self.moving
            if hasattr(drawn, "get_cmap")
        }  # fmt: skip
        if not maps:
            return Image.fromarray(picture).quantize(256)
        greys = np.repeat(np.linspace(0, 255, _GREYS).round()[:, None], 3, axis=1)
        each = (256 - _GREYS) // len(maps)
        steps = [255 * one(np.linspace(0, 1, each))[:, :3] for one in maps.values()]
        image = Image.new("P", (1, 1))
        image.putpalette(np.concatenate([greys, *steps]).round().astype(np.uint8).tobytes())
        return image

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a GIF or an MP4 film, by the suffix of the path, atomically.

        Raises ValueError for another suffix, NoFilm as `mp4` does, OSError from the disk.
        """
        kinds = {".gif": self.gif, ".mp4": self.mp4}
        suffix = Path(path).suffix
        if suffix not in kinds:
            raise ValueError(f"expected a file name that ends in .gif or .mp4, got {str(path)!r}")
        write_bytes(path, kinds[suffix]())

    def mp4(self) -> bytes:
        """Return the bytes of an MP4 film; NoFilm where ffmpeg is not there, or refuses."""
        import subprocess

        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            raise NoFilm("an mp4 is written by ffmpeg, which is not found: install it, or take gif")
        writer = FFMpegWriter(
            fps=round(1 / _FRAME_SECONDS), codec="h264", metadata={"comment": FILM},
            extra_args=["-movflags", "+faststart"],
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "film.mp4"
            try:
                with writer.saving(self.figure, path, _FILM_DPI):
                    for i in range(self.count):
                        self.show(i)
                        writer.grab_frame()
                        self.figure.set_layout_engine("none")
            except (subprocess.CalledProcessError, OSError) as error:
                raise NoFilm(f"ffmpeg writes no film here ({error}); take gif") from error
            return path.read_bytes()


def animation(
    fields: Sequence[FieldData],
    *,
    vmin: float | None = None,
    vmax: float | None = None,
    log: bool = False,
    absolute: bool | None = None,
) -> Animation:
    """Return a field at several times as a figure that moves, on one scale throughout.

    fields: at one time each, in order, all in the same one or two coordinates; a map, or a line,
    with the reference and the error where all have one. vmin, vmax, log, absolute: as in
    `plot_panels` and `plot_line`. Raises ValueError for no field, or for other coordinates.
    """
    if not fields or len({(data.unknown, tuple(data.coordinates)) for data in fields}) > 1:
        raise ValueError("expected a field or more of one unknown in the same coordinates to move")
    compared = all(data.reference is not None for data in fields)
    ends = {"vmin": vmin, "vmax": vmax, "log": log}
    if len(fields[0].coordinates) == 1:
        return _lines(fields, compared, absolute is not False, ends)
    return _maps(fields, compared, bool(absolute), ends)


def _maps(
    fields: Sequence[FieldData], compared: bool, absolute: bool, ends: dict[str, Any]
) -> Animation:
    scale = field_scale(fields, **ends)
    errors = error_scale(*(d.error for d in fields), absolute=absolute) if compared else None
    figure, meshes = draw_panels(fields[0], scale, errors)

    whats = ("network", "reference", "error\n")
    titles = {mesh: mesh.axes.set_title("", fontsize=12, loc="left", y=1.0) for mesh in meshes}

    def show(i: int) -> None:
        data = fields[i]
        drawn = [(data.values, scale)]
        if errors is not None:
            drawn += [(data.reference, scale), (map_error(data, errors), errors)]
        for mesh, (values, own), what in zip(meshes, drawn, whats, strict=False):
            mesh.set_array(mesh_values(data, values, own))
            titles[mesh].set_text(f"{data.title()},  {what}")
        if errors is not None:
            meshes[2].axes.texts[0].set_text(data.summary())

    moving: list[Artist] = []
    for mesh in meshes:
        axes = mesh.axes
        over = [*axes.patches, *axes.collections[1:], *axes.spines.values(), *axes.texts]
        moving += [mesh, *over, titles[mesh]]
    return Animation(figure, len(fields), show, moving)


def _lines(
    fields: Sequence[FieldData], compared: bool, absolute: bool, ends: dict[str, Any]
) -> Animation:
    (name, grid), = fields[0].coordinates.items()
    figure, panels = line_panels(compared)
    first = fields[0]
    handles = draw_lines(panels[0], grid, first.values, first.reference if compared else None)
    shown = [array for data in fields for array in (data.values, data.reference)]
    set_line_range(panels[0], *shown, **ends)
    panels[0].set_xlim(grid[0], grid[-1])
    panels[0].set_ylabel(first.label(), fontsize=12)
    panels[-1].set_xlabel(first.label(name), fontsize=12)
    if compared:
        error = draw_error(panels[1], grid, first.error, absolute=absolute)
        error_limits(panels[1:], np.stack([data.error for data in fields]), absolute)
        panels[1].set_ylabel(first.error_label(absolute), fontsize=11)
        panels[0].legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2,
            ncols=2, frameon=False, fontsize=11,
        )  # fmt: skip

    title = panels[0].set_title(first.title(), fontsize=12, loc="left", y=1.0)

    def show(i: int) -> None:
        data = fields[i]
        title.set_text(data.title())
        handles[0].set_ydata(data.values)
        if compared:
            handles[1].set_ydata(data.reference)
            error.set_ydata(error_drawn(data.error, absolute))

    moving = [*handles, *([error] if compared else []), title]
    return Animation(figure, len(fields), show, moving)
