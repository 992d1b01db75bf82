"""The rooms of operations: each imports only from the registry and from rooms below it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import autograd.ops

OPS = Path(autograd.ops.__file__).parent
DECISION = OPS.parents[1] / "docs" / "decisions" / "0062-rooms-of-operations.md"
SHARED = {"registry", "pointwise"}


def order() -> list[str]:
    """Return the rooms in the order of the decision, the uppermost first."""
    text = DECISION.read_text(encoding="utf-8")
    return re.findall(r"^    ([a-z]+)  +\S", text, flags=re.MULTILINE)


def imported_rooms(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the room of each import from another room, wherever in the file it is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((node.lineno, name.split(".")[0]) for name in names)


def test_every_room_has_its_place_in_the_decision():
    rooms = {path.name for path in OPS.iterdir() if (path / "__init__.py").exists()}
    assert set(order()) == rooms
    assert {path.stem for path in OPS.glob("*.py")} == SHARED | {"__init__"}


def test_imports_run_downwards():
    rank = {room: place for place, room in enumerate(order())}
    arrows = [
        (room, below, f"{path.name}:{line}")
        for room in rank
        for path in (OPS / room).glob("*.py")
        for line, below in imported_rooms(path)
    ]
    assert len(arrows) > 100
    rising = [
        (room, below, place)
        for room, below, place in arrows
        if below not in SHARED and rank[room] >= rank[below]
    ]
    assert rising == []
