"""Whether bad input is taken, or refused as it should be; anything else is a finding."""

from __future__ import annotations

import io
import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from pinn.cli import main
from pinn.config import ConfigError, load
from pinn.expressions import ExpressionError
from pinn.problem import Problem

# Beyond this a text hangs, for whoever waits for an answer.
SECONDS = 10


class Hang(BaseException):
    """A text took longer than SECONDS."""


def try_config(text: str, path: Path) -> str | None:
    """Load a config text; return what is wrong with how it was taken, None where nothing is."""
    path.write_text(text, encoding="utf-8")
    try:
        with _limited():
            load(path)
    except ConfigError as error:
        return next(filter(None, (_badly_told(one, path) for one in error.complaints)), None)
    except (Exception, Hang) as error:
        return _told(error)
    return None


def try_check(text: str, path: Path) -> str | None:
    """Check a config text by the command line: exit code 0, or 2 and a place for each mistake."""
    path.write_text(text, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    try:
        with _limited(), warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
            warnings.simplefilter("ignore")
            code = main(["check", str(path)])
    except (Exception, Hang) as error:
        return _told(error)
    if code == 0:
        return None
    said = err.getvalue()
    if code == 4 and said.startswith("out of memory"):
        return None
    if code != 2 or not said.startswith(str(path)):
        return f"exit code {code}: {said[:300]}"
    return None


def try_expression(text: str, problem: Problem) -> str | None:
    """Resolve a text in the scope of a problem, and return what is wrong with how it was taken."""
    try:
        with _limited():
            str(problem.scope.resolve(text))
    except ExpressionError as error:
        return None if str(error).strip() else "refused without a word"
    except (Exception, Hang) as error:
        return _told(error)
    return None


def _badly_told(complaint, path: Path) -> str | None:
    if complaint.place.source != str(path) or complaint.place.line is None:
        return f"no file and line: {complaint}"
    if not complaint.message.strip():
        return f"no message: {complaint}"
    return None


def _told(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} at {where}: {str(error)[:200]}"


@contextmanager
def _limited() -> Iterator[None]:
    def hang(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
