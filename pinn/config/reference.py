"""What a config file may hold, from the declarations themselves; `page` writes it as Markdown.

    python -m pinn.config.reference      writes docs/reference.md
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinn.config.config import sections
from pinn.diagnosis import CAUSES
from pinn.schema.declared import REQUIRED, Field, Keyed, Member, Record, fields_of
from pinn.schema.kinds import Entry, Items, Kind, Names, OneOf, OneOrList, Optional, listed

PAGE = Path("docs") / "reference.md"

_HEAD = """\
# Reference

What a config file may hold: its sections, and the classes that they name. In Python the same things
are called with the same arguments, `pinn.solve(problem, model=..., sampling=...)`. `python -m pinn
list` shows them in short. This page is written by `python -m pinn.config.reference` from the
declarations in the code.
"""


@dataclass(frozen=True)
class Declared:
    """Something with arguments that a config file may hold.

    name: how a file calls it. title: how Python does, where it has a name there. about: its
    docstring.
    """

    name: str
    title: str
    about: str
    fields: Mapping[str, Field]

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        return re.split(r"(?<=\.)\s", " ".join(self.about.split()), maxsplit=1)[0]

    @property
    def signature(self) -> str:
        """Its arguments with their defaults: "unknown, value, order=0, hard=false"."""
        return ", ".join(
            name if field.default is REQUIRED else f"{name}={default_text(field)}"
            for name, field in self.fields.items()
        )


def groups() -> dict[str, list[Declared]]:
    """Return all that the sections of a config lead to: heading -> what stands under it.

    Headings are families, such as conditions, and the keys of what has arguments of its own or
    names an entry of a table: sampling, problem.parameters, sampling.method. Last come the causes
    that `python -m pinn doctor` looks for.
    """
    found: dict[str, list[Declared]] = {}
    told: set[int] = set()
    for name, field in sections().items():
        _collect(name, field.kind, found, told)
    found["causes for the doctor"] = [_entry(key, cause) for key, cause in CAUSES.items()]
    return found


def default_text(field: Field) -> str:
    """Return the default of a field in few words: "0.001", "none", "adam, lbfgs"."""
    return "required" if field.default is REQUIRED else _text(field.default, field.kind)


def page() -> str:
    """Return the reference page as Markdown."""
    parts = [_HEAD, "## The sections of a config\n", *_table(sections())]
    for heading, members in groups().items():
        is_key = "." in heading or heading in sections()
        parts.append(f"\n## `{heading}`\n" if is_key else f"\n## {heading.capitalize()}\n")
        for member in members:
            if member.name != heading:
                called = f", in Python `{member.title}`" if member.title else ""
                parts.append(f"\n### `{member.name}`{called}\n")
            parts.append(f"{_paragraphs(member.about)}\n")
            if member.fields:
                parts += _table(member.fields)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


def _collect(name: str, kind: Kind, found: dict[str, list[Declared]], told: set[int]) -> None:
    """Add what a kind of value leads to, under headings of their own.

    told: the classes and tables that are among them, by identity; each is told of once.
    """
    match kind:
        case Kind(family=family):  # a member of a family, or a domain made of some
            heading = f"{family.noun}s"
            if heading not in found:
                found[heading] = [_declared(key, cls) for key, cls in family.items()]
                for member in found[heading]:
                    _collect_fields(member, (heading, member.name), found, told)
        case Record(cls=cls) | Keyed(cls=cls):
            if id(cls) not in told:
                told.add(id(cls))
                found[name] = [_declared(name, cls)]
                _collect_fields(found[name][0], (name,), found, told)
        case Entry(table=table):
            if id(table) not in told:  # a key of a block may take what another key does
                told.add(id(table))
                found[name] = [_entry(key, value) for key, value in table.items()]
        case Items(kind=inner) | Optional(kind=inner) | Names(kind=inner):
            _collect(name, inner, found, told)
        case OneOf(scalar=one, mapping=other) | OneOrList(one=one, many=other):
            _collect(name, one, found, told)
            _collect(name, other, found, told)


def _collect_fields(
    member: Declared, owners: tuple[str, ...], found: dict[str, list[Declared]], told: set[int]
) -> None:
    """Add what the fields lead to, under the first owner's name that is free there."""
    for name, field in member.fields.items():
        free = [f"{owner}.{name}" for owner in owners if f"{owner}.{name}" not in found]
        _collect(free[0] if free else f"{owners[-1]}.{name}", field.kind, found, told)


def _declared(name: str, cls: Any) -> Declared:
    return Declared(name, _python_name(cls), inspect.getdoc(cls) or "", fields_of(cls))


def _entry(name: str, value: Any) -> Declared:
    return Declared(name, "", inspect.getdoc(value) or "", {})


def _python_name(cls: type) -> str:
    import pinn

    return f"pinn.{cls.__name__}" if cls.__name__ in pinn.__all__ else ""


def _text(value: Any, kind: Kind) -> str:
    match kind:
        case Member(family=family):
            return family.name_of(value)
        case Record():
            return "its defaults"
        case OneOrList():
            return _text(value, kind.of(value))
        case Optional(kind=inner):
            return "none" if value is None else _text(value, inner)
        case Items(kind=inner):
            return ", ".join(_text(item, inner) for item in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {item}" for key, item in value.items()) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return listed(value) if isinstance(value, tuple) else "none" if value is None else str(value)


def _table(fields: Mapping[str, Field]) -> Iterator[str]:
    yield "| key | what | default |\n|---|---|---|"
    for name, field in fields.items():
        what = field.kind.what.replace("|", "\\|")
        yield f"| `{name}` | {what} | {default_text(field)} |"
    yield ""


def _paragraphs(text: str) -> str:
    """Return a docstring as Markdown; what is indented or between backticks stays as it is."""
    return "\n\n".join(
        part if part.startswith("    ") else _escaped(part) for part in text.split("\n\n")
    )


def _escaped(paragraph: str) -> str:
    pieces = paragraph.split("`")
    pieces[::2] = [re.sub(r"([*_<>])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def main() -> None:
    """Write the page to docs/reference.md below the working directory."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
