"""Runs the code of one page from top to bottom, as a reader would: `python run_page.py PAGE`.

It runs in the working directory, in one namespace:

    ```python           is executed
    ```text output      is what the block before it printed; `...` stands for anything
    ```yaml             is a file where its first line is `# NAME.yaml`, else only parsed; what has
                        a `problem` is checked as a config
    ```bash             is run, with `python` being this interpreter, and has to end with 0
    ```bash setup       is left out (it needs a network, a GPU, or a fresh machine)

A remark `<!-- test: OLD -> NEW -->` above a block replaces a text of it, such as a limit in time,
and `<!-- test: needs MODULE -->` leaves it out where that is not installed.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import linecache
import os
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

_BLOCK = re.compile(
    r"(?P<remarks>(?:^<!-- test: .*? -->\n)*)^```(?P<kind>\w[^\n]*)\n(?P<code>.*?)^```$",
    re.M | re.S,
)
_OUTPUT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A block of a page: the words after its fence, its text, its first line, its remarks."""

    kind: str
    code: str
    line: int
    remarks: tuple[str, ...]


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page with their replacements made.

    Raises ValueError for a replacement whose text the block does not have.
    """
    for match in _BLOCK.finditer(text):
        code, line = match["code"], text.count("\n", 0, match.start("code")) + 1
        remarks = tuple(re.findall(r"^<!-- test: (.*?) -->$", match["remarks"], re.M))
        for remark in remarks:
            old, arrow, new = remark.partition(" -> ")
            if arrow:
                if old not in code:
                    raise ValueError(f"line {line}: {old!r} is to be replaced, and is not there")
                code = code.replace(old, new)
        yield Block(match["kind"], code, line, remarks)


class Page:
    """A page as it is run: its names, and what its last block printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.module = types.ModuleType("page")
        sys.modules["page"] = self.module  # what a block defines knows where it is from
        self.printed = ""

    def run(self) -> None:
        """Run all blocks; raises what they raise, and AssertionError for other outputs."""
        for block in blocks(self.path.read_text(encoding="utf-8")):
            needed = [r.removeprefix("needs ") for r in block.remarks if r.startswith("needs ")]
            if any(importlib.util.find_spec(module) is None for module in needed):
                continue
            act = {
                "python": self.python, "bash": self.bash, "yaml": self.yaml,
                "text output": self.output,
            }.get(block.kind)  # fmt: skip
            if act is None:
                continue
            with warnings.catch_warnings():
                if needed:  # what others warn of is theirs
                    warnings.simplefilter("ignore")
                act(block)

    def python(self, block: Block) -> None:
        place = f"{self.path.name}:{block.line}"
        linecache.cache[place] = (len(block.code), None, block.code.splitlines(True), place)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block.code, place, "exec"), self.module.__dict__)
        self.printed = printed.getvalue()

    def bash(self, block: Block) -> None:
        # a function, and no file on the PATH: what it is to call has no name of its own there
        script = f'set -e\npython() {{ "{sys.executable}" "$@"; }}\n{block.code}'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(
                f"line {block.line}: {block.code}ended with {done.returncode}\n"
                f"{done.stdout}{done.stderr}"
            )
        self.printed = done.stdout

    def output(self, block: Block) -> None:
        if not doctest.OutputChecker().check_output(block.code, self.printed, _OUTPUT):
            raise AssertionError(
                f"line {block.line}: expected\n{block.code}and got\n{self.printed}"
            )

    def yaml(self, block: Block) -> None:
        data = yaml.safe_load(block.code)
        name = re.match(r"# ([\w-]+\.yaml)\n", block.code)
        if name:
            Path(name[1]).write_text(block.code, encoding="utf-8")
        if isinstance(data, dict) and "problem" in data:
            from pinn.config import load

            path = Path(name[1] if name else "block.yaml")
            path.write_text(block.code, encoding="utf-8")
            load(path)


def main() -> None:
    """Run the page that the command line names; what it leaves is in the working directory."""
    import pinn

    os.environ.setdefault("MPLBACKEND", "agg")
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", pinn.UnsolvedWarning)  # a shortened run solves nothing
    Page(Path(sys.argv[1])).run()


if __name__ == "__main__":
    main()
