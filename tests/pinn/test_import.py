"""What `import pinn` costs and offers: names that are imported when they are first used."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pinn
from pinn.checks import PEERS
from pinn.conditions.condition import CONDITIONS
from pinn.geometry.declaration import SHAPES
from pinn.models.model import MODELS
from pinn.schema import fields_of

ALL_NAMES = """
import sys
from pinn import *
print(*sorted({"scipy", "matplotlib", "tqdm", "yaml", "cupy", "numba"} & set(sys.modules)))
"""
HELP = """
import sys
import pinn
from pinn.cli import main
try:
    main(["train", "--help"])
except SystemExit:
    pass
print(*sorted({"numpy", "autograd", "yaml"} & set(sys.modules)), file=sys.stderr)
"""


def heavy_modules(script: str, stream: str) -> str:
    """Return the modules that a script names after it imported what it needs."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return getattr(done, stream).strip()


def test_importing_every_name_is_light():
    assert heavy_modules(ALL_NAMES, "stdout") == ""


def test_help_does_not_wait_for_numpy():
    assert heavy_modules(HELP, "stderr") == ""


def test_type_checkers_see_the_names_where_they_are():
    tree = ast.parse(Path(pinn.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        statement.module: tuple(name.name for name in statement.names)
        for statement in block.body
    }
    assert seen == pinn._HOMES
    assert sorted(pinn._HOME) == sorted(pinn.__all__)


def test_every_name_is_there_and_listed():
    for name in pinn.__all__:
        assert getattr(pinn, name).__module__.startswith("pinn.")
    assert [name for name in dir(pinn) if not name.startswith("__")] == sorted(pinn.__all__)


def test_names_of_other_libraries_mean_names_that_are_there():
    families = (CONDITIONS, MODELS, SHAPES)
    classes = (pinn.MLP, pinn.Adam, pinn.SOAP, pinn.Muon, pinn.Sampling)
    fields = {name for cls in classes for name in fields_of(cls)}
    known = {*pinn.__all__, *fields, "cuda"}.union(*families)
    assert {name for names in PEERS.values() for name in names} <= known


def test_no_module_hides_a_name():
    package = Path(pinn.__file__).parent
    assert not set(pinn.__all__) & {path.stem for path in package.iterdir()}


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'pinn' has no attribute 'Poblem'"):
        pinn.Poblem  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Poblem'"):
        from pinn import Poblem  # noqa: F401


@pytest.mark.parametrize(
    ("name", "said"),
    [("Dirchlet", "; did you mean 'Dirichlet'?"), ("mlp", "; did you mean 'MLP'?"),
     ("Circle", "; did you mean 'Disk'?"), ("Rectangle", "; did you mean 'Box'?"),
     ("Sphere", "; did you mean 'Ball'?"), ("DirichletBC", "; did you mean 'Dirichlet'?"),
     ("IC", "; did you mean 'Initial'?"), ("FNN", "; did you mean 'MLP'?"),
     ("zzz", "; `python -m pinn list` shows what there is"), ("_private", "")],
)  # fmt: skip
def test_the_nearest_name_is_told(name, said):
    with pytest.raises(AttributeError) as caught:
        getattr(pinn, name)
    assert str(caught.value) == f"module 'pinn' has no attribute {name!r}{said}"


def test_looking_for_a_module_costs_no_search_for_names():
    script = "import sys, pinn; hasattr(pinn, 'checks'); hasattr(pinn, '__wrapped__')\n"
    assert heavy_modules(script + "print('difflib' in sys.modules)", "stdout") == "False"


REFUSED = """
try:
    import pinn
except ImportError as error:
    print(error)
"""


def refusal(folder, *path):
    """Import pinn where sys.path has these folders alone; return the one sentence that it says."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", REFUSED],  # -S: what is installed here is not seen
        capture_output=True, text=True, cwd=folder,
        env={"PYTHONPATH": os.pathsep.join(map(str, path))},
    )  # fmt: skip
    said = done.stdout.strip()
    assert "\n" not in said, done
    return said


@pytest.fixture
def installed(tmp_path):
    """A folder with pinn as it is, and no autograd."""
    folder = tmp_path / "installed"
    folder.mkdir()
    (folder / "pinn").symlink_to(Path(pinn.__file__).parent, target_is_directory=True)
    return folder


OWN = f'__version__ = "{pinn.__version__}"\n__distribution__ = "pinn"\n'


def package(folder, text):
    """Make a package autograd of one file; return the file."""
    (folder / "autograd").mkdir(parents=True)
    (folder / "autograd" / "__init__.py").write_text(text, encoding="utf-8")
    return folder / "autograd" / "__init__.py"


@pytest.mark.parametrize("left", ["another package", "an empty folder", "nothing", "an old one"])
def test_without_its_own_autograd_import_fails_with_one_sentence(installed, tmp_path, left):
    place = {"an empty folder": "what is left of it", "nothing": "none is installed"}.get(left)
    if left == "another package":
        place = f"{package(installed, 'from .core import grad')}, which is another package"
    elif left == "an old one":
        old = package(installed, OWN.replace(pinn.__version__, "0.0.3"))
        place = f"that of pinn 0.0.3 in {old}, and this is pinn {pinn.__version__}"
    elif left == "an empty folder":
        (installed / "autograd").mkdir()
    said = refusal(tmp_path, installed)
    assert said.startswith(
        f"pinn needs the package `autograd` that is installed with it, but found {place}: another "
    )
    assert "pip uninstall autograd" in said and "--force-reinstall --no-deps" in said


@pytest.mark.parametrize("command", [["-m", "pinn", "list"], ["-W", "error", "-mpinn"], None])
def test_the_command_line_says_the_sentence_alone(installed, tmp_path, command):
    if command is None:  # what pip makes of the entry point
        (tmp_path / "pinn").write_text("from pinn.cli import run\nrun()\n")
        command = [str(tmp_path / "pinn"), "list"]
    done = subprocess.run(
        [sys.executable, "-S", *command], capture_output=True, text=True, cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("pinn needs the package `autograd`")
    assert done.stderr.count("\n") == 1


def test_another_program_that_is_run_as_a_module_gets_the_error(installed, tmp_path):
    (tmp_path / "mine.py").write_text("import pinn")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "mine"], capture_output=True, text=True, cwd=tmp_path,
        env={"PYTHONPATH": os.pathsep.join([str(installed), str(tmp_path)])},
    )  # fmt: skip
    assert "ImportError: pinn needs the package `autograd`" in done.stderr


def test_its_own_autograd_is_taken(installed, tmp_path):
    package(installed, OWN)
    assert refusal(tmp_path, installed) == ""


@pytest.mark.parametrize("other", ["a file", "a folder", "an old one"])
def test_what_hides_autograd_is_told_to_be_renamed(installed, tmp_path, other):
    package(installed, OWN)
    here = tmp_path / "mine"
    here.mkdir()
    if other == "a file":
        hiding = here / "autograd.py"
        hiding.write_text("print('my notes')")
    else:
        old = OWN.replace(pinn.__version__, "9.9")
        hiding = package(here, old if other == "an old one" else "")
    said = refusal(here, here, installed)
    assert str(hiding) in said
    assert f"it hides the one in {installed / 'autograd'}" in said and "rename it" in said
    assert "pip" not in said


def test_a_folder_without_code_hides_nothing(installed, tmp_path):
    package(installed, OWN)
    (tmp_path / "mine" / "autograd").mkdir(parents=True)
    assert refusal(tmp_path / "mine", tmp_path / "mine", installed) == ""


def test_both_packages_are_typed_and_of_one_version():
    import autograd

    assert autograd.__version__ == pinn.__version__
    for package in (autograd, pinn):
        assert (Path(package.__file__).parent / "py.typed").is_file()
    project = tomllib.loads((Path(pinn.__file__).parents[1] / "pyproject.toml").read_text())
    data = project["tool"]["setuptools"]["package-data"]
    assert data["autograd"] == ["py.typed", "**/*.pyi"] and data["pinn"] == ["py.typed"]
