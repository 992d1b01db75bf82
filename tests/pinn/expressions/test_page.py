"""The page about the language names all of it."""

from __future__ import annotations

import re
from pathlib import Path

from pinn.expressions.language import CONSTANTS, FUNCTIONS, KEYWORDS, OPERATORS

PAGE = (Path(__file__).parents[3] / "docs" / "language.md").read_text(encoding="utf-8")


def test_the_page_has_every_word():
    code = " ".join(re.findall(r"`([^`]*)`", PAGE))
    words = {*CONSTANTS, *FUNCTIONS, *OPERATORS, "and", "or", "not"}
    words |= {f"{name}=" for names in KEYWORDS.values() for name in names or ()}
    missing = [word for word in words if not re.search(rf"(?<!\w){re.escape(word)}", code)]
    assert missing == []
