"""Commands on files that were made to do harm: one message, an exit code, and no escapes raw."""

import json
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from pinn.checks import printable
from pinn.cli import main
from pinn.cli.output import say, tell
from pinn.files import read_npz, write_npz

from .conftest import HEAT

RED = "\x1b[31mred\x07\u202e"


@pytest.fixture
def forged(finished, folder):
    """A copy of a run that is done, to be forged."""
    shutil.copytree(finished, "run")
    return Path("run")


def test_what_a_terminal_would_act_on_is_escaped(capsys):
    say(f"name {RED}\n\tsecond line")
    tell(f"name {RED}")
    out, err = capsys.readouterr()
    assert out == "name \\x1b[31mred\\x07\\u202e\n\tsecond line\n"
    assert err == "name \\x1b[31mred\\x07\\u202e\n"
    assert printable("\u00fc \u03bd \ud800\r") == "\u00fc \u03bd \\ud800\\r"


def test_keys_of_a_config_are_told_without_their_escapes(folder, capsys):
    Path("a.yaml").write_text("'a\u202eb': 1\n" + HEAT)
    assert main(["check", "a.yaml"]) == 2
    assert "a.yaml:1: a\\u202eb: unknown key" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../x", "/x", "..", "a/b", ".hidden", "a\\tb", "", "a" * 101])
def test_a_name_leads_to_no_other_folder(folder, capsys, name):
    Path("a.yaml").write_text(HEAT.replace("name: heat", f'name: "{name}"'))
    assert main(["train", "a.yaml", "--quiet"]) == 2
    assert "a.yaml:2: problem.name: expected a" in capsys.readouterr().err
    assert sorted(os.listdir()) == ["a.yaml", "endless.yaml", "heat.yaml"]


def test_a_zero_byte_in_a_path_is_a_mistake_of_the_config(folder, capsys):
    Path("a.yaml").write_text(HEAT.replace("output: {", 'output: {directory: "a\\0b", '))
    assert main(["train", "a.yaml"]) == 2
    assert "a.yaml:17: the character U+0000 is not allowed" in capsys.readouterr().err


def test_a_pipe_is_no_config(folder, capsys):
    os.mkfifo("pipe.yaml")
    Path("configs").mkdir()
    os.mkfifo("configs/pipe.yaml")
    assert main(["check", "pipe.yaml"]) == 2
    assert "the file cannot be read: expected a plain file, got a pipe" in capsys.readouterr().err
    assert main(["list"]) == 0
    assert "configs/pipe.yaml  expected a plain file, got a pipe" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("interior: 1e15", "out of memory: Unable to allocate"),
        ("width: 1e15", "out of memory: Unable to allocate"),
        ("depth: 1e6", "expected a whole number from 1 to 1000, got '1e6'"),
        ("depth: 1e999", "expected a whole number from 1 to 1000, got '1e999'"),
    ],
)
def test_sizes_beyond_any_machine_are_refused_at_once(folder, capsys, change, said):
    key, _, value = change.partition(": ")
    path = "sampling.interior" if key == "interior" else f"model.{key}"
    assert main(["check", "heat.yaml", "--set", f"{path}={value}"]) in (2, 4)
    assert said in capsys.readouterr().err


def test_a_forged_summary_is_shown_without_its_escapes(forged, capsys):
    summary = json.loads((forged / "summary.json").read_text())
    summary["warnings"] = [f"{RED}\nstopped: all is well"]
    summary["message"], summary["stop_reason"] = RED, f"done\n{RED}"
    (forged / "summary.json").write_text(json.dumps(summary))
    (forged / f"{RED}.txt").write_text("")
    for command in (["show", "run"], ["list", "."], ["compare", "run", "run"]):
        assert main(["runs", *command]) == 0
        said = capsys.readouterr().out
        assert "\x1b" not in said and "\u202e" not in said and "\\x1b[31mred" in said
        assert "\nstopped: all is well" not in said


@pytest.mark.parametrize("text", ["{}", '{"stages": [{}]}', '{"rel_l2": 1}', "[", '{"steps": "1"}'])
def test_commands_on_a_run_with_a_forged_summary_end_in_a_sentence(forged, capsys, text):
    (forged / "summary.json").write_text(text)
    good = text == "{}"
    assert main(["runs", "list", "."]) == 0
    assert main(["runs", "show", "run"]) == (0 if good else 4)
    err = capsys.readouterr().err
    assert good or err.startswith("run/summary.json: expected ") and err.count("\n") == 1
    assert main(["train", "heat.yaml", "--out", "run", "--resume"]) == (0 if good else 4)


def damaged(name):
    """What somebody may have put into the arrays of a checkpoint."""
    arrays = read_npz("run/checkpoint.npz")
    progress = json.loads(arrays["progress"].tobytes())
    last = progress["last"]
    if name == "huge step":
        last["step"] = 2**70
    elif name == "other points":
        block = next(key for key in arrays if key.startswith("points/"))
        arrays[block] = arrays[block][:, :1]
    elif name == "no points":
        arrays = {key: array for key, array in arrays.items() if not key.startswith("points/")}
    elif name == "solver of another shape":
        key = next(key for key in arrays if key.startswith("solver/") and arrays[key].size > 1)
        arrays[key] = arrays[key].reshape(-1)[:-1]
    elif name == "no solver":
        arrays = {key: array for key, array in arrays.items() if not key.startswith("solver/")}
    elif name == "another stage":
        last["stage_index"] = 17
    elif name == "weights of others":
        arrays["weights/nobody"] = arrays.pop("weights/heat")
    elif name == "very many lines":
        arrays["metrics_lines"] = arrays["metrics_lines"] * 0 + 2**62
    arrays["progress"] = bytes_of(json.dumps(progress))
    write_npz("run/checkpoint.npz", arrays)


@pytest.mark.parametrize("kind", ["solver", "weights", "looks"])
def test_arrays_that_are_gone_are_named_and_the_checkpoint_before_is_taken(forged, capsys, kind):
    newest, before = forged / "checkpoint.npz", forged / "checkpoint.previous.npz"
    whole, arrays = newest.read_bytes(), read_npz(newest)
    gone = [name for name in arrays if name.startswith(f"{kind}/")]
    write_npz(newest, {n: a for n, a in arrays.items() if n not in gone})
    command = ["train", "heat.yaml", "--out", "run", "--extend", "--quiet",
               "--set", "training.1.lbfgs.steps=7"]  # fmt: skip
    assert main(command) == 4
    err = capsys.readouterr().err
    assert gone[0] in err.split("its array")[1].split("missing")[0]
    assert "restore it from a copy, or begin the run anew" in err
    before.write_bytes(whole)
    with pytest.warns(RuntimeWarning, match=f"goes on from {before.name}.*{gone[0]}.* missing"):
        assert main(command) == 0


def bytes_of(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    "name",
    ["huge step", "other points", "no points", "solver of another shape", "no solver",
     "another stage", "weights of others", "very many lines"],
)  # fmt: skip
def test_going_on_from_a_forged_checkpoint_ends_in_a_sentence(forged, capsys, name):
    damaged(name)
    (forged / "checkpoint.previous.npz").unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = main(["train", "heat.yaml", "--out", "run", "--extend", "--quiet",
                     "--set", "training.1.lbfgs.steps=7"])  # fmt: skip
    err = capsys.readouterr().err
    assert code in (2, 4), err
    assert "run/checkpoint.npz" in err or "run/metrics.jsonl" in err, err
