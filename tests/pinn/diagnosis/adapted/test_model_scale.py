"""The scale of a model's outputs: told before training where unknowns are far from it."""

import pytest

import pinn
from pinn.config import Override, load
from pinn.diagnosis.adapted.model_scale import scaled, scales_of

T = pinn.Time("t", 0, 8)
SMALL = {"sampling": pinn.Sampling(interior=60), "training": [pinn.Adam(2)]}
GROWTH = """\
problem:
  domain: {t: {time: [0, 10]}}
  unknowns: [u, v]
  equations: {u: u_t - u, v: v_t - u}
  conditions: [initial: {unknown: u, value: 1}, initial: {unknown: v, value: 1}]
"""


def growth(start=5e4, ends=1e6):
    return pinn.Problem(
        T, ["u"], {"growth": "u_t - r*u*(1 - u/K)"}, [pinn.Initial("u", start)],
        constants={"r": 1.0, "K": ends}, name="growth",
    )  # fmt: skip


def advice(model, problem=None):
    found = pinn.check(problem or growth(), model, **SMALL).advice
    return [one for one in found if "scale its outputs" in one]


def test_an_unknown_far_from_the_size_of_the_network_is_told_with_the_number_to_write():
    (said,) = advice(pinn.MLP(8, 2, scale={"u": 1}))
    assert said.startswith("u is about ") and "(growth), where the network begins with " in said
    assert said.endswith(
        "values of about 1; scale its outputs: --set 'model={mlp: {width: 8, depth: 2, scale: {u: "
        "1000000}}}'"
    )


@pytest.mark.parametrize("model, problem", [
    (pinn.MLP(8, 2, scale={"u": 1e6}), None),
    (pinn.RandomFeatures(30), None),
    (pinn.MLP(8, 2), growth(0.1, 1.0)),
    (pinn.MLP(8, 2), growth(20.0, 300.0)),
    (pinn.MLP(8, 2), None),  # which is scaled by itself
])  # fmt: skip
def test_what_is_scaled_or_takes_any_size_is_not(model, problem):
    assert advice(model, problem) == []


MODELS = [
    pinn.MLP(8, 2, activation="sin"),
    pinn.MLP(8, 2, scale={"v": 7.0}),
    pinn.Windows(3, pinn.MLP(8, 2)),
    pinn.PerUnknown(pinn.MLP(8, 2), {"v": pinn.MLP(4, 1)}),
    pinn.Windows(3, pinn.PerUnknown(pinn.MLP(8, 2))),
]


@pytest.mark.parametrize("model", MODELS)
def test_the_setting_gives_the_model_that_scale_and_leaves_the_rest(model, tmp_path):
    path = tmp_path / "growth.yaml"
    path.write_text(GROWTH)
    before = scales_of(model, ["u", "v"])
    change = str(scaled(model, {"u": 2e5}))
    after = load(path, [Override.parse(change, "--set")]).experiment.model
    assert type(after) is type(model)
    assert scales_of(after, ["u", "v"]) == {**before, "u": 1e5}
    if isinstance(model, pinn.Windows):
        assert after.count == 3


def test_a_module_of_ones_own_says_nothing_of_its_scale():
    import autograd

    assert scales_of(autograd.nn.Linear(1, 1), ["u"]) == {}


@pytest.mark.filterwarnings("ignore::pinn.UnsolvedWarning", "ignore::pinn.ProblemWarning")
@pytest.mark.parametrize("model", [
    pinn.MLP(10, 2, scale={"u": 1}), pinn.Windows(2, pinn.MLP(8, 2, scale={"u": 1})),
])  # fmt: skip
def test_the_doctor_names_the_scale_and_writing_it_helps(model):
    """u' = u (1 - u/K) from 5e4 to K = 1e6, unscaled and as the doctor says."""
    given = {
        "sampling": pinn.Sampling(interior=300, redraw=None, adaptive=None),
        "training": [pinn.LevenbergMarquardt(80)], "error_bars": False,
    }  # fmt: skip
    before = pinn.solve(growth(), model, **given)
    (first, *_) = pinn.doctor(before).findings
    assert first.cause == "units"
    (change,) = first.changes
    assert "scale: {u: 1000000}" in str(change)
    after = pinn.solve(growth(), _written(model), **given)
    assert max(after.report.residual.values()) < 1e-3 * max(before.report.residual.values())


def _written(model):
    if isinstance(model, pinn.Windows):
        return pinn.Windows(2, _written(model.model))
    return pinn.MLP(model.width, model.depth, scale={"u": 1e6})
