"""The entries, by number. A new problem is a config in `problems` and an entry here."""

from __future__ import annotations

from math import pi

from experiments.case import Computed
from experiments.suite.entry import BUDGET, Entry


def _computed(module: str, name: str, package: str = "suite") -> Computed:
    return Computed(f"experiments.{package}.references.{module}", name)


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
          note="published: worse than that"),
    Entry("burgers", 5, "Burgers", {20.0: 1e-5, 60.0: 1e-6, BUDGET: 5e-8, 1800.0: 5e-9}, 8.25e-9),
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
    Entry("schroedinger", 13, "Schroedinger", {BUDGET: 1e-5}, 1.97e-3,
          reference=_computed("periodic", "schroedinger")),
    Entry("kuramoto_sivashinsky", 14, "Kuramoto-Sivashinsky", {BUDGET: 1e-4}, 5.1e-7,
          "up to t = 1, 87 minutes on a data-centre GPU",
          reference=_computed("periodic", "kuramoto_sivashinsky")),
    Entry("kovasznay", 15, "Kovasznay", {BUDGET: 1e-8}, 1e-6),
    Entry("beltrami", 16, "Beltrami", {BUDGET: 1e-5}),
    Entry("cavity_parabola", 17, "Cavity, lid 4x(1 - x)", {BUDGET: 1e-3}, 1.13e-4,
          reference=_computed("cavity", "parabolic_cavity")),
    Entry("cavity_smooth", 17, "Cavity, lid 16x^2(1 - x)^2", {BUDGET: 1e-3},
          reference=_computed("cavity", "smooth_cavity")),
    Entry("beam", 18, "Beam, clamped and free", {BUDGET: 1e-10}),
    Entry("plate_clamped", 18, "Plate, clamped", {BUDGET: 1e-8}),
    Entry("plate_supported", 18, "Plate, supported", {BUDGET: 1e-8}),
    Entry("l_shape", 19, "L shape", {BUDGET: 1e-5}, reference=_computed("lightning", "l_shape")),
    Entry("four_disks", 20, "Four disks", {BUDGET: 1e-4}, 8.15e-3,
          reference=_computed("multipoles", "four_disks")),
    Entry("poisson_5d", 21, "Poisson 5-D", {BUDGET: 1e-7}, 3.5e-8, "on a GPU"),
    Entry("harmonic_10d", 21, "Harmonic 10-D", {BUDGET: 1e-6}, 6e-12, "on a GPU"),
    Entry("poisson_100d", 22, "Poisson 100-D", {BUDGET: 1e-3}, 1.3e-4,
          reference=_computed("formulas", "squares")),
    Entry("lotka_volterra", 23, "Lotka-Volterra", {BUDGET: 1e-9},
          reference=_computed("orbits", "lotka_volterra")),
    Entry("van_der_pol", 23, "Van der Pol, mu = 5", {BUDGET: 1e-6},
          reference=_computed("orbits", "van_der_pol")),
    Entry("robertson", 23, "Robertson", {BUDGET: 1e-4}, reference=_computed("orbits", "robertson"),
          note="over log t; its mass stands for one of the equations"),
    Entry("lorenz_coefficients", 24, "Lorenz, 3 coefficients", {BUDGET: 1e-7}, 1e-3,
          reference=_computed("inverse", "nothing", "peers"),
          truth={"sigma": 10, "rho": 15, "beta": 8 / 3}),
    Entry("burgers_coefficients", 24, "Burgers, 2 coefficients", {BUDGET: 1e-7}, 4e-3,
          "0.06 % and 0.4 %", truth={"lambda1": 1, "lambda2": 0.01 / pi}),
    Entry("kovasznay_viscosity", 24, "Kovasznay, viscosity", {BUDGET: 1e-7},
          reference=_computed("formulas", "kovasznay"), up_to_constant=("p",), truth={"nu": 0.05}),
    Entry("conductivity_field", 24, "Conductivity field, noisy data", {BUDGET: 1e-2}, 2.45e-2,
          reference=_computed("inverse", "conductivity", "peers")),
]
