"""Bytes, JSON and archives of arrays with a few things wrong."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

# Bytes that mean something to somebody.
_PIECES = (
    b"\x00", b"\n", b"\r", b"\r\n", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", b'"',
    b"'", b",", b";", b"\t", b" ", b"#", b"%", b"=", b":", b"- ", b"[", b"]", b"{", b"}", b"&a ",
    b"*a", b"<<", b"!!python/object:os.system", b"|", b">", b"-", b"+", b".", b"0", b"9" * 400,
    b"1e999", b"nan", b"-inf", b"null", b"PK\x03\x04", b"PK\x05\x06", b"\xff\xff\xff\xff",
    b"\x93NUMPY", b"O", b"\\", "\u202e".encode(), "\u2028".encode(), "\U0001f600".encode(),
    b"=cmd|' /C calc'!A0",
)  # fmt: skip

# What takes the place of a value of JSON: other kinds, and numbers at the edges of the kinds.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**63) - 1, 10**400, 1e308, -1e308, 5e-324, 0.5,
    float("nan"), float("inf"), "", "u", "x", "\x1b[31mred", "a\nb", "\ud800", "$\\frac{$",
    "x" * 3000, "__class__", "../../x", [], {}, [[]], [None], [1, "a"], {"": 1}, {"u": 1},
    {"u": None}, {"u": "low"}, {"$x$": 1.0, "_": 2}, {"a": {"b": [1]}},
)  # fmt: skip


def garbled(data: bytes, rng: np.random.Generator, changes: int = 3) -> bytes:
    """Return bytes with pieces dropped, doubled, put in, turned over or cut off."""
    for _ in range(int(rng.integers(1, changes + 1))):
        here, there = sorted(rng.integers(len(data) + 1, size=2).tolist())
        there = min(there, here + 64)
        piece = _PIECES[rng.integers(len(_PIECES))]
        kind = rng.integers(6)
        if kind == 0:
            data = data[:here] + data[there:]
        elif kind == 1:
            data = data[:there] + data[here:there] * int(rng.integers(1, 4)) + data[there:]
        elif kind == 2:
            data = data[:here] + piece + data[here:]
        elif kind == 3:
            data = data[:here] + piece + data[there:]
        elif kind == 4 and data:
            k = min(here, len(data) - 1)
            data = data[:k] + bytes([data[k] ^ 1 << int(rng.integers(8))]) + data[k + 1 :]
        elif rng.random() < 0.3:
            data = data[:here]
    return data


def changed_json(value: Any, rng: np.random.Generator, changes: int = 3) -> bytes:
    """Return the text of a value of JSON with a few of its values changed, gone or doubled."""
    value = json.loads(json.dumps(value))
    for _ in range(int(rng.integers(1, changes + 1))):
        value = _changed(value, rng)
    text = json.dumps(value)
    return text.encode() if rng.random() < 0.9 else garbled(text.encode(), rng)


def _changed(value: Any, rng: np.random.Generator) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value)) \
        if isinstance(value, list) else ()  # fmt: skip
    if not keys or rng.random() < 0.15:
        return copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    key = keys[int(rng.integers(len(keys)))]
    kind = rng.random()
    if kind < 0.12:
        del value[key]
    elif kind < 0.2 and isinstance(value, list):
        value.append(value[key])
    elif kind < 0.2:
        value[str(VALUES[rng.integers(len(VALUES))])] = value.pop(key)
    else:
        value[key] = _changed(value[key], rng)
    return value


def archive(members: Mapping[str, bytes], compressed: bool = False) -> bytes:
    """Return a zip archive of named bytes."""
    stream = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", kind) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, kind)
    return stream.getvalue()


def npy(array: Any) -> bytes:
    """Return the bytes of an npy file; of Python objects pickled."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


_HEADERS = (
    (b"'<f8'", b"'|O'"), (b"'<f8'", b"'>f4'"), (b"'<f8'", b"'<U2'"), (b"'<f8'", b"'|V8'"),
    (b"'<f8'", b"[('a', '<f8')]"), (b"'shape': (", b"'shape': (-1, "), (b"False", b"True "),
    (b"'shape': (", b"'shape': (1000000000000, "), (b"'shape': (", b"'shape': (0, "),
    (b"'shape': (", b"'shape': (__import__('os'), "), (b"{", b"(" * 200), (b"{", b"-" * 90 + b"{"),
)


def changed_array(array: np.ndarray, rng: np.random.Generator) -> bytes:
    """Return the bytes of an npy file of other numbers, shape or dtype, or with another header."""
    kind = int(rng.integers(9))
    if kind == 0 and array.size:
        array = array.copy()
        bad = (np.nan, np.inf, 0, -1, 1e300)[rng.integers(5)]
        with np.errstate(all="ignore"):
            try:
                array.reshape(-1)[rng.integers(array.size)] = bad
            except (ValueError, OverflowError):
                pass
    elif kind == 1:
        array = array.reshape(-1)[: rng.integers(array.size + 1)]
    elif kind == 2:
        array = array[None] if rng.random() < 0.5 else np.stack([array, array])
    elif kind == 3:
        dtype = ("f4", "i8", "?", "u1", "c16", "U5", "S3", "f2", ">f8", "O")[rng.integers(10)]
        with np.errstate(all="ignore"):
            try:
                array = array.astype(dtype)
            except (TypeError, ValueError):
                array = np.array(0.0)
    elif kind == 4:
        array = np.asfortranarray(array)
    data = npy(array)
    if kind == 5:
        old, new = _HEADERS[rng.integers(len(_HEADERS))]
        data = data.replace(old, new, 1)
    elif kind == 6:
        data = garbled(data, rng)
    return data


_MEMBERS = ("../x.npy", "/etc/x.npy", "x", ".npy", "a/b/c.npy", "x.npy.npy", "\x1b[31m.npy")


def changed_arrays(arrays: Mapping[str, np.ndarray], rng: np.random.Generator) -> bytes:
    """Return an archive of arrays of which some are changed, gone, renamed or put in."""
    members = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    for _ in range(int(rng.integers(1, 4))):
        names = list(members)
        if not names:
            break
        name = names[int(rng.integers(len(names)))]
        array = arrays.get(name.removesuffix(".npy"), np.zeros(3))
        kind = rng.random()
        if kind < 0.1:
            del members[name]
        elif kind < 0.2:
            other = _MEMBERS[rng.integers(len(_MEMBERS))]
            members[other] = members.pop(name)
        elif array.dtype.kind == "U" and not array.shape and str(array)[:1] in "{[":
            text = changed_json(json.loads(str(array)), rng)
            members[name] = npy(text.decode("utf-8", "replace"))
        elif array.dtype == np.uint8 and array.tobytes()[:1] == b"{":
            text = changed_json(json.loads(array.tobytes()), rng)
            members[name] = npy(np.frombuffer(text, np.uint8))
        else:
            members[name] = changed_array(array, rng)
    data = archive(members, compressed=rng.random() < 0.1)
    return garbled(data, rng) if rng.random() < 0.1 else data
