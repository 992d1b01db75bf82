"""Types of the methods that operations add to Tensor, for editors and type checkers.

The files of `ops` put their functions on Tensor when they are imported, which no type checker can
see.  This writes their signatures to `operations.pyi`, whose class is a base of Tensor for type
checkers only:

    python -m autograd.stubs
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .signature import BY_NAME
from .tensor import Tensor

FOLDER = Path(__file__).parent
TARGET = FOLDER / "operations.pyi"
HEAD = '''"""Made by `python -m autograd.stubs`: what operations add to Tensor."""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .tensor import Tensor
'''


def added_names() -> list[str]:
    """Return the attributes of Tensor that its class statement does not define, sorted."""
    tree = ast.parse((FOLDER / "tensor.py").read_text(encoding="utf-8"))
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor").body
    defined = {"__module__", "__dict__", "__weakref__", "__doc__", "__annotations__"}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Assign):
            defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    return sorted(set(vars(Tensor)) - defined)


def text() -> str:
    """Return the stub."""
    names = added_names()
    hidden = {name for name in names if hasattr(builtins, name)}
    homes: dict[str, str] = {}
    lines = []
    for name in names:
        value = vars(Tensor)[name]
        if isinstance(value, property):
            lines += ["    @property", _method(name, value.fget, hidden, homes)]
        else:
            lines.append(_method(name, value, hidden, homes))
    imports = [f"from {module} import {name}" for name, module in sorted(homes.items())]
    head = HEAD.replace("from .tensor", "\n".join([*imports, "from .tensor"]))
    return f"{head}\nclass Operations:\n" + "\n".join(lines) + "\n"


def _method(name: str, function: Callable, hidden: set[str], homes: dict[str, str]) -> str:
    signature = inspect.signature(function)
    scope = inspect.unwrap(function).__globals__
    first, *others = signature.parameters.values()

    def typed(annotation: Any) -> str:
        if annotation is inspect.Signature.empty:
            return "Any"
        for word in re.findall(r"[A-Za-z_]\w*", annotation):
            home = getattr(scope.get(word), "__module__", "")
            if home.startswith(f"{__package__}.") and word != "Tensor":
                homes[word] = home.removeprefix(__package__)
        return re.sub(
            r"(?<![\w.])([a-z]+)\b",
            lambda m: f"builtins.{m[1]}" if m[1] in hidden else m[1],
            annotation,
        )

    parameters = [first.replace(name="self", annotation=first.empty)]
    for p in others:
        kinds = BY_NAME.get(p.name) if p.annotation == "Any" else None
        kind = typed(" | ".join(kinds) if kinds else p.annotation)
        default = p.default if p.default is p.empty else _Dots()
        parameters.append(p.replace(annotation=_Words(kind), default=default))
    shown = signature.replace(
        parameters=parameters, return_annotation=_Words(typed(signature.return_annotation))
    )
    clash = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    return f"    def {name}{shown}: ...{clash}"


class _Words(str):
    """An annotation that is printed without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Dots:
    def __repr__(self) -> str:
        return "..."


if __name__ == "__main__":
    import autograd

    assert autograd.Tensor is Tensor
    TARGET.write_text(text(), encoding="utf-8")
