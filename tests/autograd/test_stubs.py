"""The types of Tensor's methods are those of the operations."""

import ast

from autograd import stubs


def test_the_stub_is_up_to_date():
    assert stubs.TARGET.read_text(encoding="utf-8") == stubs.text(), (
        "the operations changed: run `python -m autograd.stubs`"
    )


def test_the_stub_declares_what_type_checkers_need():
    (operations,) = [n for n in ast.parse(stubs.text()).body if isinstance(n, ast.ClassDef)]
    methods = {node.name: ast.unparse(node) for node in operations.body}
    assert methods["sin"] == "def sin(self) -> Tensor:\n    ..."
    assert methods["add_"] == "def add_(self, other: Any, *, alpha: Any=...) -> Tensor:\n    ..."
    assert "dim: builtins.int | Sequence[builtins.int] | None" in methods["sum"]
    assert methods["T"].startswith("@property")
    assert "backward" in methods and "numel" not in methods
