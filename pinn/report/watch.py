"""The page of a run that goes on, served to this machine alone.

Three things can be asked for, by GET: the page, what changes with every line of the metrics, and
what changes with every checkpoint. Nothing in a request names a file. Requests that were sent to
another name than this machine's are refused: a page elsewhere could make its own name mean
127.0.0.1 (DNS rebinding), and would else be allowed to read.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pinn.files import sentence_of, to_json
from pinn.report.page import check_plotly, curves_of, fields_of, page, texts_of
from pinn.report.subject import Subject, read_solution, saved_solution
from pinn.runs import Run
from pinn.runs.claim import FIGURES
from pinn.solution.solution import Solution

HOST = "127.0.0.1"

# Numbers of the fields that are computed anew with each checkpoint, beside the training.
_NUMBERS = 120_000
# After so many seconds a run without a new line is looked at all the same: it may have been killed.
_PATIENCE = 10.0


def watching(directory: str | Path, port: int = 0) -> WatchServer:
    """Return a server of the page of a run, which may be still to come.

    port: of 127.0.0.1, a free one where 0. Raises ImportError without plotly (pip install
    'pinn[report]'), OSError for a port that is taken.
    """
    check_plotly()
    return WatchServer(Follower(directory), port)


class Follower:
    """What a page about a run that goes on is made of; computed when its files have changed.

    Safe to ask from several threads.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Any, Any]] = {}

    def page(self) -> str:
        """Return the page without its figures, which it asks for."""
        with self._lock:
            return page(texts_of(self._subject()), None)

    def progress(self) -> bytes:
        """Return texts and curves as JSON."""
        def made() -> bytes:
            subject = self._subject()
            return to_json({"texts": texts_of(subject), "curves": curves_of(subject)}).encode()

        with self._lock:
            return self._since("progress", (*self._stamps(), self._beat()), made)

    def fields(self) -> bytes:
        """Return the unknowns on grids as JSON."""
        def made() -> bytes:
            return to_json(fields_of(self._subject(), _NUMBERS)).encode()

        with self._lock:
            return self._since("fields", self._saved_stamp(), made)

    def _subject(self) -> Subject:
        name = self.directory.resolve().name
        try:
            run = Run.open(self.directory)
            solution, trouble = self._solution(run)
            return Subject.of_run(run, solution, trouble)
        except FileNotFoundError:
            return Subject(
                name, "waiting", directory=str(self.directory),
                trouble="No run is there yet; this page waits for it.",
            )  # fmt: skip
        except (OSError, ValueError) as error:
            said = sentence_of(error) if isinstance(error, OSError) else str(error)
            return Subject(name, "unreadable", directory=str(self.directory), trouble=said)

    def _solution(self, run: Run) -> tuple[Solution | None, str]:
        return self._since("solution", self._saved_stamp(), lambda: read_solution(run))

    def _since(self, name: str, stamp: Any, made: Callable[[], Any]) -> Any:
        """Return what was made before, or anew where the stamp is another one."""
        if name not in self._kept or self._kept[name][0] != stamp:
            self._kept[name] = (stamp, made())
        return self._kept[name][1]

    def _stamps(self) -> list[Any]:
        run = Run(self.directory)
        paths = [run.config_path, run.metrics_path, run.summary_path, self.directory / FIGURES]
        return [*map(_stamp, paths), self._saved_stamp()]

    def _saved_stamp(self) -> Any:
        path = saved_solution(Run(self.directory))
        return path and (path, _stamp(path))

    def _beat(self) -> int:
        ended = Run(self.directory).summary_path.exists()
        return 0 if ended else int(time.monotonic() / _PATIENCE)


class WatchServer(ThreadingHTTPServer):
    """Serves the page of a run on 127.0.0.1 until it is shut down."""

    daemon_threads = True

    def __init__(self, follower: Follower, port: int = 0) -> None:
        self.follower = follower
        super().__init__((HOST, port), _Handler)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that a request may have been sent to."""
        names = (HOST, "localhost")
        default = names if self.server_port == 80 else ()
        return (*default, *(f"{name}:{self.server_port}" for name in names))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a browser go that has gone away; nothing of it concerns the run."""


class _Handler(BaseHTTPRequestHandler):
    server: WatchServer
    server_version, sys_version = "pinn", ""

    def do_GET(self) -> None:
        if self.headers.get("Host") not in self.server.hosts:
            self._answer(
                HTTPStatus.FORBIDDEN, "text/plain",
                f"This page is only there as {self.server.url}\n".encode(),
            )  # fmt: skip
            return
        follower = self.server.follower
        answers: dict[str, tuple[str, Callable[[], bytes]]] = {
            "/": ("text/html", lambda: follower.page().encode()),
            "/progress.json": ("application/json", follower.progress),
            "/fields.json": ("application/json", follower.fields),
        }
        if self.path not in answers:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"There is nothing of this name.\n")
            return
        kind, made = answers[self.path]
        body = made()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        if self.headers.get("If-None-Match") == tag:
            self._answer(HTTPStatus.NOT_MODIFIED, kind, b"", tag)
        else:
            self._answer(HTTPStatus.OK, kind, body, tag)

    def _answer(self, status: HTTPStatus, kind: str, body: bytes, tag: str = "") -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            **({"ETag": tag} if tag else {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing of requests: the terminal is for what the user asked."""


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes with a file, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
