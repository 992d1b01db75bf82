"""Modules of plain numpy: they give the values of the programs that they are written from."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import load
from pinn.evaluation import Evaluation
from pinn.export import NoSource, write_evaluator
from pinn.models.activations import ACTIVATIONS
from pinn.sampling import uniform
from pinn.training.experiment import Experiment

pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

CONFIGS = Path(__file__).parents[3] / "configs"
ROWS = (5, 7)

# Evaluates every module below a folder, in a process where nothing of ours can be imported.
ALONE = """
import importlib.util, sys
from pathlib import Path

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pinn", "autograd"):
            raise ImportError(f"{name} is not to be imported")

sys.meta_path.insert(0, Refused())
import numpy as np
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    spec = importlib.util.spec_from_file_location("alone", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = np.load(path.with_name("given.npy"))
    np.savez(path.with_name("found.npz"), **module.evaluate(*given))
"""


def heat(model=pinn.MLP(width=5, depth=2), **changes):  # noqa: B008 - a value
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 2)
    arguments = {
        "equations": {"heat": "u_t - u_xx"},
        "conditions": [
            pinn.Initial("u", "sin(pi*x)", hard=True), pinn.Dirichlet("u", 0, hard=True),
        ],
    }
    names = changes.pop("unknowns", ["u"])
    run = changes.pop("run", {})
    return Experiment(pinn.Problem(x * t, names, **{**arguments, **changes}), model, **run)


def trained(experiment):
    """The parameters of a run as something that all of them have a part in."""
    parameters = experiment.initial_parameters()
    rng = np.random.default_rng(1)
    parameters.load(parameters.theta + 0.05 * rng.standard_normal(parameters.size))
    return parameters


def write(experiment, folder, about=("A title.",)):
    """Write the module of a run; return its path and what gives the values that it should."""
    evaluation = Evaluation(experiment, trained(experiment))
    folder.mkdir(parents=True, exist_ok=True)
    first, second = (evaluation.recorded(rows) for rows in ROWS)
    path, _ = write_evaluator(
        folder / "evaluate.py", (first.program, second.program), ROWS,
        experiment.problem.domain.coordinates, first.outputs, first.arrays, about,
    )  # fmt: skip
    return path, evaluation


def evaluated_alone(folder):
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def compared(experiments, folder):
    """The largest difference of each, beside the largest value, in a process without pinn."""
    wanted = {}
    for name, experiment in experiments.items():
        _, evaluation = write(experiment, folder / name)
        domain = experiment.problem.domain
        points = domain.sample_interior(40, uniform, np.random.default_rng(2))
        np.save(folder / name / "given.npy", points.T)
        wanted[name] = evaluation.evaluate(dict(zip(domain.coordinates, points.T, strict=True)))
    evaluated_alone(folder)
    worst = {}
    for name, want in wanted.items():
        with np.load(folder / name / "found.npz", allow_pickle=False) as found:
            assert {*found} == {*want}, name
            worst[name] = max(
                float(np.max(np.abs(found[u] - want[u])) / np.max(np.abs(want[u]))) for u in want
            )
            assert all(found[u].dtype == want[u].dtype for u in want), name
    return worst


MODELS = {
    "mlp": pinn.MLP(width=5, depth=2, factorization=pinn.Factorization()),
    "residual_mlp": pinn.ResidualMLP(width=5),
    "modified_mlp": pinn.ModifiedMLP(width=5, embedding=[pinn.FourierEmbedding(3)]),
    "pirate_net": pinn.PirateNet(width=6),
    "siren": pinn.Siren(width=5),
    "multi_scale": pinn.MultiScale(),
    "kan": pinn.KAN(),
    "kan_of_splines": pinn.KAN(basis="spline", width=4, depth=1, degree=4),
    "random_features": pinn.RandomFeatures(),
    "separable": pinn.Separable(),
    "features": pinn.MLP(width=5, depth=1, features=["x", "t", "exp(-t)"], enrichment=["x*t"],
                         scale={"u": 3.0}),
    "windows": pinn.Windows(3, pinn.MLP(width=5, depth=1)),
    "windows_in_both": pinn.Windows(2, pinn.MLP(width=5, depth=1), order=2),
}  # fmt: skip


def test_every_model_and_activation_is_repeated_without_pinn(tmp_path):
    runs = {name: heat(model) for name, model in MODELS.items()}
    runs |= {a: heat(pinn.MLP(width=5, depth=2, activation=a)) for a in ACTIVATIONS}
    runs["per_unknown"] = heat(
        pinn.PerUnknown(pinn.MLP(width=4, depth=1), {"v": pinn.Siren(width=4)}),
        unknowns=["u", "v"],
        equations={"heat": "u_t - u_xx", "flux": "v - u_x"},
    )
    assert max(compared(runs, tmp_path).values()) < 1e-12


def test_corners_that_are_seen_are_repeated_without_pinn(tmp_path):
    domain = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
    (inner,) = domain.inward_corners
    seen = [
        pinn.CornerEmbedding(inner.at, inner.pole, of="flow"),
        *(pinn.CornerEmbedding(at, (9 * at[0], 9 * at[1]), 2, log=True)
          for at in ((-1, 1), (-1, -1), (1, -1))),
    ]  # fmt: skip
    problem = pinn.Problem(domain, ["u"], {"e": "laplacian(u) + 1"}, [pinn.Dirichlet("u", 0)])
    run = Experiment(problem, pinn.MLP(width=5, depth=2, embedding=seen))
    assert compared({"corners": run}, tmp_path)["corners"] < 1e-12


SHIPPED = [
    "burgers", "cavity", "channel_two_disks", "convection_diffusion", "elastic_plate",
    "four_holes", "fractional_poisson", "heat_ball", "heated_wire", "inverse_poisson",
    "klein_gordon", "l_shape", "reaction_rate", "schroedinger", "wave",
]  # fmt: skip


def test_shapes_hard_conditions_fields_and_families_are_repeated_without_pinn(tmp_path):
    runs = {name: load(CONFIGS / f"{name}.yaml").experiment for name in SHIPPED}
    runs = {
        name: replace(run, model=pinn.MLP(width=5, depth=2))
        if isinstance(run.model, pinn.AutoModel) else run
        for name, run in runs.items()
    }  # fmt: skip
    assert max(compared(runs, tmp_path).values()) < 1e-12


def test_single_precision_is_repeated_in_it(tmp_path):
    worst = compared({"single": heat(run={"precision": "float32"})}, tmp_path)
    assert worst["single"] < 1e-6


def test_what_is_made_of_unknowns_is_there_and_what_is_made_of_slopes_is_not(tmp_path):
    run = heat(
        unknowns=["u"],
        regions={"left": "x < 0"},
        piecewise={"w": {"left": "2*u + x", "elsewhere": "u"}, "flux": {"elsewhere": "-u_x"}},
    )
    _, evaluation = write(run, tmp_path)
    points = np.array([[-0.5, 0.5, 0.25], [0.5, 1.0, 1.5]])
    np.save(tmp_path / "given.npy", points)
    evaluated_alone(tmp_path)
    want = evaluation.evaluate(dict(zip("xt", points, strict=True)))
    with np.load(tmp_path / "found.npz") as found:
        assert {*found} == {"u", "w"}
        np.testing.assert_allclose(found["w"], want["w"], rtol=1e-13)


def test_values_have_the_broadcast_shape_of_what_is_given(tmp_path):
    path, evaluation = write(heat(), tmp_path)
    np.save(tmp_path / "given.npy", np.array([0.5, 0.25]))
    evaluated_alone(tmp_path)
    with np.load(tmp_path / "found.npz") as found:
        assert found["u"].shape == ()
        assert found["u"] == pytest.approx(evaluation.evaluate({"x": 0.5, "t": 0.25})["u"], 1e-13)


def test_a_small_network_takes_few_lines_of_named_arrays(tmp_path):
    path, _ = write(heat(), tmp_path)
    text = path.read_text()
    body = text[text.index("def evaluate") :].splitlines()
    assert len(body) < 20
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
        assert {"weight0", "bias0", "weight1", "bias1", "weight2", "bias2"} <= {*arrays}
        assert all(f"w[{json.dumps(name)}]" in text for name in arrays)


def test_what_is_said_of_it_is_never_code(tmp_path):
    about = ["A title.", 'Units: x in """; raise SystemExit(3); """', 'u in "']
    path, _ = write(heat(), tmp_path, about)
    np.save(tmp_path / "given.npy", np.array([0.5, 0.25]))
    evaluated_alone(tmp_path)
    assert "raise SystemExit(3)" in path.read_text()


def test_coordinates_with_names_of_the_language_get_others(tmp_path):
    space = pinn.Interval("np", 0, 1) * pinn.Interval("lambda", 0, 1)
    problem = pinn.Problem(space, ["u"], {"poisson": "laplacian(u)"})
    path, evaluation = write(Experiment(problem, pinn.MLP(width=4, depth=1)), tmp_path)
    assert "def evaluate(np_, lambda_):" in path.read_text()
    np.save(tmp_path / "given.npy", np.array([0.5, 0.25]))
    evaluated_alone(tmp_path)
    with np.load(tmp_path / "found.npz") as found:
        want = evaluation.evaluate({"np": 0.5, "lambda": 0.25})["u"]
        assert found["u"] == pytest.approx(want, rel=1e-13)


class Own(T.nn.Module):
    """A network of one's own that does something a line of numpy cannot."""

    def __init__(self, what):
        super().__init__()
        self.layer = T.nn.Linear(2, 1, dtype=T.float64)
        self.what = what

    def forward(self, points):
        return self.what(self.layer(points))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (lambda y: T.cumsum(y, 0), "'cumsum' has no counterpart"),
        (lambda y: y * T.arange(len(y), dtype=T.float64)[:, None], "differ from point to point"),
        (lambda y: y * (len(y) + 1), "a number in it depends on how many"),
        (lambda y: T.sin(y) + T.cos(y) if len(y) > 5 else T.cos(T.sin(y)) + y,
         "how many points there are"),
        (lambda y: y.sum() + y if len(y) > 5 else y, "how many points there are"),
    ],
)
def test_what_numpy_cannot_repeat_is_refused_with_the_reason(tmp_path, what, said):
    with pytest.raises(NoSource, match=said):
        write(heat(Own(what)), tmp_path)
    assert not list(tmp_path.rglob("*.py"))


def test_arrays_without_a_name_get_one_that_is_free(tmp_path):
    own = Own(lambda y: y * T.tensor([[3.0]], dtype=T.float64) + own.constant0)
    own.constant0 = T.nn.Parameter(T.tensor([[5.0]], dtype=T.float64))
    assert compared({"own": heat(own)}, tmp_path)["own"] < 1e-12


def test_sizes_that_follow_the_number_of_points_do_so(tmp_path):
    def halves(y):
        pairs = T.cat([y, 2 * y], 1).reshape(2 * len(y), 1)
        return pairs.reshape(len(y), 2)[:, 1:] + T.ones(len(y), 1, dtype=T.float64)

    path, _ = write(heat(Own(halves)), tmp_path / "halves")
    assert "n = len(points)" in path.read_text()
    assert compared({"halves": heat(Own(halves))}, tmp_path)["halves"] < 1e-12


def test_a_module_of_ones_own_is_repeated(tmp_path):
    run = heat(Own(lambda y: T.relu(y) + y.reshape(-1, 1) ** 2 + T.nn.functional.softplus(-y)))
    assert compared({"own": run}, tmp_path)["own"] < 1e-12


OPERATIONS = {
    "reductions": lambda y: T.cat(
        [y.sum(1, keepdim=True), y.mean(1, keepdim=True), y.amax(1, keepdim=True),
         y.amin(1, keepdim=True), y.prod(1, keepdim=True)], 1
    ).sum(1, keepdim=True),
    "rounding": lambda y: (
        T.floor(3 * y) + 2 * T.ceil(5 * y) + 4 * T.trunc(7 * y) + T.round(9 * y) + y.clone()
    )[:, :1],
    "remainders": lambda y: (T.fmod(y, 0.3) + 2 * T.remainder(y, 0.3) + y.clamp(-0.1, 0.2))[:, :1],
    "logic": lambda y: T.where(
        T.logical_or(T.logical_and(y > 0, y < 0.5), T.logical_not(y <= 1)), y, -y
    )[:, :1],
    "masks": lambda y: T.where(
        T.logical_xor(T.isfinite(y), T.isnan(y)), y.masked_fill(y >= 0.2, 0.25), 3.0
    )[:, :1],
    "special": lambda y: (
        T.erf(y) + T.erfc(y) * y + T.lgamma(2 + T.relu(y)) + T.digamma(3 + T.relu(y))
        + T.polygamma(1, 3 + T.relu(y)) + T.sinc(y) + T.rsqrt(1 + y * y)
    )[:, :1],
    "shapes": lambda y: T.stack(
        [y.flip([1])[:, 0], y.T[0], y[:, :1].expand(len(y), 3)[:, 2], y.reshape(-1)[::3]], 1
    ).sum(1, keepdim=True),
    "pieces": lambda y: T.split(y, [1, 2], 1)[1][:, :1] * T.split(y, [1, 2], 1)[0],
    "products": lambda y: (
        (y[:, :2] @ T.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=T.float64).T) ** y[:, 2:].exp()
    ).abs()[:, :1],
    "powers": lambda y: (y.abs() ** 1.5 - 2 ** y + (1 / (2 + y * y)) ** -3 - (-y) ** 2)[:, :1],
    "signs": lambda y: (-(y - (1 - y)) / (2 / (3 - (-y))) - (y + 1) * -2.0 - (y == y) * y
                        - (y != 0) * y)[:, :1],
}  # fmt: skip


class Wide(Own):
    """The same with three columns."""

    def __init__(self, what):
        super().__init__(what)
        self.layer = T.nn.Linear(2, 3, dtype=T.float64)


def test_every_operation_of_the_table_is_repeated(tmp_path):
    from pinn.export.operations import CALLS, JOINS, OPERATORS

    runs = {name: heat(Wide(what)) for name, what in OPERATIONS.items()}
    assert max(compared(runs, tmp_path).values()) < 1e-12
    met = set()
    for run in (*runs.values(), heat(pinn.KAN(basis="spline", width=2)), *(
        heat(pinn.MLP(width=2, depth=1, activation=one)) for one in ACTIVATIONS
    )):  # fmt: skip
        recorded = Evaluation(run, trained(run)).recorded(5)
        met |= {one.op.name for one in recorded.program.instructions}
    assert met >= {*CALLS, *JOINS, *OPERATORS} | {"linear", "matmul", "monomial", "neg", "pow"}
