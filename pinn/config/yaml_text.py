"""Config data as YAML text."""

from __future__ import annotations

import math
from typing import Any

import yaml


def dump_yaml(data: Any) -> str:
    """Config data as YAML text, in the order of its keys."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=None,
        allow_unicode=True,
        width=10_000,  # an equation stays on its line
    )


class _Dumper(yaml.SafeDumper):
    """Writes what our own reader takes, which needs fewer quotes, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def number(self, value: float) -> yaml.Node:
        """A whole number without the .0; any other with all its digits."""
        negative_zero = value == 0 and math.copysign(1, value) < 0
        if value.is_integer() and abs(value) < 1e15 and not negative_zero:
            return self.represent_int(int(value))
        return self.represent_float(value)

    def text(self, value: str) -> yaml.Node:
        """A text; one that is a number, such as an expression 0, needs no quotes."""
        tag = self.resolve(yaml.ScalarNode, value, (True, False))
        if tag.endswith((":int", ":float")):
            return self.represent_scalar(tag, value)
        return self.represent_str(value)


_Dumper.add_representer(float, _Dumper.number)
_Dumper.add_representer(str, _Dumper.text)
