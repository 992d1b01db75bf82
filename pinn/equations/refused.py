"""What a function that stands for an equation cannot mean, whatever the values are."""

from __future__ import annotations


class Refused(ValueError):
    """A text, an operator's call or an operation of vectors that has no meaning."""


class RefusedName(Refused, AttributeError):
    """A name that means nothing; an AttributeError too, as Python expects of one."""
