"""HTML in which every text is escaped: only what `element` made counts as markup."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

# What makes a page without a network: none of them may load or send anything.
_VOID = frozenset({"img", "input", "meta"})


class Html(str):
    """Markup that was made here; any other text is escaped where it is put into some."""

    __slots__ = ()


def element(tag: str, *children: str | None, **attributes: str | bool | None) -> Html:
    """Return <tag attributes>children</tag>.

    children: texts, which are escaped, and Html; None is left out. attributes: their values are
    escaped; True stands alone, None and False are left out. A trailing underscore is dropped and
    others become hyphens: class_, aria_label.
    """
    given = "".join(
        f" {name.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{html.escape(str(value))}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    start = f"<{tag}{given}>"
    return Html(start if tag in _VOID else f"{start}{joined(children)}</{tag}>")


def joined(children: Iterable[str | None]) -> Html:
    """Return texts, escaped, and Html one after the other; None is left out."""
    return Html("".join(
        child if isinstance(child, Html) else html.escape(child)
        for child in children if child is not None
    ))  # fmt: skip


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> Html:
    """Return a table whose first cell of a row heads it; the last `numbers` columns are numbers."""
    first_number = len(headings) - numbers

    def kind(column: int) -> str | None:
        return "number" if column >= first_number else None

    head = [element("th", text, scope="col", class_=kind(i)) for i, text in enumerate(headings)]
    body = [
        element("tr", *(
            element("th", cell, scope="row") if i == 0 else element("td", cell, class_=kind(i))
            for i, cell in enumerate(row)
        ))
        for row in rows
    ]  # fmt: skip
    parts = element("thead", element("tr", *head)), element("tbody", *body)
    # A wide table scrolls by itself; the keyboard reaches it by its place in the order of focus.
    return element("div", element("table", *parts), class_="scroll", tabindex="0")


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return names with what they stand for, as a list of descriptions."""
    rows = (element("div", element("dt", name), element("dd", what)) for name, what in pairs)
    return element("dl", *rows)


def shown_as(make: Callable[[], Html], otherwise: Any) -> Html:
    """Return what `make` does; where it cannot, as of a class of one's own, the object's repr."""
    try:
        return make()
    except Exception:  # a notebook would show the error in place of the object
        return element("pre", repr(otherwise))


def code(text: str) -> Html:
    """Return a text in the letters of programs."""
    return element("code", text)
