"""JSON and text: strict, and UTF-8."""

import json
import os

import numpy as np
import pytest

from pinn.files import from_json, write_json, write_text


def test_text_and_json_are_written_as_utf8(tmp_path):
    write_text(tmp_path / "a.txt", "∂u/∂t\n")
    assert (tmp_path / "a.txt").read_bytes() == "∂u/∂t\n".encode()
    value = {"loss": np.float64(0.5), "n": np.int32(3), "v": np.arange(2), "ok": True}
    write_json(tmp_path / "a.json", value | {"bad": {"nan": np.nan, "inf": [np.inf, (1, None)]}})
    back = {"loss": 0.5, "n": 3, "v": [0, 1], "ok": True}
    back["bad"] = {"nan": None, "inf": [None, [1, None]]}
    assert json.loads((tmp_path / "a.json").read_text()) == back


@pytest.mark.parametrize(
    "value, message",
    [({"a": [1, {2}]}, r"value\['a'\]\[1\].*set"), ({1: 2}, "text keys"), (1j, "complex")],
)
def test_json_names_the_place_it_cannot_write(tmp_path, value, message):
    with pytest.raises(TypeError, match=message):
        write_json(tmp_path / "a.json", value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[NaN]", "-Infinity", "[" * 200_000, b"\xff", "9" * 9999]
)
def test_what_is_no_json_is_one_kind_of_error(text):
    with pytest.raises(ValueError):
        from_json(text)
    assert from_json(b'{"a": [1, 2.5, null, "\xc3\xbc"]}') == {"a": [1, 2.5, None, "ü"]}
