"""Train every config that ships, and make docs/gallery.md and its pictures of what comes out.

    python -m experiments.gallery [--only NAME ...] [--seconds S] [--anew] [--out FOLDER]

Each config trains in a run of its own with its own settings, `--seconds` (60) at most where it asks
for more. gallery.json keeps what was measured; configs that it has are left out, so that the same
command goes on with what was cut short. The page is written after every config.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pinn
from experiments.command_line import chosen, interrupted, parser, positive
from experiments.resumable import ROOT, Rows
from pinn.cli import main as command
from pinn.config import load
from pinn.figures import plot_field
from pinn.figures.style import figure_png
from pinn.files import write_bytes, write_text
from pinn.solution import Solution

CONFIGS = ROOT / "configs"
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"

SECTIONS: dict[str, tuple[str, ...]] = {
    "Waves, fronts and layers": (
        "burgers", "allen_cahn", "schroedinger", "klein_gordon", "wave", "two_scales",
        "convection_diffusion",
    ),
    "Shapes": (
        "helmholtz_hole", "four_holes", "l_shape", "laplace_polar", "heat_ball", "poisson_5d",
    ),
    "Flows, solids and several media": (
        "kovasznay", "cavity", "channel_two_disks", "elastic_plate", "two_media", "heated_wire",
    ),
    "Ordinary, integral and fractional equations": (
        "ode_system", "euler_beam", "poisson_robin", "volterra", "fractional_poisson",
    ),
    "Finance": ("black_scholes", "american_put"),
    "Unknown coefficients and fields": (
        "diffusion_coefficient", "lorenz", "reaction_rate", "inverse_poisson", "source_field",
    ),
}  # fmt: skip
NAMES = tuple(name for names in SECTIONS.values() for name in names)

_DOTS, _COLOURS = 72, 160  # a picture stays below 60 kB
_HEAD = """\
# Gallery

Every config of [configs](../configs) as it ships, with a picture of what it ends with. The error is
that of the run that drew the picture, in the relative L2 norm, against the reference of the config,
which takes no part in training. Runs were cut at {seconds:g} s, on two cores that had other work as
well: the header of a config says what it does in the time that it asks for. `python -m pinn new
NAME` copies one, and `python -m experiments.gallery` makes this page.
"""


@dataclass(frozen=True)
class Told:
    """What the header of a config says of it."""

    title: str
    shows: str
    try_: str


def told(name: str) -> Told:
    """Return what the header of a config says, without its marks and line breaks."""
    text = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8")
    title, *rest = [line.removeprefix("#").strip() for line in text.split("\n\n", 1)[0].split("\n")]
    shows, try_ = re.search(
        r"Shows: (.*?) Try: (.*?)(?:  .*)?(?: error:|$)", " ".join(one or " " for one in rest)
    ).groups()
    return Told(title, shows.strip(), re.sub(r":$", ".", try_.strip()))  # a command follows


def measured(name: str, seconds: float, folder: Path) -> tuple[dict[str, Any], bytes]:
    """Train a config and return its row, and its picture as PNG.

    Raises RuntimeError where the command ends with another code than 0.
    """
    config = CONFIGS / f"{name}.yaml"
    own = load(config).experiment.seconds
    limit = min(seconds, own or seconds)
    run = folder / name
    code = command(["train", str(config), "--seconds", f"{limit:g}", "--out", str(run), "--quiet"])
    if code:
        raise RuntimeError(f"{config}: training ended with {code}")
    solution = pinn.load(run)
    report = solution.report
    row = {
        "name": name, "limit_seconds": seconds, "seconds": report.wall_seconds,
        "stop_reason": str(report.stop_reason), "rel_l2": dict(report.rel_l2),
        "estimated": dict(report.error_estimate.relative_l2 or {}),
        "parameters": dict(report.parameters),
        "standard_errors": dict(report.recovery.standard_errors),
    }  # fmt: skip
    return row, picture(solution)


def picture(solution: Solution) -> bytes:
    """Return a small PNG of what a problem is about: a field that is sought, else an unknown."""
    problem = solution.problem
    name = next(iter(problem.fields), None) or problem.outputs[-1 if problem.piecewise else 0]
    return small(figure_png(plot_field(solution.field_data(name)), _DOTS))


def small(png: bytes) -> bytes:
    """Return a PNG with a table of colours, which takes a third of the bytes."""
    from PIL import Image

    out = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(out, "png", optimize=True)
    return out.getvalue()


def ended(row: Mapping[str, Any]) -> str:
    """Return what a run ended with, in a sentence."""
    words = [
        f"{name} = {value:.6g}"
        + (f" ± {row['standard_errors'][name]:.1g}" if name in row["standard_errors"] else "")
        for name, value in row["parameters"].items()
    ]
    errors, what = row["rel_l2"], "error"
    if not errors:
        errors, what = row["estimated"], "estimated error"
    if errors:
        shown = ", ".join(
            f"{value:.1e}" + (f" of {name}" if len(errors) > 1 else "")
            for name, value in errors.items()
        )
        words.append(f"{what} {shown}")
    return f"{'; '.join(words)}, after {row['seconds']:.0f} s."


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the gallery as Markdown."""
    by_name = {row["name"]: row for row in rows}
    parts = [_HEAD.format(seconds=max((row["limit_seconds"] for row in rows), default=60))]
    for title, names in SECTIONS.items():
        there = [name for name in names if name in by_name]
        parts += [f"\n## {title}\n"] if there else []
        for name in there:
            header = told(name)
            parts.append(
                f"\n### {name}\n\n{escaped(header.title)}\n\n![{name}](gallery/{name}.png)\n\n"
                f"Shows {escaped(header.shows)}\n\nTry {escaped(header.try_)}\n\n"
                f"[{name}.yaml](../configs/{name}.yaml): {ended(by_name[name])}\n"
            )
    return "".join(parts)


def escaped(text: str) -> str:
    """Return plain text as Markdown."""
    return re.sub(r"([*_<>|\[\]$`\\^~])", r"\\\1", text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted."""
    options = parser("experiments.gallery", __doc__, "these configs")
    options.add_argument("--seconds", type=positive, default=60.0, metavar="S",
                         help="limit of each training (60)")  # fmt: skip
    options = options.parse_args(arguments)
    try:
        names = chosen(options.only, {name: [name] for name in NAMES}, "names of configs")
        results = Rows(options.out / "gallery.json", NAMES)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    try:
        for name in names:
            if name in results and not options.anew:
                continue
            with tempfile.TemporaryDirectory() as folder:
                row, png = measured(name, options.seconds, Path(folder))
            PICTURES.mkdir(exist_ok=True)
            write_bytes(PICTURES / f"{name}.png", png)
            results.put(row, f"python -m experiments.gallery --seconds {options.seconds:g}")
            write_text(PAGE, page(results.rows))
            print(name, ended(row), flush=True)
    except KeyboardInterrupt:
        return interrupted()
    return 0


if __name__ == "__main__":
    sys.exit(main())
