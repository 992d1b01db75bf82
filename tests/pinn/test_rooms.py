"""The rooms of the package: each imports only from rooms below it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pinn

PACKAGE = Path(pinn.__file__).parent
ROOT = PACKAGE.parent
DECISION = ROOT / "docs" / "decisions" / "0014-rooms.md"


def storeys() -> list[list[str]]:
    """Return the rooms in the order of the decision, the uppermost first; some share a storey."""
    text = DECISION.read_text(encoding="utf-8")
    lines = re.findall(r"^    ([a-z]+(?:, [a-z]+)*)  +\S", text, flags=re.MULTILINE)
    return [line.split(", ") for line in lines]


def room_of(module: str) -> str:
    """Return the room of a module such as pinn.training.loop; "pinn" for the package itself."""
    return (module.split(".") + ["pinn"])[1] if module != "pinn" else "pinn"


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the name of each module of pinn that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            names = below if node.module == "pinn" else [node.module]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "pinn")


def arrows() -> dict[tuple[str, str], list[str]]:
    """Return who imports from whom, room by room, with the places."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for line, module in imported(path):
            if room_of(module) != room:
                place = f"{path.relative_to(ROOT)}:{line}"
                found[room, room_of(module)].append(place)
    return found


def test_every_room_has_its_place_in_the_decision():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or
             (path / "__init__.py").exists()}  # fmt: skip
    listed = [room for storey in storeys() for room in storey]
    assert len(listed) == len(set(listed))
    assert set(listed) == rooms - {"__init__", "__main__"}


def test_imports_run_downwards():
    """Those inside of functions too, and those for type checkers."""
    rank = {room: i for i, storey in enumerate(storeys()) for room in storey}
    # The package's table of names reaches into every room, so only the command line may use it.
    outside = {"__init__", "__main__"}
    rising = {
        arrow: places for arrow, places in arrows().items()
        if arrow[0] not in outside and arrow[1] != "pinn" and rank[arrow[0]] > rank[arrow[1]]
    }  # fmt: skip
    assert rising == {}


def test_only_the_command_line_goes_by_way_of_the_package():
    users = {source for source, target in arrows() if target == "pinn"}
    # runs and solution ask it for its version alone, the reference page for the names that users
    # call, and problem.check() is another name of pinn.check(problem).
    assert users <= {"cli", "config", "problem", "runs", "solution"}


def test_there_is_no_circle_of_rooms():
    below = defaultdict(set)
    for source, target in arrows():
        if source not in ("__init__", "__main__") and target != "pinn":
            below[source].add(target)
    while below:
        free = [room for room in below if not below[room] & below.keys()]
        assert free, f"a circle among {sorted(below)}"
        for room in free:
            del below[room]
