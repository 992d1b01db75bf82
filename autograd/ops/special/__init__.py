"""Special functions, with derivatives of every order."""

from . import bessel, bspline, distributions, gamma, gates, special_polynomials

__all__ = ["bessel", "bspline", "distributions", "gamma", "gates", "special_polynomials"]
