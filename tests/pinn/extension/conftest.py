"""The things that docs/extending.md adds from outside the package, in the tables for a test."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pinn.conditions import CONDITIONS
from pinn.geometry import SHAPES
from pinn.models import EMBEDDINGS, MODELS
from pinn.objective.weighting import WEIGHTINGS
from pinn.optimizers import SCHEDULES, STAGES
from pinn.problem import references
from pinn.sampling import ADAPTIVE, METHODS
from pinn.tracking import TRACKERS
from pinn.training import PLANS

PAGE = Path(__file__).parents[3] / "docs" / "extending.md"
FAMILIES = {
    "slope": CONDITIONS, "diamond": SHAPES, "ridges": MODELS, "gated": MODELS,
    "squares": EMBEDDINGS, "descent": STAGES, "signs": STAGES, "stairs": SCHEDULES,
    "patient": PLANS, "even": WEIGHTINGS, "printed": TRACKERS,
}  # fmt: skip
FUNCTIONS = {"thirds": METHODS, "largest": ADAPTIVE}
REFERENCE = "heat-mode"


def blocks(kind: str) -> list[tuple[int, str]]:
    """Return the code blocks of the page, each with the number of its first line."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)), match[1]) for match in found]


def names_in_tables() -> dict[str, list[str]]:
    tables = {table.noun: list(table) for table in FAMILIES.values()}
    return {**tables, "method": list(METHODS), "adaptive": list(ADAPTIVE),
            "reference": list(references.names())}  # fmt: skip


@pytest.fixture(scope="module")
def page():
    """A module of the page's Python, as somebody outside would write it; taken out afterwards."""
    before = names_in_tables()
    module = sys.modules["extending"] = ModuleType("extending")
    try:
        for line, code in blocks("python"):
            exec(compile("\n" * line + code, str(PAGE), "exec"), vars(module))
        yield module
    finally:
        for name, family in FAMILIES.items():
            if name in family:
                family.remove(name)
        for name, table in FUNCTIONS.items():
            table.pop(name, None)
        if REFERENCE in references.names():
            references.remove(REFERENCE)
        del sys.modules["extending"]
    assert names_in_tables() == before


@pytest.fixture
def config(page, tmp_path) -> Path:
    """The page's config as a file."""
    ((_, text),) = blocks("yaml")
    path = tmp_path / "toys.yaml"
    path.write_text(text, encoding="utf-8")
    return path
