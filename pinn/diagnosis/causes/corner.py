"""Infinite slopes at a corner that the network does not know of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pinn.diagnosis.adapted.cornered import at_corners
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding, flow
from pinn.diagnosis.posed.singular import Singular, is_at, singular
from pinn.models import AutoModel, CornerEmbedding, Network
from pinn.training.experiment import Experiment

# Near to a corner, as a share of the domain; what part of the loss it holds where that is so, and
# how many times its share of the points.
_NEAR, _HELD, _TIMES = 0.05, 0.3, 5.0


def corner(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation whose loss lies around corners at which slopes are infinite.

    Of those that the network is not told of. Not where it is given features of its own, nor where
    the default model would not see them.
    """
    model, problem = seen.experiment.model, seen.problem
    if not isinstance(model, Network) or model.features:
        return
    known = [one.corner for one in model.embedding if isinstance(one, CornerEmbedding)]
    plain = replace(seen.experiment, model=AutoModel())
    by_default, decided = at_corners(plain, plain)
    places = [
        one for one in (singular(problem) if decided else [])
        if not any(is_at(at, one.corner.at, problem) for at in known)
    ]  # fmt: skip
    for residual in seen.equations if places else ():
        squares = seen.residuals[residual.name] ** 2
        if residual.whole or not squares.sum() > 0:
            continue
        near = _near(seen, residual.name, places)
        held, share = float(squares[near].sum() / squares.sum()), float(near.mean())
        if held < max(_HELD, _TIMES * share):
            continue
        yield Finding(
            "corner", "slopes are infinite at a corner",
            f"{100 * held:.0f} % of the loss of {residual.name} lies "
            f"{'; '.join(map(str, places))} or near; networks of the coordinates alone cannot "
            "follow the solution there, and the mean square of the residual has no bound; the "
            f"default model sees what is singular, and a network of your own {_told(by_default)}",
            (Change("model", "auto"),), 1 + math.log10(held / max(share, 1e-6)),
        )  # fmt: skip
        return


def _told(by_default: Experiment) -> str:
    """Return what makes a network see corners as the default one does, as a config has it."""
    corners = [
        {"corner": {"corner": _short(one.corner), "pole": _short(one.pole),
                    "exponent": _short([one.exponent])[0], "of": one.of,
                    **({"log": True} if one.log else {})}}
        for one in by_default.model.embedding if isinstance(one, CornerEmbedding)
    ]  # fmt: skip
    places = [
        {"at": dict(zip(one.at, _short(one.at.values()), strict=True)), "reach": one.reach}
        for one in by_default.problem.singularities
    ]
    return (
        f"with embedding: {flow(corners)} in the model and singularities: {flow(places)} in the "
        "problem"
    )


def _short(numbers: Iterable[float]) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]


def _near(seen: Examination, name: str, places: Sequence[Singular]) -> np.ndarray:
    """Return which fresh points of an equation lie near to a place, (n,)."""
    domain, points = seen.problem.domain, seen.fresh_points[name].coordinates
    found = np.zeros(len(points), bool)
    for one in places:
        columns = [domain.coordinates.index(n) for n in one.corner.names]
        away = np.linalg.norm(points[:, columns] - one.corner.at, axis=1)
        found |= away < _NEAR * domain.size
    return found
