"""A solution and its report as a notebook shows them; every text of the user's is escaped."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from pinn.figures.style import figure_png
from pinn.markup import Html, element, joined, shown_as, table
from pinn.solution.report_text import facts, tables

if TYPE_CHECKING:
    from pinn.solution.report import Report
    from pinn.solution.solution import Solution

# Figures of so many unknowns, each of so many dots an inch: a notebook is saved with them.
_MOST, _DPI = 3, 60


def report_html(report: Report) -> Html:
    """Return the tables of a report, and what else it says."""
    parts = [table(one.headings, one.rows, len(one.headings) - 1) for one in tables(report)]
    return element("div", *parts, table(["", ""], facts(report)))


def solution_html(solution: Solution) -> Html:
    """Return the name of a problem, pictures of its unknowns and the report of its solution."""
    problem = solution.problem
    names = problem.solved[:_MOST]
    left = problem.solved[_MOST:]
    more = element("p", f"not drawn: {', '.join(left)}") if left else None
    title = element("b", f"Solution of {problem.name}")
    pictures = (
        shown_as(lambda name=name: _picture(solution, name), f"{name} cannot be drawn")
        for name in names
    )
    return element("div", title, joined([element("div", *pictures), more]),
                   report_html(solution.report))  # fmt: skip


def _picture(solution: Solution, name: str) -> Html:
    data = base64.b64encode(figure_png(solution.plot(name), _DPI)).decode("ascii")
    source = f"data:image/png;base64,{data}"
    return element("img", src=source, alt=name, style="max-width: 100%")
