"""A report as tables: what training ended with, for a terminal and for a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinn.estimates.record import is_doubted, reasons, shown
from pinn.text import aligned, labelled, shortened

if TYPE_CHECKING:
    from pinn.solution.report import Report

# Standard errors from a value within which it is with 95 %.
_95 = 1.959964
_LONGEST_NAME = 22
# A reference that is so many times as far from the solution as the estimated error. From the second
# share of it on, no rounding of a reference explains that.
_STRANGE, _OTHER = 100.0, 1e-3

# What stands beside an estimate that is not to be trusted.
DOUBTED = "?"

# What stands in place of the standard error of a coefficient that no step has moved.
NOT_TRAINED = "not trained"


@dataclass(frozen=True)
class Table:
    """Rows of cells below headings; the first column has names."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        named = [(shortened(row[0], _LONGEST_NAME), *row[1:]) for row in self.rows]
        return aligned([self.headings, *named])


def tables(report: Report) -> list[Table]:
    """Return the errors by unknown, and the coefficients; none of what is not known."""
    return [table for table in (_errors(report), _coefficients(report)) if table.rows]


def strange_references(report: Report) -> list[str]:
    """Return a sentence for each reference that is far from a solution which seems to be right.

    That is where the error is more than a hundred times the estimated one, which nothing speaks
    against.
    """
    estimate = report.error_estimate
    found = []
    for name, error in report.rel_l2.items():
        guess = estimate.relative_l2.get(name)
        if guess is None or is_doubted(guess, estimate.doubts) or not error > _STRANGE * guess:
            continue
        why = (
            "one of the two is not of this problem, or it has several solutions and these are two "
            "of them; compare the reference with the equations, conditions and constants, or start "
            "nearer to it"
        ) if error >= _OTHER else (
            "the reference has fewer digits than the solution, or is not of this problem"
        )  # fmt: skip
        found.append(
            f"the reference of {name} differs from the solution by {error:.1e}, and the estimated "
            f"error is {guess:.1e}: {why}"
        )
    return found


def facts(report: Report) -> list[tuple[str, str]]:
    """Return what else is said of a run, as labels with a text each."""
    steps = "1 step" if report.steps == 1 else f"{report.steps} steps"
    stages = f" in {len(report.stages)} stages" if len(report.stages) > 1 else ""
    fresh = "" if math.isnan(report.fresh_loss) else f" ({report.fresh_loss:.3e} on fresh points)"
    found = [
        ("loss", f"{report.loss:.3e}{fresh}"),
        ("time", f"{report.wall_seconds:.1f} s, {steps}{stages}"),
        ("stopped", f"{report.stop_reason}: {report.message}"),
    ]
    if report.setbacks:
        count = len(report.setbacks)
        times = "once" if count == 1 else f"{count} times"
        found.append(("went back", f"{times}, after numbers that were not finite"))
    found += [("warning", one) for one in report.warnings]
    found += [("reference", one) for one in strange_references(report)]
    found += [
        ("data", f"{name}: {fit.text}")
        for name, fit in report.recovery.data.items()
    ]
    estimate = report.error_estimate
    mark = DOUBTED if estimate.relative_l2 else "no estimate"
    said = "the estimated error is not to be trusted: " if estimate.relative_l2 else ""
    for reason in reasons(estimate.relative_l2, estimate.doubts):
        found.append((mark, f"{said}{reason}"))
        said = ""
    if report.doubt_of_coefficients:
        found.append((DOUBTED, report.doubt_of_coefficients))
    return found + [("note", remark) for remark in estimate.remarks]


def report_text(report: Report, files: str = "") -> str:
    """Return a report as text of 80 columns; files: where its files are, if there are any."""
    parts = [f"{table}\n" for table in tables(report)]
    said = facts(report)
    if files:
        said.insert(3, ("files", files))
    return "\n".join([*parts, *(labelled(*fact) for fact in said)])


def _errors(report: Report) -> Table:
    estimate = report.error_estimate
    names = dict.fromkeys((*report.rel_l2, *estimate.relative_l2))
    headings, columns = ["unknown"], []
    if report.rel_l2:
        headings += ["relative L2", "max error"]
        columns += [(report.rel_l2, ".2e", ()), (report.max_error, ".2e", ())]
    if estimate.relative_l2:
        doubted = {n for n, v in estimate.relative_l2.items() if is_doubted(v, estimate.doubts)}
        headings += ["est. relative L2", "est. max error"]
        columns += [(estimate.relative_l2, ".1e", doubted), (estimate.maximum, ".1e", doubted)]
    rows = [
        [name, *(
            marked(shown(values[name], form), name in doubted) if name in values else ""
            for values, form, doubted in columns
        )]
        for name in names
    ]  # fmt: skip
    may_be = estimate.may_be
    if may_be:
        headings.insert(-1, "may be")
        for name, row in zip(names, rows, strict=True):
            row.insert(-1, may_be.get(name, ""))
    return Table(headings, [tuple(row) for row in rows])


def marked(text: str, doubted: bool) -> str:
    """Return a number in a table with the mark of what is not to be trusted, where it is not."""
    return f"{text} {DOUBTED}" if doubted and text else text


def _coefficients(report: Report) -> Table:
    errors = report.recovery.standard_errors
    values = report.parameters.items()
    untrained = report.recovery.untrained
    if not errors and not untrained:
        return Table(["coefficient", "value"], [(name, f"{value:.6g}") for name, value in values])
    rows = [
        (name, f"{value:.6g}", NOT_TRAINED, "") if name in untrained
        else (name, *_with_band(value, errors.get(name), bool(report.doubt_of_coefficients)))
        for name, value in values
    ]  # fmt: skip
    return Table(["coefficient", "value", "standard error", "95 % interval"], rows)


def _with_band(value: float, error: float | None, doubted: bool) -> tuple[str, str, str]:
    beside = marked("" if error is None else f"{error:.2g}", doubted)
    if error is None or not math.isfinite(error) or error <= 0:
        return f"{value:.6g}", beside, ""
    low, high = value - _95 * error, value + _95 * error
    # As many digits as tell the ends apart.
    digits = math.ceil(math.log10(max(abs(low), abs(high)) / error)) + 2
    form = f".{min(max(digits, 3), 12)}g"
    return f"{value:{form}}", beside, marked(f"{low:{form}} to {high:{form}}", doubted)
