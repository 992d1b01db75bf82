"""Types of what is put together when the package is imported, for editors and type checkers.

The files of `ops` put their functions on Tensor, and `signature.publish` gives the functions of a
namespace PyTorch's and numpy's keywords.  No type checker can see either, so both are written down:

    python -m autograd.stubs

`operations.pyi` has a class with the methods, which is a base of Tensor for type checkers only.
The files of `NAMESPACES` are read in place of the modules beside them.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .signature import BY_NAME, NUMPY_NAMES, Signature
from .tensor import Tensor

FOLDER = Path(__file__).parent
OPERATIONS = FOLDER / "operations.pyi"
NAMESPACES = ("__init__", "fft", "linalg", "nn/functional", "special")
HEAD = '''"""Made by `python -m autograd.stubs`: {what}."""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

'''


def texts() -> dict[Path, str]:
    """Return the text of every stub by the path of its file."""
    found = {OPERATIONS: _operations()}
    for name in NAMESPACES:
        module = ".".join([__package__, *name.removesuffix("__init__").split("/")]).rstrip(".")
        package = f"{__package__}.{name}".replace("/", ".").rpartition(".")[0]
        found[FOLDER / f"{name}.pyi"] = _namespace(importlib.import_module(module), package)
    return found


_OF_ANY_CLASS = (
    "__module__", "__dict__", "__weakref__", "__doc__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__annotate_func__", "__annotations_cache__",
)  # fmt: skip


def added_names() -> list[str]:
    """Return the attributes of Tensor that its class statement does not define, sorted."""
    tree = ast.parse((FOLDER / "tensor.py").read_text(encoding="utf-8"))
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor").body
    defined = set(_OF_ANY_CLASS)
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Assign):
            defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    return sorted(set(vars(Tensor)) - defined)


def _operations() -> str:
    names = added_names()
    stub = _Stub(__package__, {name for name in names if hasattr(builtins, name)})
    lines = []
    for name in names:
        value = vars(Tensor)[name]
        if isinstance(value, property):
            lines.append("    @property")
            value = value.fget
        lines += [f"    {line}" for line in stub.function(name, value, is_method=True)]
    return stub.text("what operations add to Tensor", ["class Operations:", *lines])


def _namespace(module: ModuleType, package: str) -> str:
    names = [name for name in vars(module) if not name.startswith("_")]
    stub = _Stub(package, {name for name in names if hasattr(builtins, name)})
    lines = [f"from . import {name} as {name}" for name in _submodules(module)]
    if hasattr(module, "__all__"):
        lines.append(f"__all__ = {sorted(module.__all__)!r}")
    if hasattr(module, "__version__"):
        lines.append("__version__: builtins.str")
    for name in names:
        value = vars(module)[name]
        home = getattr(value, "__module__", None) or ""
        if isinstance(value, np.dtype):
            lines.append(f"{name}: np.dtype[np.{value.type.__name__}]")
        elif value is None:
            lines.append(f"{name}: None")
        elif isinstance(value, float):
            lines.append(f"{name}: builtins.float")
        elif inspect.isfunction(value) and home == module.__name__:
            lines += stub.function(name, value, is_gated=hasattr(value, "__wrapped__"))
        elif name in getattr(module, "__all__", names) and _is_ours(home):
            lines.append(f"from {stub.relative(home)} import {value.__name__} as {name}")
    return stub.text(f"the names of {module.__name__} and their types", lines)


def _submodules(module: ModuleType) -> list[str]:
    """Return the modules that a namespace offers: those its text names, whatever is loaded."""
    tree = ast.parse(inspect.getsource(module))
    found = (
        n for n in tree.body
        if isinstance(n, ast.ImportFrom) and n.module is None and n.level == 1
    )  # fmt: skip
    return [
        alias.name for node in found for alias in node.names
        if inspect.ismodule(getattr(module, alias.name))
    ]  # fmt: skip


def _is_ours(home: str) -> bool:
    """Whether a name comes from here; numpy's that we pass on, such as dtype, count too."""
    return home.split(".")[0] in (__package__, "numpy")


class _Stub:
    """A stub in the making: what it has to import, and which builtin names it hides."""

    def __init__(self, package: str, hidden: set[str]) -> None:
        self._package = package
        self._hidden = hidden
        self._homes: dict[str, str] = {"Tensor": Tensor.__module__}

    def text(self, what: str, lines: list[str]) -> str:
        """Return the whole file."""
        imports = [
            f"from {self.relative(module)} import {name} as {name}"
            for name, module in sorted(self._homes.items())
        ]
        told = [line for line in lines if line not in imports]
        return HEAD.format(what=what) + "\n".join([*imports, "", *told]) + "\n"

    def relative(self, module: str) -> str:
        """Return how this stub imports from a module."""
        if module.split(".")[0] != __package__:
            return module
        up, inside = ".", self._package
        while inside != module and not module.startswith(f"{inside}."):
            up, inside = f"{up}.", inside.rpartition(".")[0]
        return up + module.removeprefix(inside).removeprefix(".")

    def function(
        self, name: str, function: Callable, is_method: bool = False, is_gated: bool = True
    ) -> Iterator[str]:
        """Give the lines that declare a function, or a method of Tensor.

        is_gated: whether it stands behind the gate of `signature`, which gives it other spellings.
        """
        is_gated = is_gated and not name.startswith("__")
        plain = getattr(function, "__wrapped__", function)  # before the gate, which tells less
        forms = [
            form
            for one in typing.get_overloads(plain) or [plain]
            for form in self._spellings(one, name, is_method, is_gated)
        ]
        clash = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        for form in forms:
            if len(forms) > 1:
                yield "@overload"
            yield f"def {name}{form}: ...{clash}"

    def _spellings(
        self, function: Callable, name: str, is_method: bool, is_gated: bool
    ) -> Iterator[inspect.Signature]:
        """Give a signature with PyTorch's names, and one with numpy's where they differ."""
        spec = Signature(function, name)
        signature = spec.public() if is_gated else spec.signature
        parameters = [self._parameter(p, function) for p in signature.parameters.values()]
        returned = self._typed(signature.return_annotation, function)
        if is_method:
            parameters[0] = parameters[0].replace(name="self", annotation=inspect.Parameter.empty)
        elif is_gated and not spec.takes_out and "Tensor" in returned:
            parameters = _with_out(parameters, returned)
        yield inspect.Signature(parameters, return_annotation=_Words(returned))
        own = {p.name for p in parameters} & set(NUMPY_NAMES)
        if is_gated and "dim" in own:
            renamed = [p.replace(name=NUMPY_NAMES.get(p.name, p.name)) for p in parameters]
            yield inspect.Signature(renamed, return_annotation=_Words(returned))

    def _parameter(self, parameter: inspect.Parameter, function: Callable) -> inspect.Parameter:
        kinds = BY_NAME.get(parameter.name) if parameter.annotation == "Any" else None
        annotation = " | ".join(kinds) if kinds else parameter.annotation
        default = parameter.default if parameter.default is parameter.empty else _Words("...")
        return parameter.replace(
            annotation=_Words(self._typed(annotation, function)), default=default
        )

    def _typed(self, annotation: Any, function: Callable) -> str:
        """Return an annotation as this file has to write it, and remember what it needs for it."""
        if annotation is inspect.Signature.empty:
            return "Any"
        scope = inspect.unwrap(function).__globals__
        for word in re.findall(r"[A-Za-z_]\w*", annotation):
            home = getattr(scope.get(word), "__module__", "") or ""
            if home.startswith(f"{__package__}."):
                self._homes[word] = home
        return re.sub(
            r"(?<![\w.])([a-z]+)\b",
            lambda m: f"builtins.{m[1]}" if m[1] in self._hidden else m[1],
            annotation,
        )


def _with_out(parameters: list[inspect.Parameter], returned: str) -> list[inspect.Parameter]:
    """Return the parameters of a function with the keyword `out`, in its place."""
    kind = "Tensor" if returned == "Tensor" else "Sequence[Tensor]"
    out = inspect.Parameter(
        "out", inspect.Parameter.KEYWORD_ONLY, default=_Words("..."),
        annotation=_Words(f"{kind} | None"),
    )  # fmt: skip
    place = len(parameters)
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        place -= 1
    return [*parameters[:place], out, *parameters[place:]]


class _Words(str):
    """An annotation, or a default, that is printed without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


if __name__ == "__main__":
    import autograd

    assert autograd.Tensor is Tensor
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
