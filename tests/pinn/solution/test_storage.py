"""Solution files that are damaged, altered or made up: one error, and no harm."""

import json
import os
import random
import tracemalloc

import numpy as np
import pytest

import pinn
from autograd.devices import DeviceError
from pinn.files import DamagedFile, read_npz, write_npz
from pinn.solution.storage import FORMAT, experiment_json

# Nothing determines the coefficient, which is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")


@pytest.fixture(scope="module")
def solution():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1),
        ["u"],
        {"heat": "u_t - k*u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
        parameters=[pinn.Parameter("k", 0.5, lower=0)],
        reference={"u": "exp(-t)*sin(pi*x)"},
        name="heat",
    )
    return pinn.solve(
        problem, pinn.MLP(3, 1), pinn.Sampling(6, 3, 3), [pinn.Adam(3), pinn.LBFGS(2)],
        weighting={"initial_u": 2.0},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def path(tmp_path, solution):
    solution.save(tmp_path / "saved.npz")
    return tmp_path / "saved.npz"


def altered(path, **changes):
    write_npz(path, {**read_npz(path), **changes})


def is_the_same(loaded, solution):
    return (
        loaded.theta.tobytes() == solution.theta.tobytes()
        and loaded.report == solution.report
        and experiment_json(loaded.experiment) == experiment_json(solution.experiment)
    )


def test_flipped_bytes_are_noticed_or_change_nothing(path, solution):
    whole = path.read_bytes()
    noticed = 0
    # All of the two ends, where the sizes and names of an archive stand, and a part of the rest.
    places = {*range(0, 300), *range(300, len(whole) - 900, 61)}
    places |= {*range(len(whole) - 900, len(whole), 2)}
    for place in sorted(places):
        flipped = whole[place] ^ (0xFF if place % 2 else 1 << place % 8)
        path.write_bytes(whole[:place] + bytes([flipped]) + whole[place + 1 :])
        try:
            assert is_the_same(pinn.load(path), solution), place
        except DamagedFile:
            noticed += 1
    assert noticed > 0.5 * len(places)


def test_every_part_of_a_file_is_no_file(path):
    whole = path.read_bytes()
    for length in range(0, len(whole), 61):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFile):
            pinn.load(path)


def test_bytes_that_are_put_in_left_out_or_swapped_are_noticed(path, solution):
    whole = path.read_bytes()
    rng = random.Random(3)
    for _ in range(300):
        start, end = sorted(rng.sample(range(len(whole)), 2))
        piece = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 40)))
        path.write_bytes(
            rng.choice(
                [
                    whole[:start] + piece + whole[start:],
                    whole[:start] + whole[end:],
                    whole[:start] + piece + whole[start + len(piece) :],
                    whole[start:end] + whole[:start] + whole[end:],
                    whole + whole[start:end],
                    bytes(end - start) + whole[end:],
                ]
            )
        )
        try:
            assert is_the_same(pinn.load(path), solution)
        except DamagedFile:
            pass


@pytest.mark.parametrize(
    "part",
    [
        np.ones((3, 2)) + 1j,
        np.ones((3, 2), dtype=np.float32),
        np.ones((3, 2), dtype=np.int64),
        np.ones((3, 2), dtype=bool),
        np.full((3, 2), "1.0"),
        np.ones((3, 2), dtype=">f8"),
    ],
)
def test_weights_of_another_kind_are_refused(path, part):
    altered(path, **{"theta/model.weight0": part})
    with pytest.raises(DamagedFile, match=r"model.weight0: expected float64, got "):
        pinn.load(path)


@pytest.mark.parametrize("dtype", ["S3", "M8[s]", "m8[s]", "V8", "O"])
def test_weights_that_are_no_numbers_at_all_are_refused(path, dtype):
    arrays = read_npz(path)
    # Written by numpy: our own writer takes none of these.
    np.savez(path, **{**arrays, "theta/model.weight0": np.zeros((3, 2), dtype)})
    with pytest.raises(DamagedFile):
        pinn.load(path)


@pytest.mark.parametrize("name", ["format", "experiment", "report"])
@pytest.mark.parametrize(
    "value", [np.array(["{}", "{}"]), np.zeros(()), np.array(""), np.array("[" * 50_000)]
)
def test_texts_that_are_none_are_refused(path, name, value):
    altered(path, **{name: value})
    with pytest.raises(DamagedFile, match=r"saved\.npz: expected a solution or checkpoint"):
        pinn.load(path)


def places_in(value, place=()):
    """Every place in a JSON value, as a sequence of keys."""
    yield place
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, dict | list) else ():
        yield from places_in(value[key], (*place, key))


def put(value, place, new):
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = new


OTHERS = [None, [], {}, "x", -1, 0, 1.5, True, 10**400, 10**19, {"a": None}]


def test_a_report_of_another_form_is_refused_or_read(path, solution):
    arrays = read_npz(path)
    report = json.loads(str(arrays["report"]))
    read = 0
    for place in places_in(report):
        for other in OTHERS:
            changed = json.loads(str(arrays["report"]))
            if place:
                put(changed, place, other)
            else:
                changed = other
            write_npz(path, {**arrays, "report": np.array(json.dumps(changed))})
            try:
                loaded = pinn.load(path)
            except DamagedFile:
                continue
            read += 1
            loaded.report.summary()
            loaded.report.as_dict()
    assert read > 0


def test_a_file_from_before_runs_were_told_to_be_unsolved_is_read(path, solution):
    report = json.loads(str(read_npz(path)["report"]))
    del report["unsolved"]
    altered(path, report=np.array(json.dumps(report)))
    assert pinn.load(path).report.unsolved is False


def test_no_losses_are_no_list(path):
    report = json.loads(str(read_npz(path)["report"]))
    report["losses"] = []
    altered(path, report=np.array(json.dumps(report)))
    with pytest.raises(DamagedFile, match="report.losses: expected dict"):
        pinn.load(path)


def test_a_declaration_of_another_form_is_refused_or_read(path):
    arrays = read_npz(path)
    setup = json.loads(str(arrays["experiment"]))
    for place in places_in(setup):
        if not place or place == ("device",):
            continue
        for other in OTHERS:
            changed = json.loads(str(arrays["experiment"]))
            put(changed, place, other)
            write_npz(path, {**arrays, "experiment": np.array(json.dumps(changed))})
            try:
                pinn.load(path)
            except DamagedFile:
                pass


def test_a_model_that_is_only_declared_costs_no_memory(path):
    setup = json.loads(str(read_npz(path)["experiment"]))
    setup["model"]["mlp"]["width"] = 20_000
    setup["model"]["mlp"]["depth"] = 3
    altered(path, experiment=np.array(json.dumps(setup)))
    tracemalloc.start()
    with pytest.raises(DamagedFile, match="its model has 800120001 parameters and the file 14"):
        pinn.load(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_a_model_that_was_never_chosen_is_no_solution(path):
    setup = json.loads(str(read_npz(path)["experiment"]))
    altered(path, experiment=np.array(json.dumps({**setup, "model": "auto"})))
    with pytest.raises(DamagedFile, match="its model has not been chosen: it is auto"):
        pinn.load(path)


def test_a_file_of_another_kind_is_told_what_was_expected(tmp_path, path):
    other = tmp_path / "u.png"
    other.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(DamagedFile) as caught:
        pinn.load(other)
    assert str(caught.value) == (
        f"{other}: expected a solution file, the .npz of solution.save or the solution.npz of a "
        "run, but it is none, or a damaged one"
    )
    path.rename(tmp_path / "saved.bin")  # the name alone decides nothing
    assert pinn.load(tmp_path / "saved.bin").problem.name == "heat"


def test_features_of_hard_periods_are_read_back(tmp_path):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 2), ["u"], {"e": "u_xx + a*sin(pi*x)"},
        [pinn.Periodic("u", "x", hard=True), pinn.Periodic("a", "x", hard=True)],
        fields=[pinn.Field("a", ["x"], model=pinn.MLP(3, 1, features=["x_cos", "x_sin"]))],
    )  # fmt: skip
    model = pinn.MLP(4, 1, features=["x_cos", "x_sin**2"])
    solution = pinn.solve(problem, model, training=[pinn.Adam(steps=1)])
    solution.save(tmp_path / "one.npz")
    loaded = pinn.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(loaded.evaluate(x=0.3)["u"], solution.evaluate(x=0.3)["u"])


def test_a_solution_from_a_gpu_is_evaluated_on_the_cpu(path, solution):
    setup = json.loads(str(read_npz(path)["experiment"]))
    setup["device"] = "cuda"
    altered(path, experiment=np.array(json.dumps(setup)))
    loaded = pinn.load(path, device="cpu")
    assert loaded.experiment.device == "cpu"
    x, t = np.linspace(0, 1, 5), 0.5
    np.testing.assert_array_equal(loaded.evaluate(x=x, t=t)["u"], solution.evaluate(x=x, t=t)["u"])
    try:
        pinn.load(path)
    except DeviceError as error:
        assert "pinn.load(" in str(error) and 'device="cpu")' in str(error)
    with pytest.raises(ValueError, match="device: expected one of cpu, cuda, cuda:N, got 'abacus'"):
        pinn.load(path, device="abacus")


def test_the_format_is_named(path):
    assert str(read_npz(path)["format"]) == FORMAT
