"""The site builds without a warning, loads nothing from elsewhere, and leaves no name out."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import pinn

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Build the site, as README says."""
    for module in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(module, reason="needs the extra docs")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", DOCS, out],
        capture_output=True, text=True, cwd=ROOT, timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return out


class Loaded(HTMLParser):
    """Collects what a page loads by itself, without a click."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_loaded = tag == "link" and given.get("rel") not in ("next", "prev", "canonical")
        if tag in ("script", "img", "iframe", "source") or is_loaded:
            self.addresses += [given[key] for key in ("src", "href") if given.get(key)]


def test_every_page_is_there_and_loads_nothing_from_elsewhere(site):
    for page in DOCS.rglob("*.md"):
        made = (site / page.relative_to(DOCS)).with_suffix(".html")
        text = made.read_text(encoding="utf-8")
        loaded = Loaded()
        loaded.feed(text)
        assert loaded.addresses and not [one for one in loaded.addresses if "//" in one], made
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text(encoding="utf-8"))


def test_every_public_name_has_its_place_in_the_reference():
    listed = [
        name for page in sorted((DOCS / "api").glob("*.md"))
        for name in re.findall(
            r"^\.\. auto(?:class|function):: pinn\.(\w+)$", page.read_text(encoding="utf-8"), re.M
        )
    ]  # fmt: skip
    assert sorted(listed) == sorted(pinn.__all__)
