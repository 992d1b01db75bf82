"""Bad input of every kind, and what was once found."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from experiments.fuzz import attempts  # noqa: E402
from experiments.fuzz.__main__ import CORPUS, _parts  # noqa: E402
from experiments.fuzz.attempts import Finding, attempt  # noqa: E402
from experiments.fuzz.page import page, summary  # noqa: E402
from experiments.fuzz.part import tried  # noqa: E402
from experiments.fuzz.targets import TARGETS, Target  # noqa: E402

FOUND = sorted(path.relative_to(CORPUS) for path in CORPUS.rglob("*.*"))
FEW = {"checks": 1, "configs": 3, "solutions": 5, "checkpoints": 10}


@pytest.mark.parametrize("file", FOUND, ids=str)
def test_what_was_once_found_is_taken_or_refused(file, tmp_path):
    target = TARGETS[file.parent.name]
    target.attempt((CORPUS / file).read_bytes(), tmp_path / f"case{target.suffix}")


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_of_every_kind_are_taken_or_refused(name, tmp_path):
    target, rng = TARGETS[name], np.random.default_rng(7)
    for _ in range(FEW.get(name, 50)):
        target.attempt(target.make(rng), tmp_path / f"case{target.suffix}")


def test_only_documented_errors_with_a_sentence_are_no_findings():
    def fail(error):
        def action():
            raise error

        return action

    assert attempt(lambda: None, ValueError) is True
    assert attempt(fail(ValueError("why")), ValueError) is False
    for error, what in [
        (KeyError("stages"), "KeyError at test_fuzz.py"), (ValueError(""), "without a word"),
        (ValueError("x" * 6000), "6000 characters"), (MemoryError(), "MemoryError"),
    ]:  # fmt: skip
        with pytest.raises(Finding, match=what):
            attempt(fail(error), ValueError)


def test_what_does_not_end_is_a_finding(monkeypatch):
    monkeypatch.setattr(attempts, "WAITED", 0.05)
    with pytest.raises(Finding, match="Hang"):
        attempt(lambda: time.sleep(60))


def test_findings_are_kept_with_their_inputs_and_told_in_the_page(tmp_path, monkeypatch):
    def wrong(data, path):
        raise Finding("KeyError: 'stages'")

    def make(rng):
        return b"%d" % rng.integers(3)

    monkeypatch.setitem(TARGETS, "yaml", Target(0.1, ".yaml", make, wrong))
    monkeypatch.setattr("experiments.fuzz.part._limit_memory", lambda: None)
    (part,) = _parts(100, 5, ["yaml"])
    row = tried(part._replace(corpus=str(tmp_path)))
    assert (row["inputs"], row["taken"], len(row["findings"])) == (10, 0, 1)
    (kept,) = (tmp_path / "yaml").iterdir()
    assert row["findings"] == [{"what": "KeyError: 'stages'", "file": f"yaml/{kept.name}"}]
    assert kept.read_bytes() in (b"0", b"1", b"2")
    assert summary([row])["findings"] == 1
    facts = {"cpu": "", "cores": 1}
    measured = {"command": "it", "machine": facts, "versions": {}, "executor": "numpy"}
    assert "- yaml: `KeyError: 'stages'`" in page([{**row, "measured": measured}])


def test_equal_seeds_give_equal_inputs_and_parts_share_none():
    parts = list(_parts(1_000_000, 0, ["expressions"]))
    assert sum(part.size for part in parts) == 400_000 and len(parts) == 20
    assert len({part.key for part in parts}) == len(parts)
    target = TARGETS["tables"]
    one, other = (
        [target.make(np.random.default_rng(seed)) for _ in range(2)] for seed in (1, 1)
    )
    assert one == other


def test_the_shares_of_all_kinds_are_one_whole():
    assert sum(target.share for target in TARGETS.values()) == pytest.approx(1)
