"""A module of plain numpy that evaluates a solution, and the arrays that it reads."""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from autograd.plan import Program
from pinn.export.numpy_source import numpy_source
from pinn.export.operations import HELPERS
from pinn.files import write_npz, write_text

# What the module calls by these names, which no argument of `evaluate` may hide.
_TAKEN = {"np", "math", "special", "Path", "w", "n", "points", "given", "values", "evaluate"}


def write_evaluator(
    path: Path,
    programs: Sequence[Program],
    rows: Sequence[int],
    coordinates: Sequence[str],
    unknowns: Sequence[str],
    names: Mapping[str, np.ndarray],
    about: Iterable[str],
) -> list[Path]:
    """Write path, a module with `evaluate`, and the arrays it needs beside it; return both paths.

    programs: points (n, coordinates) in float64 -> an output of n numbers for each unknown, twice
    recorded, for as many points as `rows` says. names: what arrays are called in the npz. about:
    lines that say what it is. Raises NoSource for a program that numpy alone cannot repeat.
    """
    arguments = [f"{name}_" if _is_taken(name) else name for name in coordinates]
    source = numpy_source(programs, rows, arguments, names)
    weights = path.with_suffix(".npz")
    text = "\n".join([*source.helpers, *source.lines, *source.results])
    needs = "numpy and scipy" if "special." in text else "numpy"
    # A unit is any text; no quotes, so that it cannot end the one that it is written in.
    title, *others = (
        line.replace('"', "'").encode("utf-8", "replace").decode("utf-8") for line in about
    )
    given, example = ", ".join(arguments), ", ".join(f"{one}=..." for one in arguments)
    columns = f"{given}{',' * (len(arguments) == 1)}"
    lines = [
        f'"""{title}',
        "",
        *others,
        f"It needs {weights.name} beside it, and {needs}:",
        "",
        f"    from {path.stem} import evaluate",
        f'    {unknowns[0]} = evaluate({example})["{unknowns[0]}"]',
        '"""',
        "",
        *(["import math"] if "math." in text else []),
        "from pathlib import Path",
        "",
        "import numpy as np",
        *(["from scipy import special"] if "special." in text else []),
        "",
        f"w = dict(np.load(Path(__file__).with_name({json.dumps(weights.name)})))",
        "",
        "",
        *(line for helper in source.helpers for line in [*helper.splitlines(), "", ""]),
        '@np.errstate(all="ignore")',
        f"def evaluate({given}):",
        f'    """Return {", ".join(unknowns)} by name at numbers or arrays, which broadcast."""',
        f"    given = np.broadcast_arrays({given})",
        "    points = np.stack([np.ravel(one) for one in given], axis=1).astype(np.float64)",
        *([f"    {columns} = np.hsplit(points, {len(arguments)})"] if source.columns else []),
        *(["    n = len(points)"] if source.counts else []),
        *(f"    {line}" for line in source.lines),
        "    values = {",
        *(f'        "{u}": {text},' for u, text in zip(unknowns, source.results, strict=True)),
        "    }",
        "    return {name: np.reshape(one, given[0].shape) for name, one in values.items()}",
    ]
    write_npz(weights, source.arrays)
    write_text(path, "\n".join(lines) + "\n")
    return [path, weights]


def _is_taken(name: str) -> bool:
    made = name[:1] == "v" and name[1:].isdigit()
    return made or name in _TAKEN or name in HELPERS or keyword.iskeyword(name)
