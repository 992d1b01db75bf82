"""`plot`: the figures of a run, drawn again."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pinn.cli import main
from pinn.files import read_npz, write_npz


def test_plot_draws_the_figures_again(finished, folder, capsys):
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    assert main(["plot", "run"]) == 0
    paths = capsys.readouterr().out.splitlines()
    assert sorted(paths) == [
        f"run/figures/{name}.png"
        for name in ("error_u", "field_u", "history", "points", "reference_u", "slices_u")
    ]
    assert all(Path(path).read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.parametrize(
    "options, names",
    [
        (
            ["--unknown", "u", "--format", "svg"],
            "field_u.svg reference_u.svg error_u.svg slices_u.svg",
        ),
        (["--at", "t=0.5"], "u_at_t=0.5.png"),
        (["--at", "t=0,0.5,1", "--log", "--error", "signed"], "u_at_t=0,0.5,1.png"),
        (["--animate"], "animation_u.gif"),
        (["--unknown", "u_x", "--format", "pdf"], "field_u_x.pdf slices_u_x.pdf"),
        (["--unknown", "u*u_x/k", "--at", "t=0.5"], "u-times-u_x-over-k_at_t=0.5.png"),
        (["--unknown", "u_t", "--animate"], "animation_u_t.gif"),
    ],
)
def test_plot_draws_what_is_asked_for(finished, folder, capsys, monkeypatch, options, names):
    monkeypatch.setattr("pinn.runs.figures._FRAMES", 3)
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    assert main(["plot", "run", "--dpi", "30", *options]) == 0
    paths = capsys.readouterr().out.splitlines()
    assert paths == [f"run/figures/{name}" for name in names.split()]
    assert all(Path(path).stat().st_size > 1000 for path in paths)


@pytest.mark.parametrize(
    "options, message",
    [
        (["--unknown", "w"], "--unknown: unknown name 'w'; the names here are u, x, t, k,"),
        (["--unknown", "u*"], "--unknown: expected a number, a name or '(', but the text ends"),
        (
            ["--unknown", "k"],
            "--unknown: 'k' is the same everywhere, and no field; expected an "
            "unknown (u) or an expression with one in it",
        ),
        (
            ["--out", "u.jpg"],
            "--out: expected a name that ends in .png, .pdf or .svg, or a folder, "
            "got u.jpg; one that is still to be made has / at its end",
        ),
        (["--out", "u.png", "--animate"], "expected a name that ends in .gif or .mp4, or a folder"),
        (
            ["--out", "u.png", "--format", "svg"],
            "--out: expected a name that ends in .svg, as --format says, got u.png",
        ),
        (
            ["--out", "u.gif", "--animate", "mp4"],
            "--out: expected a name that ends in .mp4, as --animate says, got u.gif",
        ),
        (
            ["--out", "u.png", "--unknown", "u", "--unknown", "u_x"],
            "--out: u.png is one figure, of one of u, u_x: name it with --unknown, or give a "
            "folder",
        ),
        (["--at", "t"], "--at: expected a coordinate and a number such as t=0.5, got 't'"),
        (["--at", "t=now"], "--at: expected a coordinate and a number such as t=0.5, got 't=now'"),
        (["--at", "t=nan"], "--at: expected a coordinate and a number"),
        (["--at", "t=0", "--at", "t=1"], "--at: t is given twice; write t=0,0.5,1"),
        (["--at", "y=1"], "expected coordinates out of x, t, got 'y'"),
        (["--at", "x=0", "--at", "t=1"], "every coordinate is held"),
        (["--at", "t=1", "--animate"], "'t' moves on; hold another coordinate"),
        (["--at", "x=0,1", "--animate"], "--animate: expected one value of x, got several"),
    ],
)
def test_plot_tells_what_it_cannot_draw(finished, folder, capsys, options, message):
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    assert main(["plot", "run", *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("run/figures").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        (["--dpi", "0"], "expected a whole number from 20 to 1200, got '0'"),
        (["--format", "bmp"], "invalid choice: 'bmp'"),
        (["--animate", "avi"], "invalid choice: 'avi'"),
    ],
)
def test_plot_refuses_options_without_a_meaning(folder, capsys, options, message):
    with pytest.raises(SystemExit) as caught:
        main(["plot", "run", *options])
    assert caught.value.code == 2 and message in capsys.readouterr().err


def test_plot_without_ffmpeg_says_what_to_do(finished, folder, capsys, monkeypatch):
    from matplotlib.animation import FFMpegWriter

    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    assert main(["plot", "run", "--animate", "mp4"]) == 2
    assert "install it, or take gif" in capsys.readouterr().err


@pytest.mark.parametrize("run", ["nowhere", "heat.yaml", "."])
def test_plot_refuses_what_is_no_run(folder, capsys, run):
    assert main(["plot", run]) == 2
    assert "expected a run directory" in capsys.readouterr().err


def test_plot_of_a_damaged_solution_is_a_disk_failure(finished, folder, capsys):
    shutil.copytree(finished, "run")
    Path("run/solution.npz").write_bytes(Path("run/solution.npz").read_bytes()[:-200])
    assert main(["plot", "run"]) == 4
    assert "run/solution.npz" in capsys.readouterr().err


def test_plot_draws_a_solution_that_was_trained_on_a_gpu(finished, folder):
    shutil.copytree(finished, "run")
    arrays = read_npz("run/solution.npz")
    assert '"device": "cpu"' in str(arrays["experiment"])
    text = str(arrays["experiment"]).replace('"device": "cpu"', '"device": "cuda"')
    write_npz("run/solution.npz", {**arrays, "experiment": np.array(text)})
    assert main(["plot", "run"]) == 0


def test_plot_of_a_model_of_ones_own_is_refused(finished, folder, capsys):
    shutil.copytree(finished, "run")
    arrays = read_npz("run/solution.npz")
    experiment = json.loads(str(arrays["experiment"]))
    experiment["model"] = {"not_saved": "Special"}
    write_npz("run/solution.npz", {**arrays, "experiment": np.array(json.dumps(experiment))})
    assert main(["plot", "run"]) == 2
    assert "whose class a file cannot hold" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["{}", '{"step": 1, "losses": []}', "nothing"])
def test_plot_of_damaged_metrics_names_the_line(finished, folder, capsys, line):
    shutil.copytree(finished, "run")
    lines = Path("run/metrics.jsonl").read_text().splitlines()
    Path("run/metrics.jsonl").write_text("\n".join([*lines[:2], line, *lines[3:], ""]))
    assert main(["plot", "run"]) == 4
    assert capsys.readouterr().err.startswith("run/metrics.jsonl:3: expected ")


@pytest.mark.parametrize("options, path", [
    (["--out", "u.pdf"], "u.pdf"),
    (["--out", "new/slopes.svg", "--unknown", "u_x", "--at", "t=0,1"], "new/slopes.svg"),
    (["--out", "u.gif", "--animate"], "u.gif"),
])  # fmt: skip
def test_one_figure_goes_to_the_file_that_is_named(
    finished, folder, capsys, monkeypatch, options, path
):
    monkeypatch.setattr("pinn.runs.figures._FRAMES", 3)
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    assert main(["plot", "run", *options]) == 0
    assert capsys.readouterr().out.splitlines() == [path]
    begins = {".pdf": b"%PDF", ".svg": b"<?xml", ".gif": b"GIF8"}[Path(path).suffix]
    assert Path(path).read_bytes().startswith(begins)
    assert not Path("run/figures").exists()


@pytest.mark.parametrize("out", ["there", "new/deep", "v1.2/"])
def test_figures_go_to_the_folder_that_is_named(finished, folder, capsys, out):
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    Path("there").mkdir()
    assert main(["plot", "run", "--out", out, "--format", "svg", "--unknown", "u_x"]) == 0
    names = ["field_u_x.svg", "slices_u_x.svg"]
    assert capsys.readouterr().out.splitlines() == [str(Path(out, name)) for name in names]
    assert sorted(path.name for path in Path(out).iterdir()) == names


@pytest.mark.parametrize("out, there", [("u.png", "u.png"), ("here", "here/field_u.png")])
def test_figures_that_are_there_are_not_written_over_unless_asked(
    finished, folder, capsys, out, there
):
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    Path("here").mkdir()
    Path(there).write_text("precious")
    plot = ["plot", "run", "--out", out, "--unknown", "u", "--dpi", "30"]
    assert main(plot) == 2
    said = f"{there} is there already, and nothing is written over it without --overwrite"
    assert said in capsys.readouterr().err
    assert Path(there).read_text() == "precious"
    assert main([*plot, "--overwrite"]) == 0
    assert Path(there).read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_cannot_be_made_is_told_of(finished, folder, capsys):
    Path("taken").write_text("")
    plot = ["plot", str(finished), "--unknown", "u", "--out"]
    assert main([*plot, "taken"]) == 2
    assert "--out: expected a folder, but taken is a file" in capsys.readouterr().err
    assert main([*plot, "taken/below"]) == 4
    assert "cannot make taken/below: not a directory" in capsys.readouterr().err.lower()
