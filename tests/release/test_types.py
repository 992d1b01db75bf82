"""What editors and type checkers know: of a page of typical use, and of the README's examples."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = Path(__file__).with_name("typical_use.py")
INSTALLED = Path(sys.executable).parent


def mypy(files, folder):
    """As for a package that is installed: what is wrong in our own files is not told."""
    flags = ["--strict-equality", "--warn-unused-ignores", "--check-untyped-defs",
             "--follow-imports=silent", "--cache-dir", str(folder / "cache")]  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "mypy", *flags, *map(str, files)],
        capture_output=True, text=True, cwd=folder, env={"MYPYPATH": str(ROOT)},
    )  # fmt: skip


def pyright(files, folder):
    settings = (
        f'{{"extraPaths": ["{ROOT}"], "reportUnnecessaryTypeIgnoreComment": "error", '
        '"reportPrivateImportUsage": "error"}'
    )
    (folder / "pyrightconfig.json").write_text(settings)
    command = [INSTALLED / "pyright", "--pythonpath", sys.executable, *files]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.fixture(params=[mypy, pyright], ids=lambda checker: checker.__name__)
def checker(request):
    name = request.param.__name__
    if request.param is mypy:
        pytest.importorskip("mypy")
    elif shutil.which(name, path=str(INSTALLED)) is None:
        pytest.skip("needs pyright (pip install pyright)")
    return request.param


def programs():
    """The two programs of the README: what solves, and the autograd alone."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)
    solving = [block for block in blocks if "pinn." in block]
    return ["\n".join(solving), "\n".join(block for block in blocks if block not in solving)]


def test_the_types_of_typical_use_are_known(checker, tmp_path):
    files = [shutil.copy(PAGE, tmp_path)]
    for k, program in enumerate(programs()):
        files.append(tmp_path / f"readme_{k}.py")
        assert "import" in program
        files[-1].write_text(program)
    done = checker(files, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
