"""Domains: intervals, time, and the boxes that `*` makes of them."""

from pinn.geometry.box import Box
from pinn.geometry.declaration import AnyDomain
from pinn.geometry.domain import Domain, Face, UnitSampler
from pinn.geometry.interval import Interval, Time

__all__ = ["AnyDomain", "Box", "Domain", "Face", "Interval", "Time", "UnitSampler"]
