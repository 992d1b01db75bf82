"""What `import pinn` costs and offers: names that are imported when they are first used."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pinn

# Processor time, which other processes on the machine do not change; that of numpy comes on top.
ALL_NAMES = """
import sys, time
import numpy
began = time.process_time()
from pinn import *
print(time.process_time() - began)
heavy = {"scipy", "matplotlib", "tqdm", "yaml", "cupy", "numba"}
print(*sorted(heavy & set(sys.modules)))
"""
HELP = """
import sys, time
began = time.process_time()
import pinn
from pinn.cli import main
try:
    main(["train", "--help"])
except SystemExit:
    pass
print(time.process_time() - began, file=sys.stderr)
print(*sorted({"numpy", "autograd", "yaml"} & set(sys.modules)), file=sys.stderr)
"""


def measured(script: str, stream: str, folder: Path) -> tuple[float, str]:
    """Return the least of three times that a script prints, and the modules it names.

    The modules are compiled once, into `folder`, as they are in an installed package.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        seconds, heavy = getattr(done, stream).split("\n")[:2]
        times.append(float(seconds))
    return min(times), heavy


def test_importing_every_name_is_quick_and_light(tmp_path):
    seconds, heavy = measured(ALL_NAMES, "stdout", tmp_path)
    assert heavy == ""
    assert seconds < 0.3


def test_help_does_not_wait_for_numpy(tmp_path):
    seconds, heavy = measured(HELP, "stderr", tmp_path)
    assert heavy == ""
    assert seconds < 0.1


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
    assert set(pinn.__all__) <= set(dir(pinn))


def test_no_module_hides_a_name():
    package = Path(pinn.__file__).parent
    assert not set(pinn.__all__) & {path.stem for path in package.iterdir()}


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'pinn' has no attribute 'Poblem'"):
        pinn.Poblem  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Poblem'"):
        from pinn import Poblem  # noqa: F401
