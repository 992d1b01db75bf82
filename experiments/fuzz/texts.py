"""Expressions, YAML, --set options and whole configs: what a user types."""

from __future__ import annotations

import copy
import io
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np

import pinn
from experiments.fuzz.attempts import Finding, attempt
from experiments.fuzz.configs import configs
from experiments.fuzz.expressions import random_text
from experiments.fuzz.garble import garbled
from experiments.fuzz.mutations import VALUES, Leaf, Node, random_mutation, read, write
from pinn.cli import main
from pinn.config import ConfigError, Override, load
from pinn.config.yaml_tree import parse_yaml
from pinn.expressions import ExpressionError
from pinn.problem import Problem


@cache
def problem() -> Problem:
    """Return the problem that expressions are looked up in."""
    return pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u", "v"],
        {"f": "u_t + v", "g": "v_t - u"}, constants={"nu": 0.1, "k": 2},
        parameters=[pinn.Parameter("a", 0.1)],
    )  # fmt: skip


def make_expression(rng: np.random.Generator) -> bytes:
    """Return a text of the expression language, most often a wrong one."""
    return random_text(rng).encode("utf-8", "surrogatepass")


def try_expression(data: bytes, path: Path) -> bool:
    """Resolve a text in the scope of a problem."""
    text = data.decode("utf-8", "surrogateescape")
    return attempt(lambda: str(problem().scope.resolve(text)), ExpressionError)


@cache
def _lines() -> tuple[str, ...]:
    return tuple(line for text in configs().values() for line in text.splitlines())


def make_yaml(rng: np.random.Generator) -> bytes:
    """Return a few lines of configs, garbled."""
    lines, count = _lines(), int(rng.integers(1, 6))
    first = int(rng.integers(len(lines) - count))
    return garbled("\n".join(lines[first : first + count]).encode(), rng)


def try_yaml(data: bytes, path: Path) -> bool:
    """Parse a text as YAML."""
    text = data.decode("utf-8", "surrogateescape")
    return attempt(lambda: parse_yaml(text, "case.yaml"), ConfigError)


_KEYS = (
    "problem", "constants", "k", "name", "model", "mlp", "width", "training", "0", "1", "-1",
    "99999999999999999999", "adam", "lbfgs", "steps", "seed", "", " ", "\u0663", "x" * 300,
)  # fmt: skip
_BASE = """\
problem: {name: a, constants: {k: 1, c: [1, 2]}}
model: {mlp: {width: 3}}
training: [adam, {lbfgs: {steps: 3}}, null]
seed: 0
"""


@cache
def _root() -> Node:
    return parse_yaml(_BASE, "case.yaml")


def make_override(rng: np.random.Generator) -> bytes:
    """Return a --set option, most often one of a path that does not exist."""
    keys = [_KEYS[k] for k in rng.integers(len(_KEYS), size=int(rng.integers(1, 5)))]
    value = VALUES[rng.integers(len(VALUES))]
    text = f"{'.'.join(keys)}={value.text if isinstance(value, Leaf) else ' '.join(_flow(value))}"
    data = text.encode("utf-8", "surrogatepass")
    return garbled(data, rng) if rng.random() < 0.5 else data


def _flow(node: Node) -> list[str]:
    return ["[1, {a: 2}]"] if isinstance(node, tuple) else ["{a: 1}"]


def try_override(data: bytes, path: Path) -> bool:
    """Lay an option over a config, one and the same path twice."""
    text = data.decode("utf-8", "surrogateescape")

    def apply() -> None:
        override, root = Override.parse(text, "--set"), copy.deepcopy(_root())
        override.apply(root)
        override.apply(root)

    return attempt(apply, ConfigError)


@cache
def _roots() -> tuple[Node, ...]:
    return tuple(read(text) for text in configs().values())


def make_config(rng: np.random.Generator) -> bytes:
    """Return a config with one to three values or keys of another kind, gone or doubled."""
    roots = _roots()
    root = roots[rng.integers(len(roots))]
    return write(random_mutation(root, rng, int(rng.integers(1, 4)))).encode("utf-8", "replace")


def try_config(data: bytes, path: Path) -> bool:
    """Load a config; each of its mistakes has a place in the file and a message."""
    path.write_bytes(data)
    complaints = []

    def read_it() -> None:
        try:
            load(path)
        except ConfigError as error:
            complaints.extend(error.complaints)

    attempt(read_it)
    for one in complaints:
        if one.place.source != str(path) or not one.message.strip():
            raise Finding(f"no file, or no message: {one}")
    return not complaints


def try_check(data: bytes, path: Path) -> bool:
    """Check a config by the command line: exit code 0, or 2 and the name of the file."""
    path.write_bytes(data)
    out, err = io.StringIO(), io.StringIO()
    codes: list[int] = []

    def check() -> None:
        with redirect_stdout(out), redirect_stderr(err):
            codes.append(main(["check", str(path)]))

    attempt(check)
    said = err.getvalue()
    if codes[0] == 4 and said.startswith("out of memory"):
        return False
    if codes[0] not in (0, 2) or (codes[0] == 2 and not said.startswith(str(path))):
        raise Finding(f"exit code {codes[0]}: {said[:300]}")
    return codes[0] == 0
