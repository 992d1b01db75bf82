"""What W&B keeps offline is read back; skipped without the package (see conftest.py)."""

import json
import struct
import time
from pathlib import Path

import pytest

import pinn

wandb = pytest.importorskip("wandb", reason="pip install 'pinn[wandb]'")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def records(folder):
    """The records of the only .wandb file below a folder."""
    from wandb.proto import wandb_internal_pb2

    (path,) = Path(folder).rglob("*.wandb")
    deadline = time.monotonic() + 60
    while True:  # W&B's own process may still be writing when the run is finished
        data = path.read_bytes()
        found = [wandb_internal_pb2.Record.FromString(one) for one in journal(data)]
        kinds = [one.WhichOneof("record_type") for one in found]
        if "exit" in kinds or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def journal(data):
    """The entries of a file in LevelDB's log format, after W&B's own seven bytes.

    Blocks of 32 KiB hold pieces with a header of seven bytes: checksum (4), length (2) and whether
    the piece is a whole entry (1), its first (2), middle (3) or last (4).
    """
    at, parts = 7, []
    while at < len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length, kind = struct.unpack("<HB", data[at + 4 : at + 7])
        parts.append(data[at + 7 : at + 7 + length])
        at += 7 + length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def named(items):
    return {"/".join(one.nested_key) or one.key: json.loads(one.value_json) for one in items}


def test_every_number_of_a_run_is_read_back(train, numbers_of_a_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    steps = {}
    train(pinn.WandB(project="small", every=3), lambda record: steps.update({record.step: record}))
    found = records(tmp_path)
    lines = [named(one.history.item) for one in found if one.WhichOneof("record_type") == "history"]
    numbers = [line for line in lines if "loss" in line]
    assert [line["step"] for line in numbers] == [1, 3, 6, 7, 9]
    assert numbers_of_a_line <= set(numbers[0]) | {"damping"}
    for line in numbers:
        assert line["loss"] == pytest.approx(steps[line["step"]].loss, rel=1e-12)
    assert {"event": "adam: all 6 steps done", "step": 6}.items() <= next(
        line for line in lines if str(line.get("event", "")).startswith("adam: all")
    ).items()
    assert any("figures/field_u/path" in line for line in lines)
    (run,) = [one.run for one in found if one.WhichOneof("record_type") == "run"][:1]
    config = {one.key: json.loads(one.value_json) for one in run.config.update}
    assert config["model"]["mlp"]["width"] == 4
    assert (run.project, run.display_name) == ("small", "decay-0")
    exits = [one.exit for one in found if one.WhichOneof("record_type") == "exit"]
    assert exits[-1].exit_code == 0


def test_the_run_directory_remembers_the_run(tmp_path, monkeypatch):
    from pinn.tracking.log import Opening

    monkeypatch.setenv("WANDB_MODE", "offline")
    first = pinn.WandB().open(Opening("a", {}, folder=tmp_path))
    first.close({}, "interrupted")
    name = json.loads((tmp_path / "wandb.json").read_text())["id"]
    assert Opening("a", {}, step=5, folder=tmp_path).remembered("wandb") == name
    assert Opening("a", {}, step=0, folder=tmp_path).remembered("wandb") is None
    (tmp_path / "wandb.json").write_text("{")
    assert Opening("a", {}, step=5, folder=tmp_path).remembered("wandb") is None
