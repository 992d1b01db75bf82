"""What came of a run, in words and tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pinn.estimates.record import is_doubted, reasons
from pinn.markup import Html, element, facts, joined, table
from pinn.report.fields import labelled
from pinn.report.subject import Subject
from pinn.solution.report import Report
from pinn.solution.report_text import (
    DOUBTED,
    NOT_TRAINED,
    marked,
    strange_references,
)


def short(value: float | None) -> str:
    """Return a number as in 2.13e-6, or 0.213 where that is as short; "–" for none."""
    if value is None or math.isnan(value):
        return "\N{EN DASH}"
    if value == 0 or 1e-2 <= abs(value) < 1e4:
        return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
    mantissa, exponent = f"{value:.2e}".split("e") if math.isfinite(value) else (str(value), "")
    text = f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return text.replace("-", "\N{MINUS SIGN}")


def duration(seconds: float) -> str:
    """Return a time as in 12.3 s, 4 min 10 s, 3 h 5 min."""
    if not math.isfinite(seconds):
        return "\N{EN DASH}"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    if minutes < 100:
        return f"{minutes} min {int(seconds % 60)} s"
    return f"{minutes // 60} h {minutes % 60} min"


def headline(subject: Subject) -> Html:
    """Return the numbers that a run is known by, large, and how it stands."""
    last = _last(subject)
    tiles = [
        *((f"error of {name}", short(value), "relative L2, against the reference")
          for name, value in last["rel_l2"].items()),
        *((f"estimated error of {name}", short(value), note)
          for name, value, note in _estimates(subject)),
        ("loss", short(last["loss"]), f"{short(last['fresh_loss'])} on fresh points"),
        ("steps", f"{last['steps']:,}".replace(",", "\N{THIN SPACE}"), duration(last["seconds"])),
    ]  # fmt: skip
    made = [
        element(
            "div", element("dt", name), element("dd", value), element("dd", note, class_="note")
        )
        for name, value, note in tiles
    ]
    return element("dl", *made, class_="tiles")


def state(subject: Subject) -> Html:
    """Return how a run stands, as a label beside its title."""
    kind = {
        "running": "going", "waiting": "going", "interrupted": "cut", "cut short": "cut",
        "diverged": "bad", "failed": "bad", "unreadable": "bad",
    }.get(subject.state, "done")  # fmt: skip
    return element("span", subject.state, class_=f"state {kind}")


def results(subject: Subject) -> Html:
    """Return how training ended, what to be wary of, and the errors by unknown."""
    report = subject.solution.report if subject.solution else None
    parts = [headline(subject)] if subject.records or report else []
    if subject.is_running:
        parts.append(element("p", "Training goes on; what is shown is how it stands."))
    elif report is not None:
        parts.append(element("p", element("b", "Why it stopped: "), report.message))
    if subject.trouble:
        parts.append(element("p", subject.trouble, class_="warning"))
    if report is not None:
        parts += _told(report)
    return joined(parts)


def _told(report: Report) -> Iterator[Html]:
    for warning in report.warnings:
        yield element("p", element("b", "Warning: "), warning, class_="warning")
    estimate = report.error_estimate
    said = "The estimated error is not to be trusted: "
    for reason in reasons(estimate.relative_l2, estimate.doubts):
        yield element("p", element("b", said), reason, class_="warning")
    for one in strange_references(report):
        yield element("p", element("b", "Reference: "), one, class_="warning")
    names = list(dict.fromkeys([*report.rel_l2, *estimate.relative_l2]))
    if names:
        yield element("h3", "Errors")
        yield _errors(report, names)
        said = [
            *(["Errors are those of the difference from the reference."] if report.rel_l2 else []),
            *(["Estimates are made without a reference, from the equations alone."]
              if estimate.relative_l2 else []),
        ]  # fmt: skip
        yield element("p", " ".join(said), class_="note")
    for remark in estimate.remarks:
        yield element("p", remark)
    if report.residual:
        yield element("h3", "How far each block is from holding")
        yield table(
            ["equation or condition", "residual", "mean square"],
            [[name, short(value), short(report.losses.get(name))]
             for name, value in report.residual.items()],
            numbers=2,
        )  # fmt: skip
        yield element(
            "p", "The residual is relative to the size of its terms: 0 is exactly, 1 or more not "
            "at all.", class_="note",
        )  # fmt: skip


def _errors(report: Report, names: Sequence[str]) -> Html:
    """Return the errors and their estimates by unknown, whichever of them there are."""
    estimate = report.error_estimate
    columns: dict[str, Mapping[str, str]] = {}
    if report.rel_l2:
        columns |= {"relative L2": _shown(report.rel_l2), "maximum": _shown(report.max_error)}
    if estimate.relative_l2:
        doubted = {n for n, v in estimate.relative_l2.items() if is_doubted(v, estimate.doubts)}
        columns["estimated relative L2"] = _shown(estimate.relative_l2, doubted)
        if estimate.may_be:
            columns["may be"] = estimate.may_be
        columns["estimated maximum"] = _shown(estimate.maximum, doubted)
    rows = [[name, *(values.get(name, short(None)) for values in columns.values())]
            for name in names]  # fmt: skip
    headings = ["unknown", *columns]
    if estimate.where:
        headings.append("which lies at")
        for row, name in zip(rows, names, strict=True):
            place = estimate.where.get(name, {})
            row.append(", ".join(f"{n} = {short(v)}" for n, v in place.items()))
    return table(headings, rows, numbers=len(headings) - 1)


def _shown(values: Mapping[str, float], doubted: Collection[str] = ()) -> dict[str, str]:
    return {name: marked(short(value), name in doubted) for name, value in values.items()}


def coefficients(subject: Subject) -> Html | None:
    """Return the recovered coefficients with their standard errors and the fit of the data."""
    if subject.solution is None:
        return None
    report = subject.solution.report
    values = subject.solution.parameters
    recovery = report.recovery
    if not values and not recovery.data:
        return None
    parts = []
    if values:
        errors, doubt = recovery.standard_errors, report.doubt_of_coefficients
        parts.append(table(
            ["coefficient", "value", "standard error", "of the value"],
            [
                [labelled(subject.solution.problem, name),
                 f"{value:.8g}".replace("-", "\N{MINUS SIGN}"),
                 NOT_TRAINED if name in recovery.untrained
                 else marked(short(errors.get(name)), bool(doubt) and name in errors),
                 _share(errors.get(name), value)]
                for name, value in values.items()
            ],
            numbers=3,
        ))  # fmt: skip
        if doubt:
            parts.append(element("p", f"{DOUBTED}: {doubt}", class_="warning"))
        names = list(recovery.correlations)
        if len(names) > 1:
            parts.append(element("h3", "Correlations"))
            parts.append(table(
                ["", *names],
                [[one, *(short(recovery.correlations[one].get(other)) for other in names)]
                 for one in names],
                numbers=len(names),
            ))  # fmt: skip
    if recovery.data:
        parts.append(element("h3", "Fit of the data"))
        parts.append(table(
            ["data", "measurements", "noise", "scatter", "chi square", "of", "probability"],
            [
                [name, str(fit.rows), short(fit.sigma), short(fit.scatter), short(fit.chi_square),
                 short(fit.freedom), short(fit.probability)]
                for name, fit in recovery.data.items()
            ],
            numbers=6,
        ))  # fmt: skip
        parts.append(element(
            "p", "The scatter is how far the data lie from the solution in units of their noise: 1 "
            "is expected.", class_="note",
        ))  # fmt: skip
    return joined(parts)


def machine(subject: Subject) -> Html | None:
    """Return what a run was computed with."""
    def pairs(values: Any) -> list[tuple[str, str]]:
        values = values if isinstance(values, Mapping) else {}
        return [
            (str(name).replace("_gib", " (GiB)"), "not installed" if one is None else str(one))
            for name, one in values.items() if not isinstance(one, Mapping | list)
        ]  # fmt: skip

    told = subject.machine
    found = [*pairs(told), *pairs(told.get("machine")), *pairs(told.get("versions"))]
    return facts(found) if found else None


def _last(subject: Subject) -> dict[str, Any]:
    """Return the numbers of the last step: of the report, or of the metrics while it runs."""
    report = subject.solution.report if subject.solution else None
    if report is not None and not subject.is_running and report.stop_reason != "running":
        return {
            "rel_l2": report.rel_l2, "loss": report.loss, "fresh_loss": report.fresh_loss,
            "steps": report.steps, "seconds": report.wall_seconds,
        }  # fmt: skip
    line = subject.records[-1] if subject.records else {}
    errors = line.get("rel_l2")
    errors = errors if isinstance(errors, Mapping) else {}
    return {
        "rel_l2": {name: _number(value) for name, value in errors.items()},
        "loss": _number(line.get("loss")), "fresh_loss": _number(line.get("fresh_loss")),
        "steps": line.get("step", 0), "seconds": _number(line.get("wall_s")),
    }  # fmt: skip


def _estimates(subject: Subject) -> Iterator[tuple[str, float, str]]:
    if subject.solution is None or subject.is_running:
        return
    estimate = subject.solution.report.error_estimate
    for name, value in estimate.relative_l2.items():
        doubted = is_doubted(value, estimate.doubts)
        yield name, value, "not to be trusted" if doubted else "without a reference"


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e308 else math.nan


def _share(error: float | None, value: float) -> str:
    if error is None or math.isnan(error) or not value:
        return "\N{EN DASH}"
    return f"{short(abs(100 * error / value))} %"
