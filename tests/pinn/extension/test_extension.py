"""One thing of each kind, added from outside in one place, goes wherever those that ship go."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.conditions import CONDITIONS
from pinn.config import ConfigError, Override, load
from pinn.files import DamagedFile, read_npz
from pinn.geometry import SHAPES
from pinn.models import MODELS
from pinn.objective.weighting import WEIGHTINGS
from pinn.optimizers import STAGES
from pinn.problem import references
from pinn.sampling import ADAPTIVE, METHODS
from pinn.schema import DeclarationError, dump, fields_of

TOYS = ("slope", "diamond", "ridges", "descent", "even", "thirds", "largest", "heat-mode")


def declaration(experiment) -> dict:
    data = dump(experiment)
    del data["threads"]
    return data


def filled(said: str) -> str:
    """Put the names that are in a table now into a message."""
    tables = {
        "CONDITIONS": CONDITIONS, "MODELS": MODELS, "WEIGHTINGS": WEIGHTINGS, "METHODS": METHODS,
        "ADAPTIVE": ADAPTIVE, "REFERENCES": references.names(),
    }  # fmt: skip
    for name, table in tables.items():
        said = said.replace(f"<{name}>", ", ".join(table))
    return said


# ---- Python

REFUSED = [
    ("Slope('u', '2x')", "slope: along: expected a name of letters, digits and _ that starts "
     "with a letter, got '2x'"),
    ("Diamond(radius=0)", "diamond: radius: expected a number > 0, got 0"),
    ("Ridges(count=1.5)", "ridges: count: expected a whole number >= 1, got 1.5"),
    ("Descent(momentum=1)", "descent: momentum: expected a number >= 0 and < 1, got 1"),
    ("Even(every=-2)", "even: every: expected a whole number >= 1, got -2"),
    ("pinn.Sampling(method='third')", "sampling: method: expected one of <METHODS>, "
     "got 'third'; did you mean 'thirds'?"),
    ("pinn.Sampling(adaptive='larges')", "sampling: adaptive: expected one of <ADAPTIVE>, got "
     "'larges'; did you mean 'largest'?"),
    ("references.get('heat-mod')", "expected one of <REFERENCES>, got 'heat-mod'; did you "
     "mean 'heat-mode'?"),
]  # fmt: skip


@pytest.mark.parametrize("code, said", REFUSED, ids=[toy.split("(")[0] for toy, _ in REFUSED])
def test_a_bad_argument_is_refused_in_one_sentence(page, code, said):
    make = compile(code, "test", "eval")
    with pytest.raises(DeclarationError) as raised:
        eval(make, vars(page))
    assert str(raised.value) == filled(said)


def test_what_the_problem_refuses_has_the_path_of_keys(page):
    with pytest.raises(DeclarationError) as raised:
        pinn.Problem(
            page.Diamond() * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - u_xx"},
            [page.Slope("u", "t")],
        )  # fmt: skip
    assert str(raised.value) == "problem: conditions.0.along: expected one of x, y, got 't'"


# ---- a config file


def test_a_config_gives_what_python_gives(page, config):
    experiment = load(config).experiment
    problem = experiment.problem
    assert problem.domain.factors[0] == page.Diamond(2)
    assert problem.conditions == page.problem.conditions
    assert experiment.model == page.Ridges(count=8)
    assert experiment.training == (page.Descent(steps=6),)
    assert experiment.weighting == page.Even(every=2)
    assert experiment.sampling == page.solution.experiment.sampling
    named = declaration(page.solution.experiment)
    named["problem"]["name"] = "toys"
    assert declaration(experiment) == named


WRONG = [
    ("slope: {unknown: u, along: x", "slope: {unknown: u, along: z",
     "<file>:8: problem.conditions.1.slope.along: expected one of x, y, got 'z'"),
    ("slope: {", "slop: {", "<file>:8: problem.conditions.1.slop: expected one condition out of "
     "<CONDITIONS>, got 'slop'; did you mean 'slope'?"),
    ("{radius: 2}", "{radius: -2}",
     "<file>:2: problem.domain.diamond.radius: expected a number > 0, got '-2'"),
    ("{radius: 2}", "{size: 2}",
     "<file>:2: problem.domain.diamond.size: unknown key; valid keys: radius"),
    ("count: 8", "count: many",
     "<file>:10: model.ridges.count: expected a whole number >= 1, got 'many'"),
    ("ridges: {", "ridgs: {", "<file>:10: model.ridgs: expected one model out of <MODELS>, got "
     "'ridgs'; did you mean 'ridges'?"),
    ("descent: {steps: 6", "descent: {steps: 0",
     "<file>:13: training.0.descent.steps: expected a whole number >= 1, got '0'"),
    ("every: 2", "every: none",
     "<file>:12: weighting.even.every: expected a whole number >= 1, got 'none'"),
    ("even: {", "evn: {", "<file>:12: weighting.evn: expected one weighting out of <WEIGHTINGS>, "
     "got 'evn'; did you mean 'even'?"),
    ("method: thirds", "method: third", "<file>:11: sampling.method: expected one of <METHODS>, "
     "got 'third'; did you mean 'thirds'?"),
    ("adaptive: largest", "adaptive: larges", "<file>:11: sampling.adaptive: expected one of "
     "<ADAPTIVE>, got 'larges'; did you mean 'largest'?"),
    ("reference: heat-mode", "reference: heat-mod", "<file>:9: problem.reference: expected one of "
     "<REFERENCES>, the name of a file, or {unknown: expression}, got 'heat-mod'; did you mean "
     "'heat-mode'?"),
]  # fmt: skip


@pytest.mark.parametrize("right, wrong, said", WRONG, ids=[case[1].strip(" {") for case in WRONG])
def test_a_mistake_in_a_config_is_told_at_its_line_and_key(page, config, right, wrong, said):
    text = config.read_text()
    assert text.count(right) == 1
    config.write_text(text.replace(right, wrong))
    with pytest.raises(ConfigError) as raised:
        load(config)
    assert str(raised.value) == filled(said).replace("<file>", str(config))


@pytest.mark.parametrize("section, written, expected", [
    ("model", "ridges", lambda page: page.Ridges()),
    ("model", "{ridges: }", lambda page: page.Ridges()),
    ("weighting", "even", lambda page: page.Even()),
    ("weighting", "{even: }", lambda page: page.Even()),
    ("weighting", "{even: {}}", lambda page: page.Even()),
    ("training", "[descent]", lambda page: (page.Descent(),)),
    ("training", "[descent: ]", lambda page: (page.Descent(),)),
])  # fmt: skip
def test_a_name_alone_takes_all_defaults(page, config, section, written, expected):
    lines = [line for line in config.read_text().splitlines() if not line.startswith(section)]
    config.write_text("\n".join([*lines, f"{section}: {written}"]))
    assert getattr(load(config).experiment, section) == expected(page)


@pytest.mark.parametrize("written", ["diamond: {}", "diamond: "])
def test_a_shape_alone_takes_all_defaults(page, config, written):
    config.write_text(config.read_text().replace("diamond: {radius: 2}", written))
    assert load(config).experiment.problem.domain.factors[0] == page.Diamond()


def test_the_resolved_config_gives_the_same_objects(page, config, tmp_path):
    first = load(config)
    resolved = tmp_path / "config.yaml"
    resolved.write_text(first.text(), encoding="utf-8")
    again = load(resolved)
    assert dump(again.experiment) == dump(first.experiment)
    assert again.text() == first.text()
    assert again.experiment.problem.conditions == first.experiment.problem.conditions
    assert again.experiment.model == first.experiment.model
    assert again.experiment.weighting == first.experiment.weighting


def test_a_coordinate_may_be_called_like_a_shape(page, tmp_path):
    path = tmp_path / "decay.yaml"
    path.write_text(
        "problem: {domain: {time: {time: [0, 1]}, diamond: [0, 2]}, unknowns: u, "
        "equations: {decay: \"diff(u, time) + u\"}}"
    )
    config = load(path)
    domain = pinn.Time("time", 0, 1) * pinn.Interval("diamond", 0, 2)
    assert config.experiment.problem.domain == domain
    path.write_text(config.text())
    assert load(path).experiment.problem.domain == domain


# ---- training, files


def test_each_of_them_takes_part_in_training(page):
    seen = []
    again = pinn.solve(**vars(page.solution.experiment), callbacks=[seen.append])
    report, last = page.solution.report, seen[-1]
    assert report.steps == 6 and report.stages[0].name == "descent"
    assert np.isfinite(report.loss)
    assert report.losses.keys() == {"heat", "initial_u", "slope_u_x"}
    assert report.rel_l2.keys() == {"u"}
    assert last.draw == 1  # the points were drawn anew, where the residual was largest
    assert last.weighting_state.keys() == {"mean"}
    inside = last.points["heat"].coordinates
    assert (np.abs(inside[:, :2]).sum(axis=1) <= 2).all()
    rim = last.points["slope_u_x"].coordinates
    np.testing.assert_allclose(np.abs(rim[:, :2]).sum(axis=1), 2, rtol=1e-14)
    # Twice the same training gives the same bits.
    assert np.array_equal(again.theta, page.solution.theta)


def test_a_saved_solution_gives_the_same_bits_and_declaration(page, tmp_path):
    path = tmp_path / "solution.npz"
    page.solution.save(path)
    loaded = pinn.load(path)
    assert np.array_equal(loaded.theta, page.solution.theta)
    at = {"x": np.linspace(-1, 1, 7), "y": 0.25, "t": 0.5}
    assert np.array_equal(loaded.evaluate(**at)["u"], page.solution.evaluate(**at)["u"])
    assert declaration(loaded.experiment) == declaration(page.solution.experiment)
    assert loaded.problem.conditions == page.problem.conditions
    assert loaded.problem.domain.factors[0] == page.Diamond(2)
    assert loaded.experiment.model == page.Ridges(count=8)
    assert loaded.experiment.training == (page.Descent(steps=6),)
    assert loaded.experiment.weighting == page.Even(every=2)
    # What was loaded can be trained again: to the same bits.
    assert np.array_equal(pinn.solve(**vars(loaded.experiment)).theta, page.solution.theta)


def test_a_tracker_logs_a_run(page, config, capsys):
    tracked = load(config, [Override.parse("output.tracking=[printed]", "--track printed")])
    assert tracked.output.tracking == (page.Printed(),)
    pinn.solve(**vars(tracked.experiment), callbacks=[page.Printed(every=2)])
    lines = capsys.readouterr().out.splitlines()
    assert "0 descent begins" in lines[0] and lines[-1] == "finished"
    numbers = [line.split() for line in lines if len(line.split()) == 2]
    assert [step for step, loss in numbers if loss != "begins" and float(loss) > 0] == [
        "1", "2", "4", "6",
    ]


def test_a_plan_chooses_while_training_runs(page, config, tmp_path):
    text = config.read_text().replace("training: [descent: {steps: 6}]", "training: patient")
    config.write_text(text)
    experiment = load(config).experiment
    assert experiment.training == page.Patient()
    few = page.Patient(steps=220, rates=2, least=0.9)
    solution = pinn.solve(**{**vars(experiment), "training": few})
    assert [stage.steps for stage in solution.report.stages] == [220, 220]
    assert [str(decision) for decision in solution.report.decisions] == [
        "descent, up to 220 steps: rate 0.01 is next",
        "descent, up to 220 steps: rate 0.001 is next",
        "training ends: all rates were tried",
    ]
    solution.save(tmp_path / "solution.npz")
    assert pinn.load(tmp_path / "solution.npz").experiment.training == few
    stalled = pinn.solve(**{**vars(experiment), "training": page.Patient(600, 1, 0.9)})
    (stage,) = stalled.report.stages
    assert stage.reason == "stalled" and stage.steps in (300, 400, 500)


def test_the_file_holds_them_by_name(page, tmp_path):
    page.solution.save(tmp_path / "solution.npz")
    data = json.loads(str(read_npz(tmp_path / "solution.npz")["experiment"]))
    problem = data["problem"]
    assert problem["domain"] == {"diamond": {"radius": 2.0}, "t": {"time": [0.0, 1.0]}}
    assert problem["conditions"][1] == {
        "slope": {"unknown": "u", "along": "x", "value": "exp(-2*k*t)*cos(x)*sin(y)", "on": None}
    }
    assert problem["reference"] == "heat-mode"
    assert data["model"] == {"ridges": {"count": 8, "scale": 1.0}}
    assert (data["sampling"]["method"], data["sampling"]["adaptive"]) == ("thirds", "largest")
    assert data["weighting"] == {"even": {"every": 2, "memory": 0.5}}
    (stage,) = data["training"]
    assert stage == {"descent": {"steps": 6, "rate": 1e-3, "momentum": 0.9, "seconds": None}}


def test_without_the_table_entry_a_file_says_which_name_is_unknown(page, tmp_path):
    path = tmp_path / "solution.npz"
    page.solution.save(path)
    CONDITIONS.remove("slope")
    try:
        with pytest.raises(DamagedFile) as raised:
            pinn.load(path)
    finally:
        CONDITIONS.add("slope", page.Slope)
    said = str(raised.value)
    assert "problem.conditions.1.slope: expected one condition out of initial" in said
    assert "got 'slope'" in said
    assert said.endswith("; import the module that adds it before the file is loaded")
    assert said.count(str(path)) == 1


def test_the_command_line_trains_them(page, config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    overrides = ["--set", "training.0.descent.rate=2e-3"]
    overrides += ["--set", "problem.domain.diamond.radius=1"]
    assert main(["train", str(config), "--quiet", "--out", "run", *overrides]) == 0
    solution = pinn.load("run/solution.npz")
    assert solution.experiment.training == (page.Descent(steps=6, rate=2e-3),)
    resolved = load("run/config.yaml").experiment
    assert declaration(resolved) == declaration(solution.experiment)
    assert np.array_equal(pinn.solve(**vars(resolved)).theta, solution.theta)
    assert (tmp_path / "run" / "figures" / "field_u.png").exists()
    assert "toys: stopped: step limit" in capsys.readouterr().out
    assert pinn.load("run/checkpoint.npz").report.steps == 6
    # A mistake leaves no directory behind.
    wrong = ["--set", "model.ridges.count=0", "--out", "other"]
    assert main(["train", str(config), "--quiet", *wrong]) == 2
    assert "model.ridges.count: expected a whole number >= 1, got '0'" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_list_shows_them(page, capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "heat-mode  u_t = k (u_xx + u_yy) from sin(x) sin(y)" in shown
    for name, arguments in {
        "slope": ("unknown", "along", "value", "on"), "diamond": ("radius",),
        "ridges": ("count", "scale"), "descent": ("steps", "rate", "momentum", "seconds"),
        "even": ("every", "memory"),
    }.items():  # fmt: skip
        (line,) = [line for line in shown.splitlines() if line.strip().startswith(f"{name}(")]
        assert all(argument in line for argument in arguments)
    assert "thirds" in shown and "largest" in shown


def test_the_tables_tell_what_each_of_them_takes(page):
    told = {
        name: list(fields_of(family[name]))
        for family in (CONDITIONS, SHAPES, MODELS, STAGES, WEIGHTINGS)
        for name in family if name in TOYS
    }  # fmt: skip
    assert told == {
        "slope": ["unknown", "along", "value", "on"], "diamond": ["radius"],
        "ridges": ["count", "scale"], "descent": ["steps", "rate", "momentum", "seconds"],
        "even": ["every", "memory"],
    }  # fmt: skip


# ---- what an author may leave to the base


def test_a_stage_is_called_by_its_class_and_has_no_limit_unless_it_says_so():
    @pinn.declared
    class Still(pinn.Stage):
        steps: int = 1

        def run(self, function, theta, state=None):
            raise NotImplementedError

    assert (Still().name, Still().seconds) == ("still", None)


def test_a_weighting_without_every_chooses_once():
    @pinn.declared
    class Once(pinn.Weighting):
        def update(self, view, weights, state):
            return weights, state

    assert Once().is_due(0) and not Once().is_due(5)


def test_a_class_whose_annotations_say_too_little_is_refused_when_it_is_entered():
    class Vague(pinn.Model):
        def __init__(self, size) -> None:
            self.size = size

        def build(self, domain, unknowns, rng, dtype, device="cpu"):
            raise NotImplementedError

    for family in (CONDITIONS, SHAPES, STAGES, WEIGHTINGS):
        with pytest.raises(TypeError, match="expected a subclass of"):
            family.add("vague", Vague)
    with pytest.raises(TypeError, match="Vague.size: no kind of value stands for"):
        MODELS.add("vague", Vague)
    assert "vague" not in MODELS


# ---- a network of parts, and an embedding


def test_a_network_of_parts_has_what_networks_have(page, config):
    text = config.read_text().replace(
        "model: {ridges: {count: 8}}",
        "model: {gated: {width: 5, features: [x, y, x*t], embedding: squares, scale: {u: 3}}}",
    )
    config.write_text(text)
    experiment = load(config).experiment
    model = page.Gated(
        width=5, features=["x", "y", "x*t"], embedding=page.Squares(), scale={"u": 3}
    )
    assert experiment.model == model
    problem = experiment.problem
    module = model.build(problem.domain, ["u"], np.random.default_rng(0), page.T.float64)
    assert model.parameter_count(problem.domain, ["u"]) == 2 * (6 + 1) * 5 + 6
    points = np.random.default_rng(1).uniform(0, 1, (4, 3))
    x, y, t = points.T
    seen = np.stack([x / 2, y / 2, x * t], axis=1)
    seen = np.hstack([seen, seen**2])
    a = {name: tensor.detach().numpy() for name, tensor in module.named_parameters()}
    gate, value = (seen @ a[f"weight{name}"].T for name in ("_gate", "_value"))
    expected = 3 * (value / (1 + np.exp(-gate))) @ a["weight_last"].T
    got = module(page.T.tensor(points)).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_what_an_embedding_cannot_be_is_told_at_its_line(page, config):
    text = config.read_text()
    config.write_text(text.replace("ridges: {count: 8}", "gated: {embedding: square}"))
    with pytest.raises(ConfigError) as raised:
        load(config)
    assert "model.gated.embedding.square: expected one embedding out of" in str(raised.value)
    assert "did you mean 'squares'?" in str(raised.value)


# ---- a stage that takes one gradient a step, and its rates


def test_a_first_order_stage_and_a_schedule_go_through_a_file(page, config, tmp_path):
    text = config.read_text(encoding="utf-8")
    stage = "signs: {steps: 5, learning_rate: 1e-2, warmup: 1, schedule: {stairs: {every: 2}}}"
    config.write_text(text.replace("descent: {steps: 6}", stage), encoding="utf-8")
    assert main(["train", str(config), "--out", str(tmp_path / "run"), "--quiet"]) == 0
    loaded = pinn.load(tmp_path / "run")
    made = page.Signs(5, learning_rate=1e-2, warmup=1, schedule=page.Stairs(every=2))
    assert loaded.experiment.training == (made,)
    rates = []
    pinn.solve(
        **loaded.experiment.arguments, callbacks=[lambda step: rates.append(step.learning_rate)]
    )
    assert rates == [5e-3, 1e-2, 1e-2, 5e-3, 5e-3]
