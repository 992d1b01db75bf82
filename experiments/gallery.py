"""Train every config that ships, and make docs/gallery.md and its pictures of what comes out.

    python -m experiments.gallery [--only NAME ...] [--seconds S] [--anew] [--out FOLDER]

Each config trains with its own settings on one core, for `--seconds` (12) of processor time at
most, so that other work on the machine changes nothing. gallery.json keeps what was measured;
configs that it has are left out, so that the same command goes on with what was cut short. The page
is written after every config.
"""

from __future__ import annotations

import io
import re
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pinn
from experiments.command_line import chosen, interrupted, parser, positive
from experiments.resumable import ROOT, Rows
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
        "convection_diffusion", "advection_of_functions",
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

_PATIENCE = 5  # times the processor time, as the wall's time that a run may take
_DOTS, _COLOURS = 72, 160  # a picture stays below 60 kB
_HEAD = """\
# Gallery

Every config that ships. The pictures are of short runs: each says how
many seconds of one core it took, and the error that it ended with, in the relative L2 norm. "As it
ships" is the error after the time that the config itself asks for. References take no part in
training.

`python -m pinn new NAME` copies a config to start from. `python -m experiments.gallery` makes this
page.
"""


@dataclass(frozen=True)
class Told:
    """What the header of a config says of it."""

    title: str
    shows: str
    try_: str
    error: str


def told(name: str) -> Told:
    """Return what the header of a config says, without its marks and line breaks."""
    text = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8")
    title, *rest = [line.removeprefix("#").strip() for line in text.split("\n\n", 1)[0].split("\n")]
    shows, try_ = re.search(
        r"Shows: (.*?) Try: (.*?)(?:  .*)?(?: error:|$)", " ".join(one or " " for one in rest)
    ).groups()
    error = rest[-1].removeprefix("error: ")
    return Told(title, shows.strip(), re.sub(r":$", ".", try_.strip()), error)  # a command follows


def measured(name: str, seconds: float) -> tuple[dict[str, Any], bytes]:
    """Train a config for so many seconds of one core; return its row, and its picture as PNG."""
    experiment = load(CONFIGS / f"{name}.yaml").experiment
    began = time.process_time()

    def late(record: object) -> bool:
        return time.process_time() - began > seconds

    # What comes before the first step, the choice of a model, goes by the wall's clock.
    wanted = {"seconds": _PATIENCE * seconds, "threads": 1, "error_bars": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.ProblemWarning)
        warnings.simplefilter("ignore", pinn.UnsolvedWarning)  # of a run that was cut short
        solution = pinn.solve(**{**experiment.arguments, **wanted}, callbacks=[late])
    spent, report = time.process_time() - began, solution.report
    row = {
        "name": name, "limit_cpu_seconds": seconds, "cpu_seconds": spent,
        "rel_l2": dict(report.rel_l2),
        "estimated": dict(solution.error_estimate().relative_l2) if not report.rel_l2 else {},
        "parameters": dict(report.parameters),
        "standard_errors": dict(report.recovery.standard_errors),
    }  # fmt: skip
    return row, picture(solution)


def picture(solution: Solution) -> bytes:
    """Return a small PNG of what a problem is about: a field that is sought, else an unknown."""
    problem = solution.problem
    sought = [field.name for field in problem.fields]
    name = (sought or [*problem.quantities] or problem.unknowns)[0]
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
    return f"{'; '.join(words)}, after {row['cpu_seconds']:.0f} s of one core."


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the gallery as Markdown."""
    by_name = {row["name"]: row for row in rows}
    parts = [_HEAD]
    for title, names in SECTIONS.items():
        there = [name for name in names if name in by_name]
        parts += [f"\n## {title}\n"] if there else []
        for name in there:
            header = told(name)
            parts.append(
                f"\n### {name}\n\n{escaped(header.title)}\n\n![{name}](gallery/{name}.png)\n\n"
                f"Shows {escaped(header.shows)}\n\nTry {escaped(header.try_)}\n\n"
                f"This run: {ended(by_name[name])} As it ships, in "
                f"[{name}.yaml](../configs/{name}.yaml): {header.error}.\n"
            )
    return "".join(parts)


def escaped(text: str) -> str:
    """Return plain text as Markdown."""
    return re.sub(r"([*_<>|\[\]$`\\^~])", r"\\\1", text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing; returns 0, 2 for wrong usage, 130 where it was interrupted."""
    options = parser("experiments.gallery", __doc__, "these configs")
    options.add_argument("--seconds", type=positive, default=12.0, metavar="S",
                         help="limit of each training, of processor time (12)")  # fmt: skip
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
            row, png = measured(name, options.seconds)
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
