"""Texts of the expression language, most of them wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WORDS = (
    *"u v x t k a nu pi e 0 1 2 0.5 1e3 1e400 9 ( ) ( ) + - * / ** , = < > <= == ( )".split(),
    *"u_t u_xx v_xt u_ u__x u_xy u_q diff laplacian grad div dot curl at dn integral".split(),
    *"where sin exp log sqrt abs min max tanh normal_x erf atan2 floor sign hypot".split(),
    *'" \' \\ ; [ ] { } : ! @ # $ % ^ & | ~ ` ? . .. ... lambda if else None __class__'.split(),
    *(" ", "\n", "\t", "\x00", "\u00e9", "\u2212", "\U0001d465", "0x1", "1_0", "1j", ".5", "5."),
)

GOOD = (
    "u_t + u*u_x - nu*u_xx",
    "laplacian(u) + k**2*u",
    "u_t - diff(k*u_x, x)",
    "dot(grad(u), grad(v))",
    "at(u, t=t - 0.1) - u",
    "where(x < 0.5, u, v) - u_t",
    "integral(exp(s - x)*at(u, x=s), s, 0, x)",
    "diff(u, x, 2, t) + min(u, v)",
    "u_t + div(u*grad(v))",
    "-u**2**v + --1",
    "sqrt(abs(u))/(1 + u**2)",
)


def random_text(rng: np.random.Generator, longest: int = 24) -> str:
    """Return words in a row, or a good text with some of its characters changed."""
    if rng.random() < 0.5:
        count = int(rng.integers(1, longest))
        glue = " " if rng.random() < 0.5 else ""
        return glue.join(WORDS[k] for k in rng.integers(len(WORDS), size=count))
    return changed(GOOD[rng.integers(len(GOOD))], rng, int(rng.integers(1, 4)))


def changed(text: str, rng: np.random.Generator, changes: int) -> str:
    """Return a text with pieces dropped, doubled, put in or swapped."""
    for _ in range(changes):
        here, there = sorted(rng.integers(len(text) + 1, size=2))
        word = WORDS[rng.integers(len(WORDS))]
        text = _choices(text, int(here), int(there), word)[rng.integers(4)]
    return text


def _choices(text: str, here: int, there: int, word: str) -> Sequence[str]:
    return (
        text[:here] + text[here + 1 :],
        text[:here] + word + text[here:],
        text[:here] + text[here:there] * 2 + text[there:],
        text[:here] + word + text[there:],
    )
