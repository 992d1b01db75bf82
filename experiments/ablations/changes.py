"""The table of what is changed, by entry of the suite. A new ablation is a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.ablations.ablation import AS_IT_IS, Ablation, Change
from experiments.suite.entries import ENTRIES

_SETTLED = "adam: {steps: 500, learning_rate: 5e-3, schedule: {exponential: {final_rate: 1e-3}}}"
_FALLING = "learning_rate: 3e-3, schedule: {plateau: {patience: 300}}"
_NEVER = "sampling.redraw=null"
_MLP = "mlp: {width: 20, depth: 3}"
_BURGERS = "features: ['log(1 + (1 - x_cos)/(2*layer**2))/4.6 - 1', x_sin**2, t]"


def _change(key: str, what: str, *settings: str) -> Change:
    return Change(key, what, settings)


def _marquardt(options: str, soon: str = "") -> str:
    """Return steps of Levenberg-Marquardt; soon: the options of some before them."""
    first = f"levenberg_marquardt: {{steps: 40, {soon}}}, " if soon else ""
    return f"training=[{first}levenberg_marquardt: {{steps: 100000, {options}}}]"


def _layers(options: str) -> str:
    return f"model={{mlp: {{{options}}}}}"


# What is used in place of the steps of Levenberg-Marquardt, and what the losses are weighed by.
_SSBROYDEN = _change(
    "ssbroyden", "Adam, then SSBroyden", f"training=[{_SETTLED}, ssbroyden: {{steps: 10000000}}]"
)
_SOAP = _change("soap", "SOAP", f"training=[soap: {{steps: 10000000, {_FALLING}}}]")
_MUON = _change("muon", "Muon", f"training=[muon: {{steps: 10000000, {_FALLING}}}]")
_ENGD = _change("engd", "energy natural gradients (ENGD)", "training=[engd: {steps: 100000}]")
_DSGNAR = _change(
    "dsgnar", "sketched Gauss-Newton (DSGNAR)", "training=[dsgnar: {steps: 100000}]"
)
_NNCG = _change(
    "nncg", "Adam, L-BFGS, then NysNewton-CG",
    f"training=[{_SETTLED}, lbfgs: {{steps: 2000}}, nncg: {{steps: 100000}}]",
)  # fmt: skip
_CAUSAL = _change("causal", "causal weights", "weighting=causal")
_ATTENTION = _change("attention", "residual-based attention", "weighting=attention")
_SELF_ADAPTIVE = _change("self_adaptive", "self-adaptive weights", "weighting=self_adaptive")
_GRAD_NORM = _change("grad_norm", "weights by the norms of gradients", "weighting=grad_norm")
_NTK = _change("ntk", "weights by the neural tangent kernel", "weighting=ntk")

_OTHERWISE = ("problem", "model.auto.features")
_SOFT = "burgers_soft"

CHANGES: Mapping[str, Sequence[Change]] = {
    "burgers": [
        _change("order_2", "two terms of the path of a step (geodesic acceleration)",
                _marquardt("order: 2", soon="redraw: 10, order: 2")),
        _change("order_1", "straight steps of Levenberg-Marquardt",
                _marquardt("order: 1", soon="redraw: 10, order: 1")),
        _SSBROYDEN, _SOAP, _MUON, _ENGD, _DSGNAR, _NNCG,
        _change("redraw_25", "new points every 25 steps from the start",
                _marquardt("redraw: 25")),
        _change("redraw_10", "new points every 10 steps to the end", _marquardt("redraw: 10")),
        _change("redraw_100", "new points every 100 steps", _marquardt("redraw: 100")),
        _change("redraw_never", "the first points to the end", _marquardt("redraw: null"), _NEVER),
        _change("redraw_auto", "new points when the present ones are fitted",
                _marquardt("redraw: null"), "sampling.redraw=auto"),
        _change("keep_half", "half of the points kept at each redraw", "sampling.keep=0.5"),
        _change("unstretched", "cos(pi x) in place of the stretched coordinate",
                "model.auto.features=[x_cos, x_sin**2, t]"),
        Change("dirichlet", "u itself as the unknown, its start and its ends hard", (),
               "burgers_dirichlet", _OTHERWISE),
        Change("periodic", "u itself as the unknown, its start and its period hard", (),
               "burgers_periodic", _OTHERWISE),
        Change("plain", "u itself as the unknown of x and t, unstretched, points by RAD alone",
               ("model.auto.features=null", "sampling.density=null"),
               "burgers_dirichlet", _OTHERWISE),
        _change("rad", "points by RAD alone, without the density", "sampling.density=null"),
        _change("density", "points by the density alone, without RAD", "sampling.adaptive=null"),
        _change("even", "even points, without density and RAD",
                "sampling.density=null", "sampling.adaptive=null"),
        _change("points_1500", "1500 points", "sampling.interior=1500"),
        _change("points_6000", "6000 points", "sampling.interior=6000"),
        _change("depth_2", "two layers of 20", _layers(f"depth: 2, {_BURGERS}")),
        _change("depth_4", "four layers of 20", _layers(f"depth: 4, {_BURGERS}")),
        _change("width_30", "three layers of 30", _layers(f"width: 30, {_BURGERS}")),
        _change("fourier", "random Fourier features",
                "model.auto.embedding=[fourier: {count: 10, scale: 1}]"),
        _change("factorized", "random weight factorisation", "model.auto.factorization={}"),
        _CAUSAL, _ATTENTION, _SELF_ADAPTIVE,
        Change("soft", "u itself as the unknown, conditions in the loss", (),
               _SOFT, _OTHERWISE),
        Change("soft_grad_norm", "conditions in the loss, weighed by the norms of gradients",
               _GRAD_NORM.settings, _SOFT, _OTHERWISE),
        Change("soft_ntk", "conditions in the loss, weighed by the neural tangent kernel",
               _NTK.settings, _SOFT, _OTHERWISE),
    ],
    "allen_cahn": [
        Change("no_kink", "the kink of the start left to the network", (), "allen_cahn_kink",
               ("problem.piecewise",)),
        Change("no_growth", "u itself as the unknown, its start hard, its period in the loss", (),
               "allen_cahn_plain", _OTHERWISE),
        _change("no_front", "cos(pi x) and t alone as what the network sees",
                "model.auto.features=[x_cos, x_sin**2, t]"),
        _change("redraw_25", "new points every 25 steps from the start", _marquardt("redraw: 25")),
        _CAUSAL, _ATTENTION, _SELF_ADAPTIVE, _SOAP,
    ],
    "kdv": [
        _change("windows_1", "one window", "model.windows.count=1"),
        _change("windows_3", "three windows", "model.windows.count=3"),
        _change("windows_12", "twelve windows", "model.windows.count=12"),
        _change("causal", "one window and causal weights",
                "model.windows.count=1", "weighting=causal"),
    ],
    "kdv_solitons": [
        _change("redraw_25", "new points every 25 steps from the start", _marquardt("redraw: 25")),
        _change("redraw_10", "new points every 10 steps to the end", _marquardt("redraw: 10")),
        _change("redraw_never", "the first points to the end", _marquardt("redraw: null"), _NEVER),
        _change("points_4000", "4000 points", "sampling.interior=4000"),
        _change("adam", "Adam before",
                "training=[adam: {steps: 100, learning_rate: 5e-3}, "
                "levenberg_marquardt: {steps: 100000}]"),
        _GRAD_NORM, _NTK,
    ],
    "kuramoto_sivashinsky": [
        _change("windows_1", "one window", "model.windows.count=1"),
        _change("windows_2", "two windows", "model.windows.count=2"),
        _change("windows_8", "eight windows", "model.windows.count=8"),
        _change("points_4000", "4000 points", "sampling.interior=4000"),
    ],
    "van_der_pol": [
        _change("windows_1", "one window", "model.windows.count=1"),
        _change("windows_3", "three windows", "model.windows.count=3"),
        _change("continuation", "one window, by way of smaller mu", "model={mlp: {}}",
                "continuation={mu: [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]}"),
        _change("small", "networks of two layers of 10",
                "model.windows.model={mlp: {width: 10, depth: 2}}"),
    ],
    "burgers_smooth": [_DSGNAR],
    "reaction": [_NNCG, _MUON],
    "poisson_2d": [_change("trained", "layers that are trained", f"model={{{_MLP}}}")],
    "helmholtz": [
        _change("trained", "layers that are trained", f"model={{{_MLP}}}"),
        _change("fourier", "layers that are trained, on random Fourier features",
                "model={mlp: {width: 20, depth: 3, embedding: [fourier: {count: 10, scale: 2}]}}"),
    ],
    "multiscale": [
        _change("trained", "layers that are trained", f"model={{{_MLP}}}"),
        _change("fourier", "layers that are trained, on random Fourier features of two scales",
                "model={mlp: {width: 20, depth: 3, "
                "embedding: [fourier: {count: 10, scale: [1, 25]}]}}"),
    ],
    "kovasznay": [_change("trained", "layers that are trained", f"model={{{_MLP}}}")],
    "wave": [
        _change("trained", "layers that are trained",
                "model={mlp: {width: 20, depth: 3, features: [x, t_cos, t_sin**2]}}"),
    ],
    "advection_40": [
        _change("no_period", "a network that is not periodic in time", "model.auto.embedding=null"),
        _change("trained", "layers that are trained",
                "model={mlp: {width: 20, depth: 3, "
                "embedding: [periodic: {coordinate: t, period: 2*pi/40}]}}"),
        _change("plain", "layers that are trained, not periodic in time",
                f"model={{{_MLP}}}"),
    ],
    "l_shape": [
        _change("no_corners", "no corner functions", "model.auto.enrichment=null"),
        _change("one_corner", "the two corner functions of 270 degrees alone",
                "model.auto.enrichment="
                '["hypot(x, y)**(2/3)*cos(2/3*atan2(x + y, y - x))", '
                '"hypot(x, y)**(10/3)*cos(10/3*atan2(x + y, y - x))"]'),
        _change("even_weights", "the boundary weighing as much as the inside",
                "weighting.dirichlet_u=1"),
    ],
    "cavity_parabola": [
        _change("no_corners", "no corner functions", "model.auto.enrichment=null"),
        _change("no_distance", "equations that are not multiplied by the distances from corners",
                "problem.equations.momentum_x=u*u_x + v*u_y + p_x - nu*laplacian(u)",
                "problem.equations.momentum_y=u*v_x + v*v_y + p_y - nu*laplacian(v)"),
    ],
    "four_disks": [
        _change("no_logarithms", "no logarithms", "model.auto.enrichment=null"),
        _change("no_symmetry", "x and y themselves in place of their squares",
                "model.auto.features=null"),
        _change("unscaled", "equation not multiplied by the square of a radius",
                "problem.equations.laplace=laplacian(u)"),
    ],
    "poisson_5d": [
        _change("shallow", "two layers of 30", _layers("width: 30, depth: 2")),
        _change("depth_1", "one layer of 30", _layers("width: 30, depth: 1")),
        _change("even", "even points", "sampling.adaptive=null"),
        _SSBROYDEN, _ENGD,
    ],
    "harmonic_10d": [
        _change("auto", "the model and the points of the defaults", "model=auto", "sampling={}"),
        _change("depth_1", "one layer of 30", "model.mlp.depth=1"),
        _change("depth_3", "three layers of 20", "model.mlp.depth=3", "model.mlp.width=20"),
        _change("rad", "points by RAD", "sampling.adaptive=rad"),
        _SSBROYDEN,
    ],
    "beltrami": [
        _change("shallow", "two layers of 30", _layers("width: 30, depth: 2")),
        _change("points_2000", "2000 points", "sampling.interior=2000"),
        _change("even", "even points", "sampling.adaptive=null"),
    ],
}  # fmt: skip

ABLATIONS = [
    Ablation(entry, change)
    for entry in ENTRIES if entry.name in CHANGES
    for change in (AS_IT_IS, *CHANGES[entry.name])
]  # fmt: skip
