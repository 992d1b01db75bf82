"""One run as a worker does it: a text in, a run directory out, and a line about how it ended."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pinn.cli.output import tell
from pinn.cli.train import ended_there, train_config
from pinn.cli.verdict import INTERRUPTED, verdict

if TYPE_CHECKING:
    from pinn.config import Config
    from pinn.runs.jobs import Ended, Job

# A run takes BLAS, signals, warnings and streams of the process, and there is one of each. Dask may
# have several threads in a worker.
_ONE_RUN = threading.Lock()


def work(job: Job) -> Ended:
    """Do a run, or go on with it where its directory has it; no exception leaves this."""
    from pinn.runs.jobs import Ended, Wanted

    with _ONE_RUN, _heard() as said:
        if not job.is_wanted:
            return Ended(None, f"not begun: there is no {job.wanted} where its worker is")
        config = _config_of(job)
        code, _ = attempted(config, True, [Wanted(job)], job.threads)
    return Ended(None if code == INTERRUPTED else code, _short(said.getvalue(), config))


def attempted(
    config: Config, quiet: bool, callbacks: Sequence[Any] = (), threads: int | None = None
) -> tuple[int, str]:
    """Begin a run, or go on with it; return its exit code, and in a line why it failed.

    One that has ended goes on where a limit is raised, and is left as it is elsewhere.

    What the run raises is told, and none of it leaves this. quiet, callbacks: as of `train_config`.
    threads: how many it takes if its config does not say.
    """
    from pinn.runs import is_run

    try:
        there, end = is_run(config.directory), ended_there(config)
        arguments = argparse.Namespace(
            overwrite=False, resume=there, extend=end is not None and end.raised, quiet=quiet
        )
        with _threads(threads):
            code, why = train_config(config, arguments, callbacks)
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED, ""
    except Exception as error:
        if os.environ.get("PINN_DEBUG", "") not in ("", "0"):
            tell(traceback.format_exc())
        code, why = verdict(error)
        tell(why)
    return code, _in_a_line(why)


def _short(said: str, config: Config) -> str:
    """Return what a run said in a line, without what the reader of a sweep knows."""
    for known in (f"{config.experiment.problem.name}: ", f"; results in {config.directory}"):
        said = said.replace(known, "", 1)
    return _in_a_line(said)


def _in_a_line(text: str) -> str:
    return "; ".join(text.strip().splitlines())


def _config_of(job: Job) -> Config:
    from pinn.config import parse

    config = parse(job.config, "the config of the sweep")
    directory = job.directory
    if os.getcwd() != job.folder:
        directory = os.path.join(job.folder, directory)
    return replace(config, output=replace(config.output, directory=directory))


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[None]:
    import autograd as T

    before = T.get_num_threads()
    if count is not None:
        T.set_num_threads(count)
    try:
        yield
    finally:
        if count is not None:
            T.set_num_threads(before)


@contextlib.contextmanager
def _heard() -> Iterator[io.StringIO]:
    """Give what is printed inside the block, on either stream, in place of printing it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: tell(f"warning: {message}")
            yield said
