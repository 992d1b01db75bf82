"""Where the figures go that a command draws: one file, or a folder with a file for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pinn.cli.verdict import Misuse


@dataclass(frozen=True)
class Destination:
    """A file or a folder that was named on the command line.

    given: its path. is_file: whether one figure goes there, as what it ends in says. overwrite:
    whether files that are there are replaced.
    """

    given: Path
    is_file: bool
    overwrite: bool

    @classmethod
    def of(cls, out: str, endings: Sequence[str], overwrite: bool) -> Destination:
        """Return what a text means; endings: of a file of a figure, such as "png".

        Raises Misuse for a name with another ending, and for a file that is there.
        """
        path = Path(out)
        if path.is_dir() or out.endswith(("/", os.sep)) or not path.suffix:
            if path.exists() and not path.is_dir():
                raise Misuse(f"--out: expected a folder, but {out} is a file")
            return cls(path, False, overwrite)
        if path.suffix[1:] not in endings:
            shown = [f".{ending}" for ending in endings]
            raise Misuse(
                f"--out: expected a name that ends in {', '.join(shown[:-1])} or {shown[-1]}, or a "
                f"folder, got {out}; one that is still to be made has / at its end"
            )
        found = cls(path, True, overwrite)
        found._check(path)
        return found

    def path(self, name: str, suffix: str) -> Path:
        """Return where a figure goes, and make the folder; Misuse for a file that is there."""
        from pinn.files import disk_error

        path = self.given if self.is_file else self.given / f"{name}.{suffix}"
        self._check(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(path.parent, error, "choose another --out", verb="make") from error
        return path

    def _check(self, path: Path) -> None:
        if path.exists() and not self.overwrite:
            raise Misuse(
                f"{path} is there already, and nothing is written over it without --overwrite"
            )
