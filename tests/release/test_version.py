"""The version is said once, and what tells of it agrees."""

import re
import tomllib
from pathlib import Path

import autograd
import pinn

ROOT = Path(__file__).parents[2]


def test_the_distribution_has_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "pinn.__version__"}
    assert autograd.__version__ == pinn.__version__


def test_the_changelog_begins_with_this_version_in_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    versions = [one for one in headings if one != "[Unreleased]"]
    assert re.fullmatch(rf"\[{re.escape(pinn.__version__)}\] - (unreleased|\d{{4}}-\d\d-\d\d)",
                        versions[0])  # fmt: skip
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, flags=re.MULTILINE)) <= kinds


def test_the_license_is_the_one_that_is_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["license"], project["license-files"]) == ("MIT", ["LICENSE"])
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")
