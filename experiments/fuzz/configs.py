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
model: {per_unknown: {each: {mlp: {width: 5, depth: 1}}, networks: {v: mlp}}}
sampling: {interior: 30, initial: 8, boundary: 8, method: sobol, redraw: 5, adaptive: rad,
  candidates: 60}
weighting: {first: 2, initial_u: 1e2}
training:
  - adam: {steps: 3, learning_rate: 1e-2, schedule: {exponential: {final_rate: 1e-3}}, warmup: 1}
  - lbfgs: {steps: 2, memory: 4}
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
    difference: [{x: [-1, 1], y: [-1, 1]}, {disk: {center: [0, 0], radius: 0.5, name: hole}}]
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
    "family": """\
problem:
  domain:
    intersection: [{ball: {center: [0, 0, 0], radius: 2}}, {x: [0, 3], y: [0, 3], z: [0, 3]}]
  unknowns: [u]
  families: {k: {low: 0.1, high: 10, spacing: log}}
  equations: {poisson: laplacian(u) + k}
  conditions:
    - dirichlet: {unknown: u, value: 0, on: [x=0, ball]}
    - neumann: {unknown: u, value: 1, on: "z=0"}
    - operator: {expression: u_x - u, at: {x: 1, y: 0.5, z: [0.5, 1], k: 1}, name: probe}
model: {mlp: {width: 4, depth: 1, activation: sin}}
sampling: {interior: 30, initial: 8, boundary: 12, method: halton, redraw: 2, candidates: 40}
training: [lbfgs: {steps: 2, transform: log}]
""",
    "triangle": """\
problem:
  domain:
    moved: {shape: {rotated: {shape: {triangle: {a: [0, 0], b: [1, 0], c: [0, 1], name: wedge}},
      angle: 30, about: [0, 0]}}, by: [1, 0]}
  unknowns: [u]
  equations: {poisson: laplacian(u) + 1}
  conditions:
    - dirichlet: {unknown: u, value: 0, on: wedge}
model: {mlp: {width: 4, depth: 1}}
sampling: {interior: 30, boundary: 8}
training: [adam: {steps: 2}]
""",
    "polygon": """\
problem:
  domain: {polygon: {points: [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], names: [x, y],
    name: step}, t: {time: [0, 1]}}
  unknowns: [u]
  equations: {wave: u_tt - laplacian(u)}
  conditions:
    - initial: {unknown: u, value: x*y}
    - initial: {unknown: u, value: 0, order: 1}
    - dirichlet: {unknown: u, value: 0, on: step}
model: {mlp: {width: 4, depth: 1}}
sampling: {interior: 30, initial: 8, boundary: 8}
training: [adam: {steps: 2}]
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
    "regions": """\
problem:
  domain: {x: [0, 1]}
  unknowns: [u1, u2]
  constants: {k1: 1, k2: 5, s: 0.4}
  regions: {left: x < s, disk: x > 0.9}
  piecewise: {u: {left: u1, elsewhere: u2}, k: {left: k1, disk: 2*x, elsewhere: k2}}
  equations:
    left: {expression: k1*u1_xx + 1, on: left}
    right: {expression: k*u2_xx + 1, on: not left}
  conditions:
    - dirichlet: {unknown: u1, value: 0, on: x=0, hard: true}
    - dirichlet: {unknown: u2, value: 0, on: x=1}
    - interface: {on: x=0.4, inner: u1, outer: u2, k_inner: k1, k_outer: k2, jump: 0, name: seam}
    - integral: {expression: "integral(u1, x, 0, 1)", value: 0.1}
  reference: {u: "where(left, 1, 2)"}
model: {per_unknown: {each: {residual_mlp: {width: 4, depth: 2}},
  networks: {u2: {siren: {width: 4, depth: 1}}}}}
sampling: {interior: 30, boundary: 8, blocks: {left: {count: 20, method: chebyshev, batch: 5},
  right: {density: 1 + x, adaptive: r3}}, batch: 10}
weighting: {grad_norm: {every: 10}}
training: [adam: {steps: 2}]
""",
    "inverse": """\
problem:
  domain: {x: [0, 1], y: [0, 1]}
  unknowns: [u]
  parameters: {c: {initial: 1, lower: 0}}
  fields: {a: {coordinates: [x, y], lower: 0.1, upper: 3, model: {mlp: {width: 3, depth: 1}}}}
  tables: {f: {table: {x: [0, 0.5, 1], f: [1, 2, 1]}, method: linear, outside: nearest}}
  equations: {flux: div(a*grad(u)) + c*f}
  conditions:
    - dirichlet: {unknown: a, value: 1 + x, on: x=0, hard: true}
    - point_value: {unknown: a, value: 2, at: {x: 1, y: 0.5}, hard: true}
    - point_value: {unknown: u, value: 2, at: {x: 1, y: 0}, hard: true}
    - data: {unknown: u, table: {x: [0.1, 0.2], y: [0.3, 0.4], u: [1, 2]}, sigma: 0.1,
        robust: huber}
    - periodic: {unknown: u, coordinate: y, orders: 2}
model: {pirate_net: {width: 4, features: [x, sin(y)], embedding: [fourier: {count: 2}]}}
sampling: {interior: 30, boundary: 8, adaptive: rar-d, added: 3, most: 50}
weighting: {self_adaptive: {}}
training: [ssbroyden: {steps: 2}]
""",
    "models": """\
problem:
  domain: {x: [-1, 1], t: {time: [0, 1]}}
  unknowns: [u]
  equations: {heat: u_t - u_xx}
  conditions:
    - initial: {unknown: u, value: sin(pi*x)}
    - periodic: {unknown: u, coordinate: x, orders: 2, hard: true}
model: {modified_mlp: {width: 4, depth: 1, factorization: {mean: 0.5, spread: 0.1},
  scale: {u: 2}, offset: {u: 1}}}
sampling: {interior: 30, initial: 8, adaptive: rar-g}
weighting: {causal: {slices: 4}}
training: [adam: {steps: 2}]
""",
}


def configs() -> dict[str, str]:
    """Return texts of configs by name."""
    shipped = {
        path.stem: path.read_text().replace(" data/", f" {_CONFIGS}/data/")  # wherever they are put
        for path in sorted(_CONFIGS.glob("*.yaml"))
    }
    return {**_FORMS, **shipped}
