"""Each of the 112 rows of the semantics has exactly one test that carries its number."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path


def test_each_row_has_one_test():
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")
    )
    found = Counter(int(number) for number in re.findall(r"^def test_row_(\d{3})_\w+", text, re.M))
    assert found == Counter(range(1, 113))
