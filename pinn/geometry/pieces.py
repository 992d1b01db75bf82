"""What a mesh or a surface consists of, read from a file and kept with what is saved."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from pinn.geometry.facets import Facets
from pinn.schema import Text, declared
from pinn.schema.arrays import Array
from pinn.schema.declared import Record
from pinn.schema.errors import DeclarationError, refuse
from pinn.schema.errors import Path as Keys
from pinn.schema.kinds import Kind, Names, Optional, refuse_node
from pinn.schema.kinds import Text as TextKind
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar

_FACETS = Array("corners of the pieces of a boundary, shape (n, d, d)")
_CELLS = Optional(Array("corners of triangles or tetrahedra, shape (m, d + 1, d)"))
_GROUPS = Names(Array("numbers of facets"), "a mapping from names to numbers of facets")


@declared(eq=False, repr=False)
class Pieces:
    """What was read from a file of a mesh or of a surface.

    file: its name. digest: SHA-256 of it; two of one digest are equal. facets: the corners of the
    boundary's pieces, outward as `Facets` says. cells: the corners of the simplices inside. groups:
    name of a part -> the numbers of its facets.
    """

    file: Text
    digest: Text
    facets: Annotated[np.ndarray, _FACETS]
    cells: Annotated[np.ndarray | None, _CELLS] = None
    groups: Annotated[Mapping[str, np.ndarray], _GROUPS] = field(default_factory=dict)

    def __post_init__(self) -> None:
        d = self.facets.shape[-1]
        if self.facets.ndim != 3 or self.facets.shape[1] != d:
            refuse(f"expected {_FACETS.what}, got shape {self.facets.shape}", "facets")
        if self.cells is not None and (
            self.cells.ndim != 3 or self.cells.shape[1:] != (d + 1, d)
        ):
            refuse(f"expected {_CELLS.what}, got shape {self.cells.shape}", "cells")
        for name, numbers in self.groups.items():
            whole = numbers.ndim == 1 and (numbers == np.floor(numbers)).all()
            if not (whole and 0 <= numbers.min() <= numbers.max() < len(self.facets)):
                refuse(f"expected numbers of its {len(self.facets)} facets", "groups", name)

    def parts(self) -> dict[str, Facets]:
        """Return the facets by the name of their part; "" for those that are in no group."""
        found, rest = {}, np.ones(len(self.facets), dtype=bool)
        for name, numbers in self.groups.items():
            chosen = numbers.astype(int)
            rest[chosen] = False
            found[name] = Facets(self.facets[chosen])
        return {**found, **({"": Facets(self.facets[rest])} if rest.any() else {})}

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Pieces) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return repr(self.file)


@dataclass(frozen=True)
class PiecesKind(Kind):
    """The path of a file of pieces; what is written is what was read from it.

    So neither a solution nor a resolved config needs the file. A path in a config is relative to
    the config's folder, one in Python to the working directory.
    """

    read_file: Callable[[str], Pieces]
    what: str = "the path of a file"

    def check(self, value: Any) -> Pieces:
        if isinstance(value, Pieces):
            return value
        text = str(value) if isinstance(value, Path) else value
        return self.read_file(TextKind(self.what).check(text))

    def read(self, node: Node, path: Keys, reader: Reader) -> Any:
        if isinstance(node, MappingNode):
            return Record(Pieces).read(node, path, reader)
        if not isinstance(node, Scalar) or node.is_null:
            return refuse_node(self, node, path, reader)
        try:
            return self.check(reader.folder / node.text)
        except DeclarationError as error:
            return reader.refuse(error, path)

    def dump(self, value: Pieces) -> dict[str, Any]:
        return Record(Pieces).dump(value)


def digest_of(name: str) -> str:
    """Return SHA-256 of a file, hexadecimal text."""
    with open(name, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(name: str, suffixes: tuple[str, ...]) -> None:
    """Refuse a file that is not there or has another suffix."""
    path = Path(name)
    if path.suffix.lower() not in suffixes:
        refuse(f"{name}: expected a file that ends in {' '.join(suffixes)}")
    if not path.is_file():
        refuse(f"{name}: there is no such file")


@contextlib.contextmanager
def foreign_reader(package: str, name: str) -> Iterator[None]:
    """Refuse what a package cannot read with the file's name, and a package that is missing.

    Readers of damaged files fail in every way there is, and one of them calls sys.exit.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            yield
    except DeclarationError:
        raise
    except ModuleNotFoundError as error:
        if error.name != package:
            refuse(f"{name}: its reader needs the package {error.name}, which is missing")
        missing = f"{name} is read with the package {package}, which is missing"
        refuse(f'{missing}; pip install "pinn[mesh]"')
    except (Exception, SystemExit) as error:
        words = str(error) if isinstance(error, Exception) else said.getvalue()
        reason = " ".join(words.split())[:200] or type(error).__name__
        refuse(f"{name}: {package} cannot read it, the file may be damaged ({reason})")
