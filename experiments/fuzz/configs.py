"""The configs that are mutated: those that ship, and one for the other forms of each section."""

from __future__ import annotations

from pathlib import Path

_CONFIGS = Path(__file__).parents[2] / "configs"

_FORMS = {
    "system": """\
problem:
  domain: {x: [0, pi], t: {time: [0, 1]}}
  unknowns: [u, v]
  constants: {k: 1/2, c: 2*k}
  parameters: {a: {initial: 0.1, lower: 0, upper: 1}}
  equations: {first: u_t - a*v_xx, second: "v_t + laplacian(u) - where(x < 1, k, c)"}
  conditions:
    - initial: {unknown: u, value: sin(x)}
    - initial: {unknown: v, value: 0}
    - dirichlet: {unknown: u, value: 0, on: [x=0, x=pi]}
    - neumann: {unknown: v, value: k*t, on: x=0}
    - robin: {unknown: v, a: 1, b: 2, value: 0, on: x=pi}
    - terminal: {unknown: u, value: 1}
    - point_value: {unknown: v, value: 0, at: {x: 1, t: 0.5}}
    - operator: {expression: dn(u) - k*v, on: x=0}
  reference: {u: exp(-k*t)*sin(x)}
model: {per_unknown: {mlp: {width: 5, depth: 1}}}
sampling: {interior: 30, initial: 8, boundary: 8, method: sobol, redraw: 5, adaptive: rad,
  candidates: 60}
weighting: {first: 2, initial_u: 1e2}
training: [adam: {steps: 3, learning_rate: 1e-2, final_rate: 1e-3}, lbfgs: {steps: 2, memory: 4}]
precision: float32
derivatives: nested
engine: eager
threads: 1
seconds: 5
output: {directory: out, log_every: 1}
""",
    "shapes": """\
problem:
  domain:
    difference:
      - union:
          - {x: [-1, 1], y: [-1, 1]}
          - moved: {shape: {rotated: {shape: {triangle: {corners: [[0, 0], [1, 0], [0, 1]]}},
              degrees: 30}}, by: [1, 0]}
      - disk: {center: [0, 0], radius: 0.5, name: hole}
    t: {time: [0, 1]}
  unknowns: [u]
  equations: {heat: u_t - laplacian(u)}
  conditions:
    - initial: {unknown: u, value: 1}
    - dirichlet: {unknown: u, value: 0, on: hole}
    - neumann: {unknown: u, value: normal_x*x, on: x < 0}
model: {mlp: {width: 4, depth: 1}}
sampling: {interior: 30, initial: 8, boundary: 8, redraw: null, adaptive: null}
training: [ssbroyden: {steps: 2}]
""",
    "hard": """\
problem:
  domain: {x: [0, 1], t: {time: [0, 1]}}
  unknowns: [u]
  constants: {c: 1}
  equations: {wave: u_tt - c**2*u_xx}
  conditions:
    - initial: {unknown: u, value: sin(pi*x), hard: true}
    - initial: {unknown: u, value: 0, order: 1, hard: true}
    - dirichlet: {unknown: u, value: 0, hard: true}
sampling: {interior: 30, initial: 8, boundary: 8, method: grid}
training: [adam: {steps: 2}]
""",
}


def configs() -> dict[str, str]:
    """Return texts of configs by name."""
    shipped = {path.stem: path.read_text() for path in sorted(_CONFIGS.glob("*.yaml"))}
    return {**_FORMS, **shipped}
