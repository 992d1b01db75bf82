"""Files that a shape is read from: where they are, what was in them, what fails to read them."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pinn.files import sentence_of
from pinn.schema.errors import DeclarationError, refuse
from pinn.schema.errors import Path as Keys
from pinn.schema.kinds import Optional, Text
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Node


@dataclass(frozen=True)
class FileKind(Text):
    """The name of a file: in a config relative to its folder, in Python to the working directory.

    It is written as an absolute one, so that what is written may lie anywhere.
    """

    what: str = "the name of a file"

    def check(self, value: Any) -> str:
        return super().check(str(value) if isinstance(value, Path) else value)

    def read(self, node: Node, path: Keys, reader: Reader) -> Any:
        name = super().read(node, path, reader)
        return name if name is INVALID else str(reader.folder / name)

    def dump(self, value: str) -> str:
        return str(Path(value).absolute())


FileName = Annotated[str, FileKind()]
"""The annotation of an argument that names a file."""

Digest = Annotated[str | None, Optional(Text("the digest of a file"))]
"""The annotation of the SHA-256 of a file, hexadecimal; None until it has been read."""


def checked_file(name: str, suffixes: tuple[str, ...], digest: str | None) -> str:
    """Return the digest of a file.

    Refuses one that is not there, has another suffix, or is not what it was when `digest` was
    taken: a network that was trained on another shape would give wrong values without a word.
    """
    path = Path(name)
    if path.suffix.lower() not in suffixes:
        refuse(f"{name}: expected a file that ends in {' '.join(suffixes)}", "path")
    if not path.is_file():
        refuse(f"{name}: there is no such file", "path")
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        refuse(f"{name}: it cannot be read: {sentence_of(error)}", "path")
    if digest not in (None, found):
        refuse(
            f"{name}: the file has changed since its digest was taken: expected {digest}, got "
            f"{found}; leave out the digest to use the file as it is",
            "path",
        )
    return found


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
            refuse(f"{name}: its reader needs the package {error.name}, which is missing", "path")
        missing = f"{name} is read with the package {package}, which is missing"
        refuse(f'{missing}; pip install "pinn[mesh]"', "path")
    except (Exception, SystemExit) as error:
        words = str(error) if isinstance(error, Exception) else said.getvalue()
        reason = " ".join(words.split())[:200] or type(error).__name__
        refuse(f"{name}: {package} cannot read it, the file may be damaged ({reason})", "path")
