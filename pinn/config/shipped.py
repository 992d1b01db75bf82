"""The configs that ship, by name."""

from __future__ import annotations

from pathlib import Path

from pinn.checks import nearest

_DATA = "data"


def shipped_folder() -> Path:
    """Return their folder: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def shipped_config(name: str) -> Path:
    """Return the path of a shipped config; ValueError, with the nearest names, for another name."""
    names = _shipped_names()
    if name not in names:
        raise ValueError(
            f"no config that ships is called {name!r}{nearest(name, names)}; "
            "python -m pinn list shows them"
        )
    return shipped_folder() / f"{name}.yaml"


def found_config(given: str) -> Path:
    """Return the path of a config that is given by its path or, where it ships, by its name.

    A file of that name comes first. ValueError where none is there, of what can be no path or is
    called like one that ships.
    """
    path = Path(given)
    if path.exists():
        return path
    if path.suffix == ".yaml" and path.stem in _shipped_names():
        raise ValueError(f"a config that ships is called {path.stem!r}: give that name alone")
    if path.suffix or path.name != given:
        return path
    return shipped_config(given)


def data_of(config: Path) -> list[Path]:
    """Return the tables beside a shipped config that it reads, as paths from its folder."""
    text = config.read_text(encoding="utf-8")
    paths = sorted((config.parent / _DATA).glob("*"))
    return [Path(_DATA, path.name) for path in paths if f"{_DATA}/{path.name}" in text]


def _shipped_names() -> list[str]:
    return [path.stem for path in sorted(shipped_folder().glob("*.yaml"))]
