"""Towers of derivatives in closed form: every order of a smooth function from a few cheap passes.

All derivatives of tanh are polynomials in t = tanh(x) and w = 1 - t**2, those of erf are
polynomials in x times w = exp(-x**2), those of asin polynomials in x and w = (1 - x**2)**-1/2, and
so on: there are variables whose derivatives are polynomials in the variables.  A `Tower` keeps
these rates, differentiates by the chain rule on coefficients (once, on plain numbers) and
evaluates by Horner's rule in place.  No order needs a transcendental function.

A polynomial is a dict from exponents (a tuple, one a variable) to coefficients.
"""

from __future__ import annotations

from functools import cache
from typing import Any

Polynomial = dict[tuple[int, ...], Any]


def _add(total: Polynomial, exponents: tuple[int, ...], coefficient: Any) -> None:
    value = total.get(exponents, 0) + coefficient
    if value:
        total[exponents] = value
    else:
        total.pop(exponents, None)


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    product: Polynomial = {}
    for left, p in a.items():
        for right, q in b.items():
            _add(product, tuple(i + j for i, j in zip(left, right, strict=True)), p * q)
    return product


class Tower:
    """The derivatives of a function as polynomials in variables with polynomial rates.

    rates    the derivative of each variable.
    first    the derivative number `start` of the function.
    square   what the square of variable 0 equals, where that shortens the polynomials.
    decays   the last variable is a factor that outweighs all others where it underflows: there the
             result is 0, whatever the others have overflown to.
    """

    def __init__(
        self,
        rates: tuple[Polynomial, ...],
        first: Polynomial,
        *,
        start: int = 1,
        square: Polynomial | None = None,
        decays: bool = False,
    ) -> None:
        self.rates = rates
        self.first = first
        self.start = start
        self.square = square
        self.decays = decays

    @cache  # noqa: B019 - towers are module constants and live for ever
    def polynomial(self, order: int) -> Polynomial:
        """Return the polynomial of the derivative of this order."""
        current = self.first
        for _ in range(order - self.start):
            current = self._reduced(self._derivative(current))
        return current

    @cache  # noqa: B019
    def plan(self, order: int) -> Any:
        """Return the derivative of this order as nested Horner steps: see `_nested`."""
        return _nested(self.polynomial(order))

    def _derivative(self, poly: Polynomial) -> Polynomial:
        total: Polynomial = {}
        for exponents, coefficient in poly.items():
            for k, power in enumerate(exponents):
                if power:
                    lowered = exponents[:k] + (power - 1,) + exponents[k + 1 :]
                    for term, c in times({lowered: coefficient * power}, self.rates[k]).items():
                        _add(total, term, c)
        return total

    def _reduced(self, poly: Polynomial) -> Polynomial:
        if self.square is None:
            return poly
        while any(exponents[0] > 1 for exponents in poly):
            total: Polynomial = {}
            for exponents, coefficient in poly.items():
                if exponents[0] < 2:
                    _add(total, exponents, coefficient)
                    continue
                rest = {(exponents[0] - 2, *exponents[1:]): coefficient}
                for term, c in times(rest, self.square).items():
                    _add(total, term, c)
            poly = total
        return poly

    def evaluate(self, xp: Any, order: int, variables: tuple, out: Any = None) -> Any:
        """Return the derivative of this order; `out` must not be one of the variables."""
        if out is None:
            out = xp.empty_like(variables[-1])
        result = _run(xp, self.plan(order), variables, out)
        if self.decays:
            xp.copyto(result, 0, where=variables[-1] == 0)
        return result


def _nested(poly: Polynomial) -> Any:
    """Return a polynomial as a number, or as (factors, variable, coefficients).

    It stands for the product of the variables in `factors` and of the polynomial in one variable
    whose coefficients, highest power first, are numbers or of this form again.
    """
    if not poly:
        return 0.0
    lowest = tuple(min(powers) for powers in zip(*poly, strict=True))
    factors = tuple(k for k, power in enumerate(lowest) for _ in range(power))
    rest = {
        tuple(i - low for i, low in zip(exponents, lowest, strict=True)): c
        for exponents, c in poly.items()
    }
    used = [k for k in range(len(lowest)) if any(exponents[k] for exponents in rest)]
    if not used:
        constant = float(next(iter(rest.values())))
        return (factors, None, (constant,)) if factors else constant
    main = used[-1]
    by_power: dict[int, Polynomial] = {}
    for exponents, c in rest.items():
        without = exponents[:main] + (0,) + exponents[main + 1 :]
        by_power.setdefault(exponents[main], {})[without] = c
    top = max(by_power)
    coefficients = tuple(_nested(by_power.get(power, {})) for power in range(top, -1, -1))
    return (factors, main, coefficients)


def _value(xp: Any, plan: Any, variables: tuple, out: Any = None) -> Any:
    """Return the value of a nested coefficient: a variable itself, else evaluated into `out`."""
    factors, main, coefficients = plan
    if main is None and len(factors) == 1 and coefficients[0] == 1.0:
        return variables[factors[0]]
    return _run(xp, plan, variables, xp.empty_like(variables[0]) if out is None else out)


def _run(xp: Any, plan: Any, variables: tuple, out: Any) -> Any:
    """Evaluate nested Horner steps into `out`."""
    if not isinstance(plan, tuple):
        out[...] = plan
        return out
    factors, main, coefficients = plan
    highest = coefficients[0]
    if main is None:
        # a constant times a product of variables: start from the first of them
        current, factors = variables[factors[0]], factors[1:]
        if highest != 1.0 or not factors:
            current = xp.multiply(current, highest, out=out)
    else:
        x = variables[main]
        if isinstance(highest, tuple):
            current = xp.multiply(_value(xp, highest, variables, out), x, out=out)
        else:
            current = x if highest == 1.0 else xp.multiply(x, highest, out=out)
        last = len(coefficients) - 1
        for position in range(1, last + 1):
            coefficient = coefficients[position]
            if isinstance(coefficient, tuple):
                current = xp.add(current, _value(xp, coefficient, variables), out=out)
            elif coefficient:
                current = xp.add(current, coefficient, out=out)
            if position < last:
                current = xp.multiply(current, x, out=out)
    for k in factors:
        current = xp.multiply(current, variables[k], out=out)
    return out
