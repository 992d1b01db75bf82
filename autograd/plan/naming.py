"""What the text of a function names, and what it does with that."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

Names = tuple[str, ...]


class Named(NamedTuple):
    """Names and texts in a function's code and in the functions within it.

    names       of attributes and of what a module has; loaded, those of them that a module has, or
                that are imported; attributes, those that something is asked for.
    texts       those that it holds.
    subscripted what is asked for one entry at a time, by keys that stand in the text: `w["wall"]`.
    passed      what is used in any other way: `w.values()`, `f(w)`, `w[key]`.
    handed      what is given to something else, or another name: `f(net)`, not `net.weight`.
    compared    what is told from something else by `==`.
    looked_for  attributes that there may be, asked for by getattr and hasattr.
    opened      what is asked for attributes whose names are computed, or for all: `vars(net)`.
    of_classes  the names of the classes that it may belong to, where `self` is opened; handing_on,
                where `self` is handed.
    is_open     whether anything is opened that has no name but within.
    describes   whether it compares by `==` with what stands not in the text, or makes texts.
    """

    names: Names
    texts: Names
    loaded: Names
    attributes: Names
    subscripted: Names
    passed: Names
    handed: Names
    compared: Names
    looked_for: Names
    opened: Names
    of_classes: Names
    handing_on: Names
    is_open: bool
    describes: bool


_OF_MODULE = ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME")
_OF_OBJECT = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_SILENT = ("CACHE", "PUSH_NULL", "PRECALL", "EXTENDED_ARG", "NOT_TAKEN", "NOP")
_KEY = ("LOAD_CONST", "LOAD_SMALL_INT")
_ASKING = ("getattr", "hasattr")
_OPENING = ("vars", "asdict", "astuple", "fields")
_DESCRIBED = ("format", "__str__", "__repr__", "__eq__")
_DESCRIBING = ("repr", "str", "format", "hash")
_NAMED = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
_VALUES = (*_NAMED, *_KEY)
_PLAIN = (*_NAMED, "LOAD_ATTR")
_ENDS = ("STORE_", "POP_", "RETURN", "JUMP", "RESUME", "FOR_ITER")
_FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE")


@lru_cache(maxsize=256)
def named(code: CodeType) -> Named:
    """Return what a function's code names; functions within it count as it does."""
    found: list[dict[str, None]] = [{} for _ in range(len(Named._fields) - 2)]
    names, texts, loaded, attributes, subscripted, passed, handed, *_ = found
    compared, looked_for, opened, of_classes, handing_on = found[7:]
    names |= dict.fromkeys(code.co_names)
    steps = [one for one in dis.get_instructions(code) if one.opname not in _SILENT]
    loaded |= {one.argval: None for one in steps if one.opname in _OF_MODULE}
    attributes |= {one.argval: None for one in steps if one.opname in _OF_OBJECT}
    for k in range(len(steps)):
        _use(steps, k, subscripted, passed, handed)
    compared |= _compared(steps)
    looked_for |= {name: None for k in range(len(steps)) if (name := _looked_for(steps, k))}
    targets = [one for k in range(len(steps)) if (one := _opened(steps, k)) is not None]
    opened |= {steps[k].argval: None for k in targets if isinstance(steps[k].argval, str)}
    is_open = any(_is_unknown(steps[k]) for k in targets)
    around = dict.fromkeys(code.co_qualname.split("."))
    of_classes |= around if "self" in opened else {}
    handing_on |= around if "self" in handed else {}
    describes = any(
        one.opname in _FORMATS or (_is_equal(one) and steps[k - 1].opname not in _KEY)
        or (one.opname in _OF_MODULE and one.argval in _DESCRIBING)
        or (one.opname in _OF_OBJECT and one.argval in _DESCRIBED)
        for k, one in enumerate(steps)
    )  # fmt: skip
    constants = list(code.co_consts)
    while constants:
        constant = constants.pop()
        if isinstance(constant, str):
            texts[constant] = None
            if constant.replace(".", "").isidentifier():  # "part.weight" of an attrgetter
                texts |= dict.fromkeys(constant.split("."))
        elif isinstance(constant, (tuple, frozenset)):
            constants += constant
        elif isinstance(constant, CodeType) and constant.co_name != "__annotate__":
            *inner, opens, tells = named(constant)
            opens |= not set(code.co_cellvars).isdisjoint(named(constant).opened)
            for known, within in zip(found, inner, strict=True):
                known |= dict.fromkeys(within)
            is_open, describes = is_open or opens, describes or tells
    return Named(*map(tuple, found), is_open, describes)


def _use(
    steps: list[dis.Instruction], k: int, subscripted: dict[str, None], passed: dict[str, None],
    handed: dict[str, None],
) -> None:  # fmt: skip
    """Note what becomes of what a step loads."""
    for name in filter(None, _loads(steps, k)):
        if _is_asked_one(steps, k):
            subscripted[name] = None
            continue
        passed[name] = None
        if k + 1 < len(steps) and steps[k + 1].opname not in (*_OF_OBJECT, "STORE_ATTR"):
            handed[name] = None
    if steps[k].opname == "LOAD_FAST_LOAD_FAST" or "BORROW_LOAD_FAST" in steps[k].opname:
        passed[steps[k].argval[0]] = handed[steps[k].argval[0]] = None


def _compared(steps: list[dis.Instruction]) -> dict[str, None]:
    """Return the names of what stands on either side of `==`."""
    found = dict[str, None]()
    for k in (k for k, one in enumerate(steps) if _is_equal(one)):
        left = _begin(steps, _begin(steps, k - 1) - 1)
        found |= {name: None for j in range(left, k) for name in _loads(steps, j) if name
                  and not (j + 1 < k and steps[j + 1].opname in _OF_OBJECT)}  # fmt: skip
    return found


def _looked_for(steps: list[dis.Instruction], k: int) -> str | None:
    """Return the attribute that a step asks for, which there may be or not."""
    asks = steps[k].opname in _OF_MODULE and steps[k].argval in _ASKING
    return _asked_for(steps, k) if asks else None


def _loads(steps: list[dis.Instruction], k: int) -> Iterator[str | None]:
    """Give the name of what a step leaves behind for the next one, where it has one."""
    one = steps[k]
    if one.opname in (*_OF_MODULE, *_OF_OBJECT) or one.opname.startswith(
        ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT", "STORE_FAST_LOAD_FAST")
    ):
        yield one.argval[-1] if isinstance(one.argval, tuple) else one.argval
    elif _is_entry(one) and k and steps[k - 1].opname in _KEY:
        yield steps[k - 1].argval if isinstance(steps[k - 1].argval, str) else None
    elif one.opname == "LOAD_CONST" and isinstance(one.argval, str):
        # not of a key, but of a name that is given to something: getattr(self, "weights")
        yield None if _is_entry(_after(steps, k, "COPY")) else one.argval


def _begin(steps: list[dis.Instruction], k: int) -> int:
    """Return where what a step ends begins: a name and its attributes, else the statement."""
    at = k
    while at > 0 and steps[at].opname in _OF_OBJECT:
        at -= 1
    if steps[at].opname.startswith(_VALUES):
        return at
    while at > 0 and not steps[at - 1].opname.startswith(_ENDS):
        at -= 1
    return at


def _is_entry(one: dis.Instruction) -> bool:
    return one.opname == "BINARY_SUBSCR" or (one.opname == "BINARY_OP" and one.argrepr == "[]")


def _after(steps: list[dis.Instruction], k: int, *skipped: str) -> dis.Instruction:
    """Return the first step after one that is none of some; the last one ends a function."""
    at = k + 1
    while at < len(steps) - 1 and steps[at].opname.startswith(skipped):
        at += 1
    return steps[min(at, len(steps) - 1)]


def _is_asked_one(steps: list[dis.Instruction], k: int) -> bool:
    """Return whether what a step loads is asked for one entry, for its length or for nothing."""
    following = [one.opname for one in steps[k + 1 : k + 5]] + [""] * 4
    if following[0] in _KEY:
        is_written = following[1] in ("STORE_SUBSCR", "DELETE_SUBSCR")
        return is_written or following[1] == "IS_OP" or _is_entry(_after(steps, k + 1, "COPY"))
    if following[0] in _OF_OBJECT and following[1] in _KEY:
        return steps[k + 1].argval == "get"
    if following[0] == "CONTAINS_OP":
        at = _begin(steps, k)
        return at > 0 and steps[at - 1].opname in _KEY
    return following[0] == "TO_BOOL" or following[0].startswith("POP_JUMP")


def _is_equal(one: dis.Instruction) -> bool:
    return one.opname == "COMPARE_OP" and one.argval in ("==", "!=")


def _opened(steps: list[dis.Instruction], k: int) -> int | None:
    """Return the step that loads what is asked for an attribute of a computed name, or for all.

    None where nothing is.
    """
    one = steps[k]
    if one.opname in _OF_OBJECT and one.argval in ("__dict__", "__getattribute__"):
        return k - 1
    is_asking = one.opname in _OF_MODULE and one.argval in _ASKING and _asked_for(steps, k) is None
    if not is_asking and not (
        one.opname in (*_OF_MODULE, *_OF_OBJECT) and one.argval in _OPENING
    ):  # fmt: skip
        return None
    at = min(k + 1, len(steps) - 1)
    while at < len(steps) - 1 and steps[at + 1].opname in _OF_OBJECT:
        at += 1
    return at


def _is_unknown(one: dis.Instruction) -> bool:
    """Return whether a step loads something whose name says nothing of where it is."""
    is_named = one.opname in (*_OF_MODULE, *_OF_OBJECT) or one.opname.startswith("LOAD_DEREF")
    return not is_named and one.argval != "self"


def _asked_for(steps: list[dis.Instruction], k: int) -> str | None:
    """Return the name of the attribute that getattr or hasattr is asked for, if it is a text."""
    at = k + 1
    while at < len(steps) and steps[at].opname.startswith(_PLAIN):
        at += 1
    if at == k + 1 or at == len(steps) or steps[at].opname != "LOAD_CONST":
        return None
    end, count = at + 1, 2  # arguments, if the name is whole: no "w_" + name, no "w_".join(names)
    if end < len(steps) and steps[end].opname.startswith(_VALUES):
        end, count = end + 1, 3
        while end < len(steps) and steps[end].opname in _OF_OBJECT:
            end += 1
    is_whole = end < len(steps) and (steps[end].opname, steps[end].argval) == ("CALL", count)
    return steps[at].argval if is_whole and isinstance(steps[at].argval, str) else None
