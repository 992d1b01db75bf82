"""The wheel and the source archive: what is in them, and that they work away from the checkout."""

import email
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import pinn

ROOT = Path(__file__).parents[2]
FOLDERS = ("autograd", "configs", "docs", "experiments", "pinn", "tests")
FILES = ("CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py")
BUILD = """
import sys
from setuptools import build_meta
kind, where = sys.argv[1:]
print(getattr(build_meta, f"build_{kind}")(where))
"""


def has_setuptools():
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        return False
    return int(version.split(".")[0]) >= 77


pytestmark = pytest.mark.skipif(not has_setuptools(), reason="needs setuptools>=77 to build")


def build(kind, source, into):
    """Build without isolation and without a network, as a process of its own."""
    into.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(into)], cwd=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Package would be ignored" not in done.stdout + done.stderr
    (built,) = into.iterdir()
    return built


def is_shipped(path):
    return "__pycache__" not in path.parts and path.suffix not in (".lock", ".tmp")


def files_below(folder):
    return {
        path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*")
        if path.is_file() and is_shipped(path)
    }  # fmt: skip


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the checkout, as a user has it."""
    folder = tmp_path_factory.mktemp("source")
    for name in FOLDERS:
        junk = shutil.ignore_patterns("__pycache__", "*.lock", "*.tmp")
        shutil.copytree(ROOT / name, folder / name, ignore=junk)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def archive(source, tmp_path_factory):
    return build("sdist", source, tmp_path_factory.mktemp("sdist") / "dist")


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """The wheel of a checkout in which a version before was built."""
    old = source / "build" / "lib" / "pinn" / "a_module_that_is_gone.py"
    old.parent.mkdir(parents=True)
    old.write_text("")
    return build("wheel", source, tmp_path_factory.mktemp("wheel") / "dist")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the wheel's files alone: what pip makes of a wheel without scripts."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_has_the_packages_the_configs_and_the_license(wheel):
    code = files_below("autograd") | files_below("pinn")
    configs = {f"pinn/{path}" for path in files_below("configs")}
    meta = f"pinn-{pinn.__version__}.dist-info"
    told = {f"{meta}/{name}" for name in
            ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE",
             "top_level.txt")}  # fmt: skip
    assert set(members(wheel)) == code | configs | told
    assert {"pinn/py.typed", "autograd/py.typed", "autograd/__init__.pyi"} <= code
    assert any(path.endswith("data/diffusion.csv") for path in configs)


def test_what_the_wheel_says_of_itself(wheel):
    (metadata,) = [
        email.message_from_bytes(data) for name, data in members(wheel).items()
        if name.endswith("METADATA")
    ]  # fmt: skip
    assert (metadata["Name"], metadata["Version"]) == ("pinn", pinn.__version__)
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_payload().startswith("# pinn")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(metadata.get_all("Provides-Extra"))
    assert extras == set(project["optional-dependencies"])


def test_the_source_archive_has_what_a_checkout_has(archive):
    top = f"pinn-{pinn.__version__}/"
    with tarfile.open(archive) as tar:
        names = {member.name.removeprefix(top) for member in tar if member.isfile()}
    made = {"PKG-INFO", "setup.cfg"}
    there = {name for name in names - made if not name.startswith("pinn.egg-info/")}
    expected = set(FILES).union(*map(files_below, FOLDERS))
    assert there == expected


def test_the_source_archive_makes_the_same_wheel(archive, wheel, tmp_path):
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    again = members(build("wheel", unpacked, tmp_path / "dist"))
    direct = members(wheel)
    assert again.keys() == direct.keys()
    assert [name for name in again if again[name] != direct[name]] == []


def run(installed, folder, *arguments):
    """Run Python on the installed files, away from the checkout."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_packages_import_from_where_they_are_installed(installed, tmp_path):
    script = "import pinn, autograd; print(pinn.__file__); print(autograd.__file__); pinn.MLP"
    out = run(installed, tmp_path, "-c", script).split()
    assert [Path(line).parents[1] for line in out] == [installed, installed]


def test_the_command_trains_a_config_by_its_name(installed, tmp_path):
    listed = run(installed, tmp_path, "-m", "pinn", "list")
    assert str(installed / "pinn" / "configs" / "burgers.yaml") in listed
    few = ["--set", "training=[adam: {steps: 2}]", "--set", "model={mlp: {width: 4, depth: 1}}"]
    out = run(installed, tmp_path / "away", "-m", "pinn", "train", "diffusion_coefficient", *few)
    assert "results in runs/diffusion_coefficient-0" in out  # its data came with it
    assert (tmp_path / "away" / "runs" / "diffusion_coefficient-0" / "solution.npz").is_file()


def test_the_script_is_the_command(wheel):
    (scripts,) = [data for name, data in members(wheel).items() if name.endswith("points.txt")]
    (line,) = [line for line in scripts.decode().splitlines() if "=" in line]
    module, name = line.removeprefix("pinn = ").split(":")
    assert callable(getattr(__import__(module, fromlist=[name]), name))
