"""The grid of a sweep: the values that keys of a config have in turn, and a run for each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinn.cli.verdict import Misuse

if TYPE_CHECKING:
    from pinn.config import Override

_LONGEST_NAME = 120


@dataclass(frozen=True)
class Axis:
    """The values that a key of the config has in turn, as texts and as overrides."""

    key: str
    texts: tuple[str, ...]
    values: tuple[Override, ...]

    @classmethod
    def parse(cls, text: str) -> Axis:
        """Read "key.path=value,value", in which values may be ranges (pinn.cli.ranges).

        Misuse, or ConfigError, for another text.
        """
        from pinn.cli.ranges import written_out
        from pinn.config import Override
        from pinn.config.yaml_tree import parse_yaml
        from pinn.schema.tree import Place, Sequence

        source = f"--grid {text}"
        key, equals, values = text.partition("=")
        tree = parse_yaml(f"[{written_out(values, source)}]", source, line=None)
        if not equals or not isinstance(tree, Sequence) or not tree.items:
            raise Misuse(f"{source}: expected key.path=value,value, such as seed=0,1,2")
        keys = Override.parse(f"{key}=0", source).keys
        place = Place(source)
        overrides = tuple(Override(keys, item, place) for item in tree.items)
        texts = tuple(getattr(item, "text", f"{number}") for number, item in enumerate(tree.items))
        return cls(".".join(keys), texts, overrides)

    @classmethod
    def of(cls, key: str, values: Iterable[Any]) -> Axis:
        """Return that of a key with values of Python: numbers, texts, booleans, lists of these."""
        from pinn.config import Override
        from pinn.schema.tree import Place, tree_of

        source = f"grid: {key}"
        place = Place(source)
        if not isinstance(key, str):
            raise TypeError(f"{source}: expected the key of a config as a text, such as 'seed'")
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            raise TypeError(
                f"{source}: expected the values that it has in turn, got {values!r:.60}; for one "
                f"value write [{values!r:.60}]"
            )
        keys = Override.parse(f"{key}=0", source).keys
        plain = [value.tolist() if hasattr(value, "tolist") else value for value in values]
        try:
            overrides = tuple(Override(keys, tree_of(value, place), place) for value in plain)
        except TypeError as error:
            raise TypeError(f"{source}: {error}") from None
        if not overrides:
            raise ValueError(f"{source}: expected one value or more, got none")
        return cls(key, tuple(map(str, plain)), overrides)


class Grid:
    """Axes, and a name for each combination of their values."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        keys = [axis.key for axis in axes]
        repeated = [key for key in keys if keys.count(key) > 1]
        if repeated:
            raise Misuse(f"--grid {repeated[0]}: it is given twice; write all values after one =")
        self._axes = axes
        self.keys = keys
        self.names = _short_names(keys)
        """The keys, as they are called in a table."""

    @classmethod
    def of(cls, values: Mapping[str, Iterable[Any]]) -> Grid:
        """Return that of values of Python by key; TypeError, ValueError where it is not that."""
        if not isinstance(values, Mapping):
            raise TypeError(
                "grid: expected a mapping from keys to values, such as {'seed': range(3)}, got "
                f"{values!r:.60}"
            )
        if not values:
            raise ValueError("grid: expected a key with values, such as {'seed': range(3)}, got {}")
        return cls([Axis.of(key, found) for key, found in values.items()])

    def __iter__(self) -> Iterator[tuple[list[str], list[Override]]]:
        """Give the texts and the overrides of each combination."""
        for places in itertools.product(*(range(len(axis.values)) for axis in self._axes)):
            chosen = list(zip(self._axes, places, strict=True))
            yield (
                [axis.texts[place] for axis, place in chosen],
                [axis.values[place] for axis, place in chosen],
            )

    def directory_name(self, texts: Sequence[str]) -> str:
        """Return a name for the directory of a combination, of letters that every system takes."""
        pairs = zip(self.names, texts, strict=True)
        name = "_".join(f"{one}={text}" for one, text in pairs)
        name = re.sub(r"[^A-Za-z0-9_.+=-]", "-", name)
        if len(name) > _LONGEST_NAME:
            raise Misuse(f"{name[:60]}...: the values are too long for the name of a directory")
        return name


def _short_names(keys: list[str]) -> list[str]:
    """Return the last part of each key, the whole of those that this does not tell apart."""
    last = [key.rpartition(".")[2] for key in keys]
    return [one if last.count(one) == 1 else key for one, key in zip(last, keys, strict=True)]
