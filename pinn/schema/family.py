"""A family: the classes that a config may choose among by name, such as the conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pinn.checks import nearest
from pinn.schema.errors import refuse_class, refuse_kind, shown
from pinn.schema.kinds import NAME, listed


class Family:
    """The table of a package: name in configs -> class, one line each.

        MODELS = Family("model", example="pinn.MLP()")
        MODELS.add("mlp", MLP)

    noun names a member in messages, example shows one. `base`, where it is set, is the class that
    every member derives from. A class is declared by its signature; `add` refuses one whose
    annotations say too little to be read from a file.
    """

    def __init__(self, noun: str, example: str) -> None:
        self.noun = noun
        self.example = example
        self.base: type | None = None
        self._classes: dict[str, type] = {}

    def __repr__(self) -> str:
        return f"<Family of {self.noun}s: {listed(self._classes)}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __getitem__(self, name: str) -> type:
        return self._classes[name]

    def items(self) -> list[tuple[str, type]]:
        """Return the names with their classes."""
        return list(self._classes.items())

    def add(self, name: str, member: type) -> type:
        """Enter a class under a name, and return it.

        Raises ValueError for a name that is none or is taken, TypeError for something that is no
        class of this family or whose annotations no kind of value stands for.
        """
        from pinn.schema.declared import fields_of

        NAME.check(name)
        if not isinstance(member, type):
            raise TypeError(f"{self.noun} {name!r}: expected a class, got {shown(member)}")
        if self._classes.get(name, member) is not member:
            raise ValueError(
                f"{self.noun} {name!r}: the name is taken by {self._classes[name].__name__}"
            )
        if self.base is not None and not issubclass(member, self.base):
            raise TypeError(
                f"{self.noun} {name!r}: expected a subclass of {self.base.__name__}, "
                f"got {member.__name__}"
            )
        fields_of(member)  # complains about annotations while the author is looking
        self._classes[name] = member
        return member

    def remove(self, name: str) -> None:
        """Take a name out again; KeyError where it is not there."""
        del self._classes[name]

    def name_of(self, value: object) -> str:
        """Return the name of a value's class; TypeError for one that is not in the table."""
        for name, member in self._classes.items():
            if type(value) is member:
                return name
        raise TypeError(
            f"a file can hold a {self.noun} of the classes {listed(self._classes)}, not "
            f"{type(value).__name__}; enter it in the table of {self.noun}s with add(name, class)"
        )

    def check(self, value: Any) -> Any:
        """Return a member; DeclarationTypeError for anything else."""
        if self.base is None or isinstance(value, self.base):
            return value
        if isinstance(value, type) and issubclass(value, self.base):
            refuse_class(f"a {self.noun}", value)
        refuse_kind(f"a {self.noun} such as {self.example}", value)

    def unknown(self, name: str) -> str:
        """Return the sentence for a name that is not in the table."""
        found = f"expected one {self.noun} out of {listed(self._classes)}, got {name!r}"
        return found + nearest(name, self._classes)
