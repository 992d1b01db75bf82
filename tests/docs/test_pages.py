"""The code of README and of every page of docs/ runs, in order; links and commands are real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pinn.cli import main

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("run_page.py")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
CODED = [page for page in PAGES if re.search(r"^```(python|bash|yaml)$", TEXTS[page], re.M)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", CODED, ids=name)
def test_the_code_of_a_page_runs(page, tmp_path):
    done = subprocess.run(
        [sys.executable, RUNNER, page], capture_output=True, text=True, cwd=tmp_path, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), "AUTOGRAD_EXECUTOR": "numpy",
             "DDE_BACKEND": "pytorch"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page):
    prose = re.sub(r"^```.*?^```$", "", TEXTS[page], flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path) if path else page
        assert found.exists(), target
        if anchor:
            assert anchor in anchors(found.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_command_in_a_sentence_is_one_that_there_is(page, capsys):
    for line in re.findall(r"`python -m pinn ([a-z][^`]*)`", TEXTS[page].replace("\n", " ")):
        words = line.split()
        options = [word for word in words if word.startswith("--")]
        before = words[: words.index(options[0])] if options else words
        with pytest.raises(SystemExit) as end:
            main([*before, "--help"])
        told = capsys.readouterr()
        assert end.value.code == 0, told.err
        assert all(option in told.out for option in options), line
