"""The benchmark program: a whole short run of ours, the floor, and how figures are judged."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def run(*arguments):
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "experiments.bench", *arguments],
        capture_output=True, text=True, cwd=ROOT, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def test_a_quick_run_writes_results_table_and_figure(tmp_path):
    done = run(
        "--quick", "--rows", "burgers-20-small-f64", "--engines", "ours", "products",
        "--rounds", "2", "--threads", "1", "--no-scaling", "--no-training",
        "--out", str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "bench_quick.json").read_text())
    (row,) = results["rows"]
    entry = row["engines"]["ours"]["numpy"]
    assert 0 < entry["fastest_ms"] <= entry["ms"]
    assert entry["first_call_s"] > 0 and entry["steps"] >= 2
    # The seconds of one thread, by kind of call, add up to the whole.
    profile = entry["profile"]
    total = sum(kind["ms"] for kind in profile["kinds"].values())
    assert total == pytest.approx(profile["ms_one_thread"], rel=1e-2)
    assert row["cold"]["ours"]["above_interpreter_mib"] > 1
    assert row["cold"]["ours"]["empty_cache_s"] > 0
    assert row["summary"]["products_ms"] > 0
    assert results["machine"]["cores"] >= 1 and "numpy" in results["versions"]
    text = (tmp_path / "bench_quick.md").read_text() + json.dumps(results)
    assert str(tmp_path) not in text and str(ROOT) not in text
    assert (tmp_path / "bench_quick_rows.png").read_bytes().startswith(b"\x89PNG")
    assert "burgers-20-small-f64" in done.stdout


def test_an_unknown_row_or_engine_is_refused_with_the_names(tmp_path):
    done = run("--rows", "burgers-65", "--out", str(tmp_path / "none"))
    assert done.returncode == 2
    assert "'burgers-65'" in done.stderr and "burgers-64-f32" in done.stderr
    assert not (tmp_path / "none").exists()


def finite_difference_gradient(workload, seed, direction, h):
    """Return the loss's slope along a direction, with derivatives in x by nested differences."""
    nu = workload.constants["nu"]
    points = workload.draw_points(seed)
    initial = workload.parameters(seed)

    class Arrays:
        tanh, sin, cos = np.tanh, np.sin, np.cos

        @staticmethod
        def linear(x, weight, bias):
            return x @ weight.T + (0 if bias is None else bias)

        @staticmethod
        def join(parts):
            return np.concatenate(parts, axis=1)

    def loss(scale):
        given, start = {}, 0
        for name, array in initial.items():
            part = direction[start : start + array.size].reshape(array.shape)
            given[name] = array + scale * part
            start += array.size
        given |= workload.frozen(seed)

        def u(dx, dt):
            return workload.network(given, points + np.array([dx, dt]), Arrays)[:, 0]

        e = 1e-3  # fourth-order central differences: error about 1e-11 and rounding 1e-10
        slope = [1 / 12, -2 / 3, 0, 2 / 3, -1 / 12]
        curve = [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12]
        steps = (-2, -1, 0, 1, 2)
        u_x = sum(c * u(s * e, 0) for c, s in zip(slope, steps, strict=True)) / e
        u_t = sum(c * u(0, s * e) for c, s in zip(slope, steps, strict=True)) / e
        u_xx = sum(c * u(s * e, 0) for c, s in zip(curve, steps, strict=True)) / e**2
        return np.mean((u_t + u(0, 0) * u_x - nu * u_xx) ** 2)

    return loss(0.0), (loss(h) - loss(-h)) / (2 * h)


@pytest.mark.parametrize("kind", ["mlp", "modified"])
def test_our_step_has_the_loss_and_gradient_of_finite_differences(kind):
    from experiments.bench.adam import BETA1
    from experiments.bench.engines import ours
    from experiments.bench.network import Network
    from experiments.bench.workloads import NU, Workload

    workload = Workload(
        "small", ("u_t + u*u_x - nu*u_xx",), 40, "float64",
        Network(kind=kind, width=6, depth=2, features=3), constants={"nu": NU},
    )
    step = ours.prepare(workload, "numpy", seed=3, threads=1)
    loss = step.step()
    gradient = step.first_moment() / (1 - BETA1)
    direction = np.random.default_rng(0).standard_normal(gradient.size)
    expected, slope = finite_difference_gradient(workload, 3, direction, 1e-4)
    assert loss == pytest.approx(expected, rel=1e-6)
    assert gradient @ direction == pytest.approx(slope, rel=1e-5)


def test_the_floor_counts_the_channels_of_each_formulation():
    from experiments.bench.engines.products import channel_count
    from experiments.bench.workloads import select

    names = ["burgers-64-f32", "kuramoto-64-f64", "laplace3d-64-f32", "poisson10d-64-f32"]
    counts = [[channel_count(row, combined) for combined in (False, True)] for row in select(names)]
    # Burgers: u, u_x, u_t, u_xx, or with u_t - nu u_xx as one; the Laplacian: u, d slopes, a sum.
    assert counts == [[4, 3], [6, 5], [5, 5], [12, 12]]


def test_adam_is_the_textbook_recursion():
    from experiments.bench.adam import Adam

    rng = np.random.default_rng(1)
    theta = rng.standard_normal(5)
    expected, m, v = theta.copy(), np.zeros(5), np.zeros(5)
    adam = Adam(theta)
    for k in range(1, 6):
        g = rng.standard_normal(5)
        adam.update(g)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        expected -= 1e-3 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    np.testing.assert_allclose(theta, expected, rtol=1e-13)


def test_targets_say_by_how_much_they_are_missed():
    from experiments.bench.report import speed_table
    from experiments.bench.summary import summarize, targets

    row = {
        "workload": {"network": {"width": 64}},
        "engines": {
            "ours": {"numpy": {"ms": 10.0}},
            "objective": {"objective": {"ms": 10.5}},
            "torch": {"nested": {"ms": 40.0}},
            "jax": {"reverse": {"ms": 50.0}, "jet": {"ms": 15.0}},
            "products": {"plain": {"ms": 4.0}},
        },
    }
    row = {"name": "a", **row, "summary": summarize(row)}
    assert row["summary"]["best_peer"] == "jax jet"
    found = {t["target"]: t for t in targets({"rows": [row], "scaling": {}})}
    numpy_target = found["faster than the best peer, numpy"]
    assert (numpy_target["verdict"], numpy_target["missed_by"]) == ("missed", 0.5)
    assert found["time over matrix products"]["measured"] == 2.5
    assert found["faster than the best peer, compiled"]["verdict"] == "not measured"
    joined = found["objective over the blocks joined by hand"]
    assert (joined["measured"], joined["verdict"]) == (1.05, "hit")
    row["engines"]["ours-llvm"] = {"llvm": {"ms": 5.0}}  # what training would take
    row["summary"] = summarize(row)
    found = {t["target"]: t for t in targets({"rows": [row], "scaling": {}})}
    assert found["objective over the blocks joined by hand"]["missed_by"] == pytest.approx(1.0)
    assert "2.10x" in speed_table({"rows": [row]})


def test_the_objective_joins_the_residuals_as_the_hand_does():
    from experiments.bench.engines import ours
    from experiments.bench.network import Network
    from experiments.bench.workloads import select

    (row,) = select(["navier-stokes2d-64-f32"])
    row = replace(row, points=30, dtype="float64", network=Network(width=6, depth=2))
    steps = [ours.prepare(row, way, seed=3, threads=1) for way in ("numpy", "objective")]
    assert steps[0].step() == pytest.approx(steps[1].step(), rel=1e-12)
    np.testing.assert_allclose(*(step.first_moment() for step in steps), rtol=0, atol=1e-13)
    joined, objective = (step.plan() for step in steps)
    assert objective == joined and objective.startswith("4 channels")


def test_a_worker_that_takes_too_long_is_stopped_and_starts_again():
    from experiments.bench.engines import ENGINES
    from experiments.bench.remote import Failed, Remote
    from experiments.bench.workloads import select

    (row,) = select(["burgers-20-small-f64"])
    with Remote(ENGINES["products"], 1, 0, timeout=0.01) as remote:
        with pytest.raises(Failed, match=r"stopped after 0\.01 s"):
            remote.ask("memory")
        remote.timeout = 60.0
        reply = remote.ask("prepare", workload=row.to_json(), way="plain")
        assert reply["facts"]["stacked_rows"] == 4_000
        with pytest.raises(Failed, match="unknown"):
            remote.ask("run", way="unknown", steps=1)


def test_rows_measured_apart_are_taken_over(tmp_path):
    shipped = json.loads((ROOT / "experiments" / "results" / "bench.json").read_text())
    (tmp_path / "bench.json").write_text(json.dumps(shipped))
    rows = [{**row, "marked": True} for row in shipped["rows"][:2]]
    rows[0].pop("command", None)
    apart = {**shipped, "command": "python -m experiments.bench --rows a", "rows": rows}
    (tmp_path / "apart.json").write_text(json.dumps(apart))
    named = "--rows", rows[0]["name"]
    done = run("--merge", str(tmp_path / "apart.json"), "--out", str(tmp_path), *named)
    assert done.returncode == 0, done.stderr
    merged = json.loads((tmp_path / "bench.json").read_text())
    assert [r["name"] for r in merged["rows"]] == [r["name"] for r in shipped["rows"]]
    assert merged["rows"][0]["marked"] is True and "marked" not in merged["rows"][1]
    assert merged["rows"][0]["command"] == apart["command"]
    (tmp_path / "apart.json").write_text(json.dumps({**apart, "machine": {"cpu": "another"}}))
    done = run("--merge", str(tmp_path / "apart.json"), "--out", str(tmp_path))
    assert done.returncode == 2 and "expected machine" in done.stderr


def test_loops_of_both_libraries_give_one_gradient(tmp_path):
    pytest.importorskip("torch")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "experiments.bench.loops", "--quick", "--rounds", "1",
         "--out", str(tmp_path)],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "loops_quick.json").read_text())
    for row in results["rows"]:
        for way in ("eager", "compiled", "compiled-numba", "compiled-llvm"):
            assert row["engines"]["loop"][way]["gradient_difference"] < 1e-3, row["name"]
    assert "torch / llvm" in (tmp_path / "loops_quick.md").read_text()


def test_a_compiled_loop_gives_the_gradient_of_the_eager_one():
    from experiments.bench import workloads
    from experiments.bench.engines import loop

    workload = replace(workloads.LOOPS[2], points=200)
    eager, compiled = (loop.prepare(workload, way, 0, 1) for way in ("eager", "compiled"))
    losses = [step.step() for step in (eager, compiled)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-12)
    np.testing.assert_allclose(compiled.first_moment(), eager.first_moment(), atol=1e-15)


def test_no_product_is_faster_than_the_multiply_add_peak():
    from experiments.bench.peak import WIDTHS, peaks

    pytest.importorskip("llvmlite")
    found = peaks(rounds=3)
    if not found:
        pytest.skip("no compiler for this processor")
    for dtype, peak in found.items():
        assert peak["gflops"] > 0.1
        assert [one["width"] for one in peak["shares"]] == list(WIDTHS)
        for one in peak["shares"]:
            for name in ("product", "sum", "blas"):
                # work that is counted twice, or not done, would be seen
                assert 0 < one[name] < 1.5, (dtype, one)


def test_the_rate_of_a_config_is_that_between_lines_of_its_metrics(monkeypatch):
    from experiments.bench import training

    monkeypatch.setattr(training, "EXECUTORS", ("numpy",))
    monkeypatch.setattr(training, "STAGES", {"adam": ("training=[{{adam: {{steps: {}}}}}]", 20)})
    (found,) = training.rates(1, 100.0, lambda text: None)
    assert found["steps"] == 20 and 0.1 < found["rates"]["numpy"] < 1e5


def test_products_and_rates_are_judged():
    from experiments.bench.report import peak_table, training_table
    from experiments.bench.summary import targets

    share = {"width": 20, "product": 0.9, "sum": 0.7, "blas": 0.5}
    results = {
        "rows": [], "scaling": {},
        "peak": {"float64": {"gflops": 58.6, "shares": [share]}},
        "training": [
            {"solver": "adam", "rates": {"numpy": 5.0, "numba": 10.0, "llvm": 15.0}}
        ],
    }  # fmt: skip
    found = {t["target"]: t for t in targets(results)}
    assert found["products over the multiply-add peak"]["verdict"] == "hit"
    assert found["sums over points over the multiply-add peak"]["missed_by"] == pytest.approx(0.1)
    rate = found["steps a second, compiled over numba's loops"]
    assert (rate["measured"], rate["verdict"], rate["row"]) == (1.5, "missed", "burgers.yaml, adam")
    assert "| 90% " in peak_table(results) and "1.50x" in training_table(results)


def test_the_first_step_from_an_empty_cache_is_judged_by_engine():
    from experiments.bench.summary import summarize, targets

    row = {
        "name": "a", "workload": {"network": {"width": 64}}, "engines": {},
        "cold": {
            "ours": {"first_call_s": 0.1, "empty_cache_s": 0.2, "step_s": 0.01},
            "ours-llvm": {"first_call_s": 0.1, "empty_cache_s": 1.5, "step_s": 0.01},
        },
    }  # fmt: skip
    row["summary"] = summarize(row)
    found = {t["target"]: t for t in targets({"rows": [row], "scaling": {}})}
    assert found["first step from an empty cache, numpy, seconds"]["verdict"] == "hit"
    compiled = found["first step from an empty cache, compiled, seconds"]
    assert compiled["missed_by"] == pytest.approx(0.5)
