"""Config files: the objects they give, the mistakes they are told of, and their way to disk."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import pinn
from pinn.config import ConfigError, Override, load
from pinn.config.yaml_text import dump_yaml
from pinn.models import MODELS
from pinn.schema import dump

BURGERS = Path(__file__).parents[3] / "configs" / "burgers.yaml"

HEAT = """\
problem:
  domain: {x: [0, pi], t: {time: [0, 1]}}
  unknowns: [u]
  constants: {k: 1/2}
  equations:
    heat: u_t - k*u_xx
  conditions:
    - initial: {unknown: u, value: sin(x)}
    - dirichlet: {unknown: u, value: 0}
  reference: {u: exp(-k*t)*sin(x)}
"""


@pytest.fixture
def loaded(tmp_path):
    def load_text(text, *sets):
        path = tmp_path / "case.yaml"
        path.write_text(text)
        return load(path, [Override.parse(s, f"--set {s}") for s in sets])

    return load_text


@pytest.fixture
def refused(loaded, tmp_path):
    """The messages for a text, without the folder of the file."""

    def messages(text, *sets):
        with pytest.raises(ConfigError) as caught:
            loaded(text, *sets)
        return [str(c).replace(f"{tmp_path}/", "") for c in caught.value.complaints]

    return messages


def test_the_shipped_burgers_config_is_the_problem_in_python():
    experiment = load(BURGERS).experiment
    problem = experiment.problem
    assert problem.name == "burgers"
    assert problem.domain == pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
    assert problem.unknowns == ("u",)
    assert dict(problem.equations) == {"burgers": "u_t + u*u_x - nu*u_xx"}
    assert dict(problem.constants) == {"nu": 0.01 / math.pi}
    assert problem.conditions == (
        pinn.Initial("u", "-sin(pi*x)", hard=True),
        pinn.Dirichlet("u", 0.0, hard=True),
    )
    assert problem.reference == "cole-hopf"
    assert experiment.training == (pinn.LevenbergMarquardt(120, redraw=10),)


def test_a_config_can_be_a_problem_and_nothing_else(loaded):
    config = loaded(HEAT)
    experiment = config.experiment
    assert experiment.model == pinn.AutoModel()
    assert experiment.sampling == pinn.Sampling()
    assert experiment.training == pinn.Auto()
    assert (experiment.seed, experiment.precision, experiment.device) == (0, "float64", "cpu")
    assert experiment.weighting.blocks == {}
    assert config.directory == Path("runs/case-0")


@pytest.mark.parametrize("device, name", [
    ("cuda", "cuda"), ("cuda:0", "cuda"), ("cuda:1", "cuda:1"), ("cuda:12", "cuda:12"),
])  # fmt: skip
def test_a_gpu_goes_by_its_number_and_the_first_by_one_name(loaded, device, name):
    config = loaded(f"{HEAT}\ndevice: {device}\n")
    assert config.experiment.device == name
    assert yaml.safe_load(config.text())["device"] == name
    assert replace(config.experiment, device=device).device == name


def test_settings_reach_the_objects(loaded):
    config = loaded(
        HEAT + "model: {mlp: {width: 7, depth: 2, activation: sin}}\n"
        "sampling: {interior: 11, method: sobol}\n"
        "weighting: {initial_u: 5}\n"
        "training: [{lbfgs: {steps: 3}}, adam]\n"
        "seed: 4\nprecision: float32\noutput: {directory: here, log_every: 2}\n"
    )
    experiment = config.experiment
    assert experiment.model == pinn.MLP(width=7, depth=2, activation="sin")
    assert experiment.sampling == pinn.Sampling(interior=11, method="sobol")
    assert experiment.weighting.blocks == {"initial_u": 5.0}
    assert experiment.training == (pinn.LBFGS(steps=3), pinn.Adam())
    assert (experiment.seed, experiment.precision) == (4, "float32")
    assert (config.directory, config.log_every) == (Path("here"), 2)


def test_an_inverse_problem(loaded):
    text = HEAT.replace("constants: {k: 1/2}", "parameters: {k: {initial: 0.1, lower: 0}}")
    text = text.replace("exp(-k*t)", "exp(-t/2)")
    assert loaded(text).experiment.problem.parameters == (pinn.Parameter("k", 0.1, lower=0.0),)


def test_coordinates_may_be_named_like_yaml_booleans(loaded):
    text = HEAT.replace("x: [0, pi]", "y: [0, pi], n: [0, 1]").replace("u_xx", "u_yy")
    text = text.replace("sin(x)", "sin(y)")
    assert loaded(text).experiment.problem.domain.coordinates == ("y", "n", "t")


def test_overrides_reach_into_the_defaults(loaded):
    config = loaded(
        HEAT, "training.0.levenberg_marquardt.steps=10", "model.mlp.width=5",
        "problem.constants.k=2",
    )  # fmt: skip
    assert config.experiment.training[0].steps == 10
    assert config.experiment.training[1:] == tuple(pinn.default_training(0)[1:])
    assert config.experiment.model == pinn.MLP(width=5)
    assert config.experiment.problem.constants["k"] == 2.0


def test_overrides_name_a_model_and_stages_in_place_of_the_defaults(loaded):
    experiment = loaded(
        HEAT, "training.0.adam.steps=20", "training.1.lbfgs.steps=30", "model.siren.width=5"
    ).experiment
    assert experiment.training == (pinn.Adam(steps=20), pinn.LBFGS(steps=30))
    assert experiment.model == pinn.Siren(width=5)


def test_a_stage_named_alone_beyond_the_defaults_is_refused(refused):
    (message,) = refused(HEAT, "training.7.adam.steps=20")
    assert message == (
        "--set training.7.adam.steps=20: training: the stages are chosen while it runs (auto), and "
        "there is none to change; write stages of your own in the file, as in training: "
        "[{adam: {steps: 20}}], or name them here, as in --set training.0.adam.steps=20"
    )


@pytest.mark.parametrize("training", ["", "training: auto\n", "training:\n"])
@pytest.mark.parametrize("change, said", [
    ("training.0.learning_rate=1e-3",
     "training: [{adam: {learning_rate: 1e-3}}], or name them here, as in --set "
     "training.0.adam.learning_rate=1e-3 (learning_rate is a setting of adam, "),
    ("training.learning_rate=1e-3", "--set training.0.adam.learning_rate=1e-3"),
    ("training.adam.learning_rate=1e-3", "--set training.0.adam.learning_rate=1e-3"),
    ("training.0.memory=7", "--set training.0.lbfgs.memory=7"),
    ("training.0.learning_rat=1", "(no stage has a setting 'learning_rat'; did you mean "
                                  "'learning_rate'?)"),
    ("training.first=adam", "--set training.0.adam.steps=2000"),
])  # fmt: skip
def test_a_setting_of_stages_that_are_chosen_is_refused_with_how_to_write_some(
    refused, training, change, said
):
    (message,) = refused(HEAT + training, change)
    assert "training: the stages are chosen while it runs (auto)" in message
    assert message.startswith(f"--set {change}: ") and said in message


def test_stages_may_be_named_where_the_file_says_auto(loaded):
    experiment = loaded(HEAT + "training: auto\n", "training.0.adam.steps=20").experiment
    assert experiment.training == (pinn.Adam(steps=20),)
    experiment = loaded(HEAT, "training=[adam, lbfgs]", "training.1.memory=7").experiment
    assert experiment.training == (pinn.Adam(), pinn.LBFGS(memory=7))


@pytest.mark.parametrize("source", [BURGERS.read_text(), HEAT], ids=["burgers", "heat"])
def test_the_resolved_config_gives_the_same_objects(loaded, source):
    first = loaded(source)
    second = loaded(first.text())
    assert second.data == first.data
    assert second.text() == first.text()
    assert second.experiment.problem.constants == first.experiment.problem.constants
    assert second.experiment.problem.domain == first.experiment.problem.domain
    assert second.experiment.training == first.experiment.training


def test_the_resolved_config_spells_out_every_default(loaded):
    written = yaml.safe_load(loaded(HEAT).text())
    assert written["model"] == {"auto": dump(pinn.AutoModel())}
    assert written["sampling"] == dump(pinn.Sampling())
    assert written["training"] == "auto"
    assert (written["seed"], written["precision"], written["device"]) == (0, "float64", "cpu")


@pytest.mark.parametrize(
    "value", [0.1, 1e-5, 1e300, -0.0, 2.0**53 + 2, 5e-324, math.pi, -3.0, 1e16, 123456789.125]
)
def test_numbers_keep_every_bit_on_their_way_to_disk(loaded, value):
    text = HEAT.replace("{k: 1/2}", f"{{k: {value!r}}}")
    again = loaded(loaded(text).text()).data["problem"]["constants"]["k"]
    assert (again, math.copysign(1, again)) == (value, math.copysign(1, value))


def test_texts_that_look_like_something_else_keep_on_their_way_to_disk(loaded):
    data = {"a": "null", "b": "1e-3", "c": "yes", "d": "x: y # z", "e": "-sin(pi*x)"}
    text = HEAT + "output: " + yaml.safe_dump({"directory": "~"}, default_flow_style=True)
    config = loaded(text)
    assert str(config.directory) == "~"
    assert loaded(config.text()).directory == config.directory
    assert yaml.safe_load(dump_yaml(data)) == data


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unknowns: [u]", "unknowns: []", "3: problem.unknowns: expected a list of names such as"),
        ("  unknowns: [u]\n", "", "2: problem.unknowns: missing; expected a list of names"),
        (
            "constants:",
            "constant:",
            "4: problem.constant: unknown key; valid keys: domain, unknowns, equations, "
            "conditions, constants, parameters, fields, families, function_spaces, tables, "
            "regions, piecewise, reference, units, layers, singularities, name; did you mean "
            "'constants'?",
        ),
        ("[0, pi]", "[1, 0]", "2: problem.domain.x: expected low < high, got low 1 and high 0"),
        ("[0, 1]", "[1, 1]", "2: problem.domain.t.time: expected low < high, got low 1 and high 1"),
        ("[0, pi]", "[0, pi, 4]", "2: problem.domain.x: expected [low, high] or {time: "),
        ("{time: [0, 1]}", "{tme: [0, 1]}", "2: problem.domain.t: expected [low, high] or {time:"),
        ("[0, pi]", "[0, q]", "2: problem.domain.x.1: expected a number such as 1e-3 or 0.01/pi"),
        ("x: [0, pi]", "x: {time: [0, 1]}", "2: problem.domain: a domain has at most one time"),
        ("{k: 1/2}", "{k: yes}", "4: problem.constants.k: unknown name 'yes'"),
        ("{k: 1/2}", "{k: 1/2, x: 1}", "4: problem.constants.x: 'x' is declared as a coordinate"),
        ("{k: 1/2}", "{k: 1/2, sin: 1}", "4: problem.constants.sin: 'sin' cannot name a constant"),
        ("{k: 1/2}", "{k: 1/2, u_x: 1}", "4: problem.constants.u_x: 'u_x' cannot name a constant"),
        ("unknowns: [u]", "unknowns: [u, u]", "3: problem.unknowns.1: 'u' is declared"),
        ("k*u_xx", "k*u_xy", "6: problem.equations.heat: "),
        ("k*u_xx", "q*u_xx", "6: problem.equations.heat: "),
        ("k*u_xx", "k*u_xx +", "6: problem.equations.heat: "),
        ("k*u_xx", "__import__('os')", "6: problem.equations.heat: "),
        ("sin(x)}", "sin(z)}", "8: problem.conditions.0.initial.value: "),
        (
            "initial: {unknown: u",
            "initial: {unknown: v",
            "8: problem.conditions.0.initial.unknown: expected one of the unknowns u, got 'v'",
        ),
        (
            "initial: {unknown: u,",
            "initial: {unknown: u, order: 2,",
            "8: problem.conditions.0.initial.order: ",
        ),
        ("    - initial:", "    - intial:", "8: problem.conditions.0.intial: expected one "),
        ("value: 0}", "value: 0, on: x=9}", "9: problem.conditions.1.dirichlet.on: no face 'x=9'"),
        (
            "value: 0}", "value: 0, true: x=0}",
            "9: problem.conditions.1.dirichlet.true: unknown key; valid keys: unknown, value, on, "
            "hard, power; PyYAML makes true of on: write 'on' in quotes",
        ),
        ("t: {time: [0, 1]}", "t: [0, 1]", "8: problem.conditions.0: an initial condition"),
        ("{u: exp(-k*t)*sin(x)}", "colehopf", "10: problem.reference: expected one of cole-hopf"),
        ("{u: exp(-k*t)*sin(x)}", "{v: 1}", "10: problem.reference.v: expected one of "),
        ("{u: exp(-k*t)*sin(x)}", "{u: u_x}", "10: problem.reference.u: "),
    ],
)
def test_a_mistake_in_the_problem_is_told_with_line_and_key(refused, old, new, message):
    assert HEAT.count(old) == 1 or old in ("sin(x)}", "[0, 1]")
    messages = refused(HEAT.replace(old, new, 1))
    assert messages[0].startswith(f"case.yaml:{message}"), messages


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("modl: mlp", "modl: unknown key; valid keys: problem, model, sampling, weighting, "),
        (
            "model: mpl",
            f"model.mpl: expected one model out of {', '.join(MODELS)}, got 'mpl'; did you mean "
            "'mlp'?",
        ),
        ("model: {mlp: {width: ten}}", "model.mlp.width: expected a whole number >= 1, got 'ten'"),
        ("model: {mlp: {width: 0}}", "model.mlp.width: expected a whole number >= 1, got '0'"),
        ("model: {mlp: {activation: relu}}", "model.mlp.activation: expected one of tanh, "),
        ("sampling: {interior: -1}", "sampling.interior: expected a whole number >= 1, got '-1'"),
        ("sampling: 5", "sampling: expected a mapping with keys out of interior, "),
        ("weighting: {initial_u: -1}", "weighting.initial_u: expected a number >= 0, got '-1'"),
        ("weighting: {heet: 2}", "weighting.heet: expected a block out of heat, initial_u, "),
        ("training: adam", "training: expected auto or a list of training stages, got 'adam'"),
        ("training: []", "training: expected a list of training stages, got a list of 0 items"),
        ("training: [adma]", "training.0.adma: expected one training stage out of adam, soap"),
        ("training: [adam: {step: 3}]", "training.0.adam.step: unknown key; valid keys: steps, "),
        ("training: [adam: {steps: 1.5}]", "training.0.adam.steps: expected a whole number"),
        ("training: [adam: {learning_rate: 0}]", "training.0.adam.learning_rate: expected a "),
        ("precision: double", "precision: expected one of float64, float32, got 'double'"),
        ("device: cuda:x", "device: expected one of cpu, cuda, cuda:N, got 'cuda:x'"),
        ("device: gpu", "device: expected one of cpu, cuda, cuda:N, got 'gpu'"),
        ("seed: -1", "seed: expected a whole number >= 0, got '-1'"),
        ("output: {log_every: 0}", "output.log_every: expected a whole number >= 1, got '0'"),
        ("problem: {}", "the key 'problem' is given twice (first at case.yaml:1); keep one"),
    ],
)
def test_a_mistake_in_another_section_is_told_with_line_and_key(refused, line, message):
    messages = refused(HEAT + line + "\n")
    assert len(messages) == 1
    assert messages[0].startswith(f"case.yaml:11: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("units: {x: m}", "units: unknown key; .*; did you mean problem\\.units\\?"),
        ("constants: {k: 1}", "constants: unknown key; .*; did you mean problem\\.constants\\?"),
        ("log_every: 5", "log_every: unknown key; .*; did you mean output\\.log_every\\?"),
        ("interior: 5", "interior: unknown key; .*; did you mean sampling\\.interior\\?"),
    ],
)
def test_a_key_that_belongs_in_a_section_is_told_with_the_section(refused, line, message):
    (found,) = refused(HEAT + line + "\n")
    assert re.fullmatch(f"case.yaml:11: {message}", found)


@pytest.mark.parametrize(
    ("old", "new", "point"),
    [
        ("{k: 1/2}", "{k: 0,05}", "write k: 0.05"),
        ("{k: 1/2}", "{k: -12,5e-3}", "write k: -12.5e-3"),
        ("{k: 1/2}", "{k: '0,05'}", "0.05"),
        ("  unknowns: [u]", "  parameters: {q: 1,5}\n  unknowns: [u]", "write q: 1.5"),
        ("unknown: u, value: 0}", "unknown: u, value: 0,5}", "write value: 0.5"),
    ],
)
def test_a_number_with_a_comma_is_told_with_its_point(refused, old, new, point):
    assert f"; a number has a decimal point: {point}" in refused(HEAT.replace(old, new, 1))[0]


@pytest.mark.parametrize("constants", ["{k: 1/2, 05: 1}", "{k: pi, 05: }", "{05: }"])
def test_a_key_that_is_no_part_of_a_number_is_told_without_one(refused, constants):
    assert "decimal point" not in refused(HEAT.replace("{k: 1/2}", constants, 1))[0]


def test_an_unknown_name_shows_the_equation_with_a_caret(refused):
    (message,) = refused(HEAT.replace("k*u_xx", "kk*u_xx"))
    lines = message.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == "u_t - kk*u_xx")
    assert lines[at + 1].index("^") == lines[at].index("kk")


def test_all_mistakes_are_told_at_once_in_file_order(refused):
    text = HEAT.replace("k*u_xx", "q*u_xx").replace("[0, pi]", "[9, pi]") + "sed: 3\n"
    first = refused(text, "training.0.adam.steps=x")
    assert [message.split(": ")[0] for message in first] == [
        "case.yaml:2",
        "case.yaml:11",
        "--set training.0.adam.steps=x",
    ]
    text = HEAT.replace("k*u_xx", "q*u_xx").replace("sin(x)}", "sin(q)}", 1)
    assert [message.split(": ")[0] for message in refused(text)] == ["case.yaml:6", "case.yaml:8"]


def test_a_mistake_in_an_override_names_the_override(refused):
    assert refused(HEAT, "model.mlp.width=ten") == [
        "--set model.mlp.width=ten: model.mlp.width: expected a whole number >= 1, got 'ten'"
    ]


def test_a_file_without_a_mapping_is_refused(refused):
    assert refused("") == ["case.yaml:1: expected a mapping with the key problem, got nothing"]
    assert refused("[1]") == [
        "case.yaml:1: expected a mapping with the key problem, got a list of 1 item"
    ]


def test_a_file_without_a_problem_is_refused(refused):
    assert refused("seed: 3\n")[0].startswith("case.yaml:1: problem: missing; expected a mapping")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[u]", "[u, v]", "3: problem.unknowns: v appear in no equation"),
        ("u_t - k*u_xx", "k*x", "6: problem.equations.heat: expected at least one"),
        ("{u: exp(-k*t)*sin(x)}", "cole-hopf", "10: problem.reference: reference 'cole-hopf' "),
    ],
)
def test_what_the_problem_itself_refuses_is_told_at_its_key(refused, old, new, message):
    (told,) = refused(HEAT.replace(old, new))
    assert told.startswith(f"case.yaml:{message}")


@pytest.mark.parametrize("text, said", [
    ("model: auto\n", "model.auto.random_features: this model is auto, and random_features is"),
    ("model: {mlp: {width: 5}}\n", "model.mlp.random_features: this model is mlp, and"),
])  # fmt: skip
def test_a_key_of_another_model_is_told_how_to_name_that_one(refused, loaded, text, said):
    (message,) = refused(HEAT + text, "model.random_features.width=50")
    assert message.startswith(f"--set model.random_features.width=50: {said}")
    assert message.endswith("--set 'model={random_features: {...}}'")
    # as it says
    model = loaded(HEAT + text, "model={random_features: {width: 50}}").experiment.model
    assert model.width == 50 and isinstance(model, pinn.RandomFeatures)
