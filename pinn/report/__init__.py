"""The report of a run: one page that shows and tells all of it, and follows a run that is going on.

The page is one HTML file that needs no network: text made here, escaped piece by piece (markup),
and figures that a script draws from numbers in it (fields, curves; page.js, by Plotly).
"""

from pinn.report.page import write_report

__all__ = ["write_report"]
