"""Solvers that go by the gradient: their rules, and bursts of steps on a device."""
