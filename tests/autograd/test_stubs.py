"""What type checkers are told of Tensor's methods and of the namespaces is what is there."""

import ast
import subprocess
import sys

import pytest

import autograd
from autograd import stubs

STUBS = {path.relative_to(stubs.FOLDER).as_posix(): path for path in stubs.texts()}


def declared(name):
    """The functions and classes that a stub declares, by name, as text."""
    tree = ast.parse(stubs.texts()[STUBS[name]])
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.setdefault(node.name, []).append(node)
    return found


@pytest.mark.parametrize("name", STUBS)
def test_the_stub_is_up_to_date(name):
    assert STUBS[name].read_text(encoding="utf-8") == stubs.texts()[STUBS[name]], (
        "the operations changed: run `python -m autograd.stubs`"
    )


def test_the_stubs_do_not_depend_on_what_is_loaded():
    script = (
        "from autograd import stubs; from pathlib import Path\n"
        "print(all(path.read_text() == text for path, text in stubs.texts().items()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.parametrize("name", STUBS)
def test_the_stub_has_every_name_that_it_uses(name):
    tree = ast.parse(STUBS[name].read_text(encoding="utf-8"))
    known = {"builtins", "int", "float", "str", "bool", "tuple", "list", "dict", "None", "type"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            known |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            known |= {target.id for target in targets}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used <= known | {"property"}


def test_what_stands_between_a_function_and_its_gate_is_declared():
    (relu,) = declared("nn/functional.pyi")["relu"]
    assert [one.arg for one in relu.args.args] == ["input", "inplace"]
    assert "from . import dtypes" not in STUBS["nn/functional.pyi"].read_text(encoding="utf-8")


def test_the_stub_declares_what_type_checkers_need():
    (operations,) = declared("operations.pyi")["Operations"]
    methods = {node.name: ast.unparse(node) for node in operations.body}
    assert methods["sin"] == "def sin(self) -> Tensor:\n    ..."
    assert methods["add_"] == "def add_(self, other: Any, *, alpha: Any=...) -> Tensor:\n    ..."
    assert methods["T"].startswith("@property")
    assert "backward" in methods and "numel" not in methods
    sums = [ast.unparse(node) for node in operations.body if node.name == "sum"]
    assert len(sums) == 2
    assert "dim: builtins.int | Sequence[builtins.int] | None" in sums[0]
    assert "axis: builtins.int" in sums[1] and "keepdims: builtins.bool" in sums[1]


def test_functions_have_the_keywords_of_the_gate():
    names = declared("__init__.pyi")
    (sin,), (add,) = names["sin"], names["add"]
    assert ast.unparse(sin) == (
        "def sin(input: Tensor, *, out: Tensor | None=...) -> Tensor:\n    ..."
    )
    assert ast.unparse(add).startswith("def add(input: Any, other: Any")
    results = [ast.unparse(form.returns) for form in names["where"]]
    assert results == ["tuple[Tensor, ...]", "Tensor"]
    assert "solve" in declared("linalg.pyi") and "mse_loss" in declared("nn/functional.pyi")


def test_every_public_name_of_the_package_is_in_its_stub():
    tree = ast.parse(STUBS["__init__.pyi"].read_text(encoding="utf-8"))
    known = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            known |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            known.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            known.add(node.target.id)
    modules = {"METHODS", *(n for n, v in vars(autograd).items() if type(v) is type(ast))}
    assert {name for name in dir(autograd) if not name.startswith("_")} - modules <= known
