"""How Sphinx makes the site of docs/: `python -m sphinx -W -b html docs build/docs`.

Nothing is loaded from elsewhere, neither when it is built nor by its pages.
"""

from __future__ import annotations

import inspect
import re
import textwrap

import pinn

project = "pinn"
author = "the authors of pinn"
release = version = pinn.__version__
copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
# "bash setup", "text output": the first word is the language, the second is for the tests
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "pinn"
html_theme_options = {"navigation_with_keys": True}
html_show_copyright = False
html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "monokai"

smartquotes = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # a docstring says kinds, units and shapes
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries_show_parents = "hide"


def as_rest(app, what, name, obj, options, lines: list[str]) -> None:
    """Turn a docstring of the house into reStructuredText, in place.

    Paragraphs are plain text with `code` between backticks; what they say of arguments becomes a
    list. A paragraph with indented lines, such as a formula or a table, stays as it is.
    """
    try:
        arguments = set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        arguments = set()
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
    made = (_paragraph(one, arguments) for one in paragraphs if one.strip())
    lines[:] = "\n\n".join(made).split("\n")


def _paragraph(text: str, arguments: set[str]) -> str:
    if re.search(r"^[ \t]", text, re.M) or re.search(r"^\S.*?[^\s.] {2,}\S", text, re.M):
        return "::\n\n" + textwrap.indent(textwrap.dedent(text), "    ")
    text = " ".join(text.split())
    starts = [
        found for found in re.finditer(r"(?:^|(?<=[.;] ))((?:\w+, )*\w+): ", text)
        if arguments.issuperset(found[1].split(", "))
    ]  # fmt: skip
    if not starts:
        return _escaped(text)
    ends = [found.start() for found in starts[1:]] + [len(text)]
    items = [
        f"- **{_escaped(found[1])}**: {_escaped(text[found.end() : end].strip())}"
        for found, end in zip(starts, ends, strict=True)
    ]
    return "\n".join([_escaped(text[: starts[0].start()].strip()), "", *items])


def _escaped(text: str) -> str:
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([\\*_|<>:\[\]])", r"\\\1", piece) for piece in pieces[::2]]
    pieces[1::2] = [f"\\ ``{piece}``\\ " for piece in pieces[1::2]]  # even beside a letter
    joined = "".join(pieces).removeprefix("\\ ")
    return re.sub(r"^([-+#>]|\d+\.)(\s)", r"\\\1\2", joined)


def without_factories(app, what, name, obj, options, signature, returned) -> tuple:
    """Show the empty mappings that a class makes for itself as such."""
    return signature and signature.replace("<factory>", "{}"), returned


def measurements_inside(app, name: str, source: list[str]) -> None:
    """Have links to measured tables, which lie beside their programs, lead to the site's pages."""
    source[0] = re.sub(
        r"\]\((?:\.\./)+experiments/results/([\w/]+\.md)",
        lambda found: f"](/measurements/{found[1].replace('/', '_')}",
        source[0],
    )


def setup(app) -> None:
    """Have docstrings and links read as they are written."""
    app.connect("autodoc-process-docstring", as_rest)
    app.connect("autodoc-process-signature", without_factories)
    app.connect("source-read", measurements_inside)
