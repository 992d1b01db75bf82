"""Values of the command line, laid over the tree of a config file."""

from __future__ import annotations

from dataclasses import dataclass

from pinn.config.errors import ConfigError
from pinn.config.yaml_tree import parse_yaml
from pinn.schema.kinds import listed
from pinn.schema.reader import Complaint
from pinn.schema.tree import Mapping, Node, Place, Scalar, Sequence


@dataclass(frozen=True)
class Override:
    """One value for one place of a config: the keys that lead there, the value, its origin."""

    keys: tuple[str, ...]
    value: Node
    place: Place

    @classmethod
    def parse(cls, text: str, source: str) -> Override:
        """Read `key.path=value`.

        Keys are joined by dots, list items named by number (`training.0.steps=10`, or with the name
        of the stage, `training.0.adam.steps=10`); a dot within a number that a key ends with is its
        own (`weighting.value_u_x_0.5=2`). The value is YAML. `source` is what messages call
        the override. Raises ConfigError for a text without "=", an empty key or a value that is not
        YAML.
        """
        place = Place(source)
        path, equals, value = text.partition("=")
        if not equals:
            message = "expected key.path=value, such as sampling.interior=2000"
            raise ConfigError([Complaint(place, "", message)])
        keys = tuple(key.strip() for key in path.split("."))
        if not all(keys):
            message = f"expected keys joined by dots before '=', got {path!r}"
            raise ConfigError([Complaint(place, "", message)])
        return cls(keys, parse_yaml(value.strip(), source, line=None), place)

    @classmethod
    def of(cls, path: str, text: str, source: str) -> Override:
        """Make an override whose value is a text as it stands, with no YAML in it."""
        place = Place(source)
        return cls(tuple(path.split(".")), Scalar(text, place, quoted=True), place)

    def apply(self, root: Mapping) -> None:
        """Set the value in place, making mappings that are missing on the way.

        Raises ConfigError for a path through something that has no such item.
        """
        node: Node = root
        keys = self._with_tags(root)
        for depth, key in enumerate(keys[:-1]):
            here, after = ".".join(keys[:depth]), keys[depth + 1]
            if isinstance(node, Mapping):
                below = _opened(node.entries.get(key), after, self.place)
                if below is not node.entries.get(key):
                    node.put(key, below, self.place)
            elif isinstance(node, Sequence):
                index = self._index(node, key, here)
                below = node.items[index] = _opened(node.items[index], after, self.place)
            else:
                raise self._no_keys(node, key, here)
            node = below
        here, key = ".".join(keys[:-1]), keys[-1]
        if isinstance(node, Mapping):
            node.put(key, self.value, self.place)
        elif isinstance(node, Sequence):
            node.items[self._index(node, key, here)] = self.value
        else:
            raise self._no_keys(node, key, here)

    def _with_tags(self, root: Mapping) -> tuple[str, ...]:
        """Put in the names that choose among records: training.0.steps is training.0.adam.steps."""
        node: Node | None = root
        keys: tuple[str, ...] = ()
        left = list(self.keys)
        while left:
            key = left.pop(0)
            while _goes_on(key, node, left):
                key = f"{key}.{left.pop(0)}"
            chooses = keys == ("model",) or (keys and keys[-1].isdigit())
            tag = _tag(node) if chooses and node is not None else None
            if tag is not None and tag != key:
                keys = (*keys, tag)
                node = node.entries[tag] if isinstance(node, Mapping) else None
            keys = (*keys, key)
            if isinstance(node, Mapping):
                node = node.entries.get(key)
            elif isinstance(node, Sequence) and key.isdigit() and int(key) < len(node.items):
                node = node.items[int(key)]
            else:
                node = None
        return keys

    def _index(self, node: Sequence, key: str, here: str) -> int:
        indices = [str(index) for index in range(len(node.items))]
        if key in indices:
            return int(key)
        message = f"this is {node}; expected an item's number ({listed(indices)}), got {key!r}"
        raise ConfigError([Complaint(self.place, here, message)])

    def _no_keys(self, node: Node, key: str, here: str) -> ConfigError:
        message = f"this is {node}; it cannot hold the key {key!r}"
        return ConfigError([Complaint(self.place, here, message)])


def _tag(node: Node) -> str | None:
    """The name of a record chosen by name: `adam` or `{adam: {...}}`."""
    if isinstance(node, Mapping) and len(node.entries) == 1:
        return next(iter(node.entries))
    return node.text if isinstance(node, Scalar) and not node.is_null else None


def _opened(node: Node | None, key: str, place: Place) -> Node:
    """The node, made a mapping where it is missing, empty, or `mlp` short for `{mlp: {}}`."""
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return Mapping({}, place)
    if isinstance(node, Scalar) and node.text == key:
        return Mapping({key: Mapping({}, place)}, node.place, {key: node.place})
    return node


def _goes_on(key: str, node: Node | None, after: list[str]) -> bool:
    """Whether a dot is one within a number at the end of a key, and leads to no item below it."""
    if key.isdigit() or not (key[-1].isdigit() and after and after[0][0].isdigit()):
        return False
    below = node.entries.get(key) if isinstance(node, Mapping) else None
    return not isinstance(node, Sequence) and not isinstance(below, Mapping | Sequence)
