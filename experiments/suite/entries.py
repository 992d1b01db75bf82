"""The entries, by number. A new problem is a config in `problems` and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from experiments.case import Reference
from experiments.suite.entry import BUDGET, Entry


def _computed(module: str, name: str) -> Callable[[], Reference]:
    """Return a reference that is computed, and whose libraries are imported, when it is needed."""

    def compute() -> Reference:
        return getattr(import_module(f"experiments.suite.references.{module}"), name)()

    return compute


_EXPERTS = "Wang et al., arXiv 2308.08468"
_NNCG = "Rathore et al., ICML 2024"
_PERIODIC = (
    "the network is periodic in time, with the period in which everything comes back by the "
    "equation"
)

ENTRIES = [
    Entry("poisson_2d", 1, "Poisson 2-D", {BUDGET: 1e-9}, 1.2e-7),
    Entry("helmholtz", 2, "Helmholtz (1, 4)", {BUDGET: 1e-8}, 2.0e-9),
    Entry("nonlinear_poisson", 3, "Nonlinear Poisson", {BUDGET: 1e-7}),
    Entry("multiscale", 4, "Multiscale 1-D", {BUDGET: 1e-8}, 1e-4,
          note="published: worse than that; the network is given waves of the source's frequency"),
    Entry("burgers", 5, "Burgers", {BUDGET: 5e-8, 1800.0: 5e-9}, 8.25e-9),
    Entry("burgers_smooth", 6, "Burgers, smooth", {BUDGET: 1e-8}, 8e-14,
          "DSGNAR, arXiv 2607.02194, on a data-centre GPU"),
    Entry("allen_cahn", 7, "Allen-Cahn", {BUDGET: 1e-5}, 9.43e-7,
          reference=_computed("waves", "allen_cahn")),
    Entry("advection_40", 8, "Advection, c = 40", {BUDGET: 1e-8}, 1.9e-3, _NNCG, note=_PERIODIC),
    Entry("advection_80", 8, "Advection, c = 80", {BUDGET: 1e-8}, 6.9e-4, _EXPERTS,
          note=_PERIODIC),
    Entry("reaction", 9, "Reaction", {BUDGET: 1e-8}, 9.9e-3, _NNCG),
    Entry("wave", 10, "Wave", {BUDGET: 1e-6, 900.0: 1e-7}, 8.1e-3, note=_PERIODIC),
    Entry("kdv", 11, "KdV", {BUDGET: 1e-4}, 3.4e-4, reference=_computed("waves", "kdv")),
    Entry("kdv_solitons", 12, "KdV, two solitons", {BUDGET: 1e-5}, 2.17e-6,
          note="the ends have the values of the exact solution, the right one its slope too"),
]
