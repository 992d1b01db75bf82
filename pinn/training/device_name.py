"""The name of a device as a declaration holds it; whether it is there, its library says."""

from __future__ import annotations

import re
from typing import Any

from pinn.checks import nearest
from pinn.schema.errors import Path, refuse, shown
from pinn.schema.kinds import Kind, refuse_node
from pinn.schema.reader import Reader
from pinn.schema.tree import Node, Scalar

_NAME = re.compile("cpu|cuda(:(0|[1-9][0-9]{0,3}))?")


class DeviceName(Kind):
    """"cpu", "cuda" for the first GPU (as is "cuda:0"), or one by its number: "cuda:1"."""

    what = "one of cpu, cuda, cuda:N"

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            refuse(f"expected {self.what}, got {shown(value)}{_hint(value)}")
        return _plain(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and _NAME.fullmatch(node.text):
            return _plain(node.text)
        hint = _hint(node.text) if isinstance(node, Scalar) else ""
        return refuse_node(self, node, path, reader, hint)


def _plain(name: str) -> str:
    """Return the one name of a device, by which declarations are compared."""
    return "cuda" if name == "cuda:0" else str(name)


def _hint(value: object) -> str:
    return nearest(value, ("cpu", "cuda")) if isinstance(value, str) else ""
