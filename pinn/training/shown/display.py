"""Where progress is shown: a line of a terminal that changes, a notebook's bar, plain lines."""

from __future__ import annotations

import os
import sys
import textwrap
import warnings
from abc import ABC, abstractmethod
from typing import Any, TextIO

from pinn.training.shown.standing import Standing

_BLOCKS, _SIGNS = "\N{BOX DRAWINGS HEAVY HORIZONTAL}\N{BOX DRAWINGS LIGHT HORIZONTAL}", "=-"


class Display(ABC):
    """Shows where training stands, and sentences about it; every: the seconds between two shows."""

    every: float

    @abstractmethod
    def show(self, standing: Standing) -> None:
        """Show where training stands, in place of what was shown before."""

    @abstractmethod
    def tell(self, sentence: str) -> None:
        """Write a sentence that stays."""

    def end(self) -> None:
        """End what was shown of a stage."""
        return None


class Lines(Display):
    """Plain lines, for a file, a pipe or another program."""

    def __init__(self, stream: TextIO, every: float) -> None:
        self.every = every
        self._stream = stream

    def show(self, standing: Standing) -> None:
        self.tell(standing.line())

    def tell(self, sentence: str) -> None:
        print(sentence, file=self._stream, flush=True)


class Terminal(Display):
    """One line that is written over, and sentences above it in lines of the terminal's width."""

    every = 0.1

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""
        # Columns of the line that may have letters in them.
        self._written = 0
        self._bar = _BLOCKS if _can_show(stream, _BLOCKS) else _SIGNS

    def show(self, standing: Standing) -> None:
        # The last column stays free: some terminals go to the next line once it is written to.
        self._draw(standing.line(self._width() - 1, self._bar))

    def tell(self, sentence: str) -> None:
        line, width = self._line, max(40, self._width())
        self.end()
        for part in sentence.splitlines() or [""]:
            wrapped = textwrap.wrap(
                part, width - 1, subsequent_indent="  ", break_on_hyphens=False,
                drop_whitespace=True, replace_whitespace=False,
            ) if len(part) >= width else [part]  # fmt: skip
            self._stream.write("".join(f"{one}\n" for one in wrapped))
        self._draw(line)

    def end(self) -> None:
        self._draw("")
        self._stream.write("\r")
        self._stream.flush()

    def _draw(self, line: str) -> None:
        self._stream.write(f"\r{line.ljust(self._written)}" if line or self._written else "")
        self._stream.flush()
        self._line, self._written = line, len(line)

    def _width(self) -> int:
        """The columns there are now: the window may have changed."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


class Notebook(Display):
    """tqdm's bar for notebooks, one a stage."""

    every = 0.5

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Any = None

    def show(self, standing: Standing) -> None:
        if self._bar is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a bar of text where there are no widgets
                from tqdm.auto import tqdm

                self._bar = tqdm(
                    total=1.0, bar_format="{bar}{desc}", file=self._stream, dynamic_ncols=True,
                    leave=False,
                )  # fmt: skip
        self._bar.n = standing.share
        self._bar.set_description_str(" " + standing.line(160))

    def tell(self, sentence: str) -> None:
        if self._bar is not None:
            self._bar.clear()
        print(sentence, file=self._stream, flush=True)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def display_for(stream: TextIO | None, interval: float) -> Display:
    """Return what fits a stream, sys.stderr where it is None; interval: seconds between lines."""
    if stream is None and _in_notebook():
        return Notebook(sys.stderr)
    stream = sys.stderr if stream is None else stream
    is_terminal = bool(getattr(stream, "isatty", lambda: False)())
    if is_terminal and os.environ.get("TERM") != "dumb":
        return Terminal(stream)
    return Lines(stream, interval)


def _in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which has imported IPython long before."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


def _can_show(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
