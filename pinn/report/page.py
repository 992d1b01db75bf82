"""The page of a report: one HTML file with its style, its scripts and all numbers in it."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from pinn.files import to_json, write_text
from pinn.markup import Html, element, joined
from pinn.problem.statement import statement
from pinn.report.curves import curves_data
from pinn.report.fields import MOST_NUMBERS, fields_data
from pinn.report.results import coefficients, machine, results, state
from pinn.report.subject import Subject, read_solution
from pinn.report.training import training
from pinn.runs import Run
from pinn.runs.claim import REPORT
from pinn.solution.solution import Solution

# By the id that the address of a section ends with.
_SECTIONS = {
    "results": "Results",
    "fields": "Solution",
    "coefficients": "Coefficients",
    "problem": "Problem",
    "training": "Training",
    "figures": "Figures",
    "config": "Configuration",
    "machine": "Machine and versions",
}
_PLOTS = {"fields": "field-plots", "training": "curve-plots"}
_SAMPLES = 17


class MissingPlotly(ImportError):
    """Plotly, which draws the figures of the page, is not installed."""


def write_report(
    subject: Solution | Run | str | os.PathLike[str], path: str | os.PathLike[str] | None = None
) -> Path:
    """Write a page that shows and tells all of a run, and needs nothing else; return its path.

    subject: a solution, or the directory of a run, which has its config, figures and machine too.
    path: an HTML file, replaced where it is there; report.html, of a run in its directory, where
    left out. Of a run that goes on the page has what it has reached. Raises ImportError without
    plotly (pip install 'pinn[report]'), ValueError for a name that does not end in .html,
    FileNotFoundError for a directory without a run, DamagedFile for one whose files cannot be read,
    OSError from the disk.
    """
    if path is not None and Path(path).suffix not in (".html", ".htm"):
        raise ValueError(f"expected a file name that ends in .html, got {os.fspath(path)!r}")
    if isinstance(subject, Solution):
        path = Path(REPORT if path is None else path)
        told = Subject.of_solution(subject)
    else:
        run = subject if isinstance(subject, Run) else Run.open(Path(subject))
        path = run.directory / REPORT if path is None else Path(path)
        told = Subject.of_run(run, *read_solution(run))
    data = {"fields": fields_of(told), "curves": curves_of(told)}
    write_text(path, page(texts_of(told), data))
    return path


def texts_of(subject: Subject) -> dict[str, Html]:
    """Return all that is text on the page, by the id of the place where it stands."""
    solution = subject.solution
    bounds = solution.problem.domain.bounds if solution else {}
    about = [
        f"{', '.join(solution.problem.unknowns)} on " + ", ".join(
            f"{name} in [{low:.6g}, {high:.6g}]" for name, (low, high) in bounds.items())
    ] if solution else []  # fmt: skip
    found = {
        "title": joined([subject.name]),
        "state": state(subject),
        "standing": joined([subject.standing]),
        "about": joined([*(element("p", line) for line in about),
                         element("p", subject.directory) if subject.directory else None]),
        "results-text": results(subject),
        "coefficients-text": coefficients(subject),
        "problem-text": statement(solution.problem) if solution else None,
        "training-text": training(subject),
        "figures-text": _pictures(subject.pictures),
        "config-text": _config(subject.config),
        "machine-text": machine(subject),
    }  # fmt: skip
    return {name: text or Html("") for name, text in found.items()}


def curves_of(subject: Subject) -> dict[str, Any]:
    """Return the curves of training."""
    report = subject.solution.report if subject.solution else None
    errors = report.recovery.standard_errors if report and not report.unsolved else {}
    return curves_data(subject.records, errors)


def fields_of(subject: Subject, numbers: int = MOST_NUMBERS) -> dict[str, Any]:
    """Return the unknowns on grids of so many numbers, and the colours that they are drawn in."""
    groups = fields_data(subject.solution, numbers) if subject.solution else []
    return {"groups": groups, "colours": _colours()}


def page(texts: Mapping[str, Html], data: Mapping[str, Any] | None) -> str:
    """Return the whole page with its texts, and the numbers of its figures.

    data: "fields" and "curves"; None of a page that asks the server it came from for them, again
    and again. Any other may ask nobody.
    """
    follow = data is None
    scripts = [_plotly(), _own("page.js")]
    body = [
        element("a", "To the results", href="#results", class_="skip"),
        element("div", texts["standing"], id="following", role="status") if follow else None,
        element(
            "header",
            element("h1", element("span", texts["title"], id="title"), " ",
                    element("span", texts["state"], id="state")),
            element("div", texts["about"], id="about"),
        ),
        element("div", _contents(), element("main", *_sections(texts)), class_="layout"),
        element("footer", element("p", "Drag on a figure to zoom into it, double-click to zoom "
                                       "out. This page loads nothing from anywhere.")),
        element("script", _script_data(data), type="application/json", id="data"),
        *(element("script", script) for script in scripts),
    ]  # fmt: skip
    may = policy(scripts, follow)
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=may),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content="pinn"),
        Html('<link rel="icon" href="data:,">'),
        element("title", texts["title"]),
        element("style", _own("page.css")),
    ]
    whole = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def policy(scripts: Sequence[Html], follow: bool) -> str:
    """Return what the page may do: run the scripts that are in it, and load nothing.

    follow: whether it may ask the server that it came from.
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return "; ".join([
        "default-src 'none'", f"script-src {hashes}", "style-src 'unsafe-inline'",
        "img-src data: blob:", *(["connect-src 'self'"] if follow else []), "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip


def _contents() -> Html:
    items = (
        element("li", element("a", title, href=f"#{name}")) for name, title in _SECTIONS.items()
    )
    return element("nav", element("ol", *items), aria_label="Contents")


def _sections(texts: Mapping[str, Html]) -> list[Html]:
    found = []
    for name, title in _SECTIONS.items():
        inside = [element("h2", title)]
        if name in _PLOTS:
            told = "The figures are drawn by a script, and scripts are off."
            inside.append(element(
                "div", element("noscript", element("p", told)), id=_PLOTS[name]
            ))  # fmt: skip
        if f"{name}-text" in texts:
            inside.append(element("div", texts[f"{name}-text"], id=f"{name}-text"))
        found.append(element("section", *inside, id=name))
    return found


def _pictures(pictures: Mapping[str, bytes | None]) -> Html | None:
    if not pictures:
        return None
    made, left = [], [name for name, data in pictures.items() if data is None]
    for name, data in pictures.items():
        if data is None:
            continue
        source = f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
        title = name.replace("_", " ", 1)
        made.append(element(
            "figure", element("figcaption", title), element("img", src=source, alt=title)
        ))  # fmt: skip
    more = f"This page has no room for {', '.join(left)}: see the folder figures." if left else ""
    return joined([
        element("div", *made, class_="pictures"),
        element("p", more, class_="note") if more else None,
    ])


def _config(text: str) -> Html | None:
    if not text:
        return None
    return element(
        "details", element("summary", "config.yaml, with every default filled in"),
        element("pre", text, tabindex="0"), open=True,
    )  # fmt: skip


def _script_data(data: Any) -> Html:
    """Return JSON that ends no script element, whatever its texts are."""
    text = to_json(data)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(text)


def _colours() -> dict[str, list[list[Any]]]:
    """Return the colour maps of the figures, as Plotly takes them."""
    import matplotlib
    from matplotlib.colors import to_hex

    shares = np.linspace(0, 1, _SAMPLES)
    return {
        kind: [[float(at), to_hex(matplotlib.colormaps[name](at))] for at in shares]
        for kind, name in (("sequential", "viridis"), ("diverging", "RdBu_r"))
    }


def check_plotly() -> None:
    """Raise MissingPlotly where there is no plotly to draw with."""
    _plotly()


@cache
def _own(name: str) -> Html:
    return Html(resources.files("pinn.report").joinpath(name).read_text(encoding="utf-8"))


@cache
def _plotly() -> Html:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingPlotly(
            "a report draws its figures with plotly, which is not installed; "
            "pip install 'pinn[report]'"
        ) from error
    script = get_plotlyjs()
    if "</script" in script.lower() or "\r" in script:
        raise MissingPlotly(
            "the script of this version of plotly cannot stand in a page; install another one: "
            "pip install 'pinn[report]'"
        )
    return Html(script)
