"""`report` and `watch`: a run as one page, and the same page while it goes on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pinn.cli.output import say, tell
from pinn.cli.saved import opened
from pinn.cli.verdict import DONE, Misuse

_ABOUT_REPORT = """\
Write one HTML page that shows and tells all of a run: errors, equations, fields to look
around in, curves, stages, decisions, warnings, config, versions. It needs no network and
no other file. Of a run that goes on, or was cut short, it has what was reached.
"""
_ABOUT_WATCH = """\
Show the same page while a run goes on: curves grow as steps are logged, and fields change
with each checkpoint (--set output.checkpoint_seconds=10 makes them more frequent). Only
this machine can see it. Ctrl-C ends the watching, never the run.
"""


def add_parser(commands: Any) -> None:
    """Add both commands to the parser."""
    written = commands.add_parser(
        "report", help="write one page that shows and tells all of a run",
        description=_ABOUT_REPORT, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    written.add_argument("run", metavar="RUN", help="a run directory such as runs/burgers-0")
    written.add_argument("--out", metavar="FILE", help="the page; RUN/report.html where left out")
    written.set_defaults(command=report)
    watched = commands.add_parser(
        "watch", help="show a run in the browser while it goes on",
        description=_ABOUT_WATCH, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    watched.add_argument("run", metavar="RUN", help="a run directory, which may be still to come")
    watched.add_argument(
        "--port", metavar="N", type=_port, default=0, help="of 127.0.0.1; a free one if left out"
    )
    watched.set_defaults(command=watch)


def report(arguments: argparse.Namespace) -> int:
    """Write the page of a run and say where it is; return the exit code."""
    from pinn.report import write_report

    run = opened(arguments.run, "report")
    try:
        say(str(write_report(run, arguments.out)))
    except (ImportError, ValueError) as error:
        raise Misuse(str(error)) from error
    return DONE


def watch(arguments: argparse.Namespace) -> int:
    """Serve the page of a run until Ctrl-C; return the exit code."""
    from pinn.report.subject import has_ended
    from pinn.report.watch import watching
    from pinn.runs.overview import Overview

    directory = Path(arguments.run)
    if directory.exists() and not directory.is_dir():
        raise Misuse(f"{directory}: expected a run directory, but it is a file")
    try:
        server = watching(directory, arguments.port)
    except ImportError as error:
        raise Misuse(str(error)) from error
    except OSError as error:
        raise Misuse(
            f"--port {arguments.port}: {error.strerror}; give another, or leave it out for a free "
            "one"
        ) from error
    with server:
        state = Overview.of(directory).state
        if has_ended(state):
            tell(f"{directory}: the run has ended ({state}); its page is on {server.url} until "
                 "Ctrl-C")
        else:
            if not (directory / "config.yaml").exists():
                tell(f"{directory}: no run is there yet; the page waits for it")
            what = "was cut short, its page is" if state == "cut short" else "is watched"
            tell(f"{directory} {what} on {server.url} (Ctrl-C ends that, not the run)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return DONE


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)
