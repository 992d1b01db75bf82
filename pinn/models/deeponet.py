"""Networks of points and of functions, multiplied (DeepONets)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import Annotated, Any

import numpy as np

import autograd as T
from pinn.geometry import Shape, apart
from pinn.models.mlp import MLP
from pinn.models.model import (
    MODELS,
    AnyModel,
    Model,
    ModelKind,
    build_module,
    check_model,
    check_part,
    is_by_trial,
    parameter_count,
)
from pinn.models.network import Network
from pinn.models.products import factor_names, run_joined, sums_of
from pinn.models.random_features import RandomFeatures
from pinn.schema import Count, declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Optional

_RANK = 10


@declared
class DeepONet(Model):
    """A sum of products of functions of the point (`trunk`) and of the families (`branch`).

    u(x, c) = t_0(x) + sum_k c_k t_k(x) + sum_r b_r(c) s_r(x), where c are the families of the
    problem, the numbers of a function's modes among them: what is linear in them has numbers of
    its own, and `branch` has `rank` more of what is not, 10 where that is left out. branch: None
    for a problem whose solution is linear in its functions, which is then followed to many more
    digits. Its trunk may be pinn.RandomFeatures: each t_k is then solved for, one after the other
    with one matrix, where no coefficient, field or datum belongs to all of them; or
    pinn.AutoModel(), which tries them. The trunk alone carries derivatives in space and time. Lu
    et al., Nature Machine Intelligence 3, 2021, eq. 2 (branch and trunk); Wang, Wang and
    Perdikaris, Science Advances 7, 2021 (by equations alone).
    """

    trunk: AnyModel = MLP()
    branch: Annotated[Any, Optional(ModelKind(MODELS))] = MLP(width=15, depth=2)
    rank: Count | None = None

    @property
    def linear(self) -> bool:
        """Whether it is linear in all that is trained: random features, and no branch."""
        features = isinstance(self.trunk, RandomFeatures) and self.trunk.linear
        return features and self.branch is None

    @property
    def by_trial(self) -> bool:
        """Whether a trial chooses its trunk."""
        return is_by_trial(self.trunk)

    def random_features(
        self, width: int, activation: str, steepness: tuple[float, float]
    ) -> DeepONet:
        """Return the model with random features where a trial would choose its trunk."""
        return replace(self, trunk=self.trunk.random_features(width, activation, steepness))

    def trained(self, depth: int) -> DeepONet:
        """Return the model with trained layers where a trial would choose its trunk."""
        return replace(self, trunk=self.trunk.trained(depth))

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        if not domain.families:
            refuse("expected a function space or a family: nothing is there for a branch to see")
        for name, model, shape, outputs in self._networks(domain, unknowns):
            with at(name):
                # a trial has one trunk for all: for each family and mode by itself
                (check_model if self.branch is None else check_part)(model, shape, outputs)

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int | None:
        """Return how many numbers the networks have together; None where one does not tell."""
        counts = [parameter_count(m, s, o) for _, m, s, o in self._networks(domain, unknowns)]
        return None if None in counts else sum(counts)

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns), initialised from `rng`."""
        self.check(domain, unknowns)
        networks = self._networks(domain, unknowns)
        made = {
            name: build_module(model, shape, outputs, stream, dtype, device)
            for (name, model, shape, outputs), stream in zip(
                networks, rng.spawn(len(networks)), strict=True
            )
        }
        each = len(networks[0][3]) // len(unknowns)
        middle, unit = middle_and_unit(domain)
        scaling = [T.tensor(a, dtype=dtype, device=device) for a in (middle, 1 / unit)]
        sums = sums_of(len(unknowns), each, dtype, device)
        return _Branched(domain, len(unknowns), made, sums, *scaling)

    def scaled_as(self, network: Network, domain: Shape, unknowns: Sequence[str]) -> DeepONet:
        """Return the model with the offset and scale that a network of the unknowns would have.

        Raises ValueError where these come from data.
        """
        if network.scale == "data":
            refuse("a DeepONet takes numbers for each output of its trunk", "scale")
        outputs = self._networks(domain, unknowns)[0][3]
        each = len(outputs) // len(unknowns)
        scale, offset = {}, {}
        for k, unknown in enumerate(unknowns):
            own = outputs[k * each : (k + 1) * each]
            if unknown in network.scale:
                scale |= dict.fromkeys(own, network.scale[unknown])
            if unknown in network.offset:
                offset[own[0]] = network.offset[unknown]
        return replace(self, trunk=replace(self.trunk, scale=scale, offset=offset))

    def _networks(
        self, domain: Shape, unknowns: Sequence[str]
    ) -> list[tuple[str, AnyModel, Shape, list[str]]]:
        """Return each network by its name, with what it sees and the names of its outputs."""
        plain, families = apart(domain)
        own = 0 if self.branch is None else self.rank or _RANK
        terms = 1 + len(families) + own
        found = [("trunk", self.trunk, plain, factor_names(unknowns, terms))]
        if own:
            names = factor_names(unknowns, own)
            found.append(("branch", self.branch, reduce(mul, families), names))
        return found


def middle_and_unit(domain: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return where a DeepONet takes families for 0, and what it takes for 1 from there on.

    Each of shape (families,): the middle of a range and half of it, or a deviation.
    """
    bounds = np.array([domain.bounds[one.name] for one in domain.families])
    middle, half = bounds.mean(axis=1), (bounds[:, 1] - bounds[:, 0]) / 2
    normal = [one.spacing == "normal" for one in domain.families]
    return middle, np.where(normal, half / 4, half)  # a deviation is a fourth of half a range


@dataclass(frozen=True)
class OfPlace(Model):
    """What a DeepONet without a branch is for one value of its families: a network of the point.

    whole: the DeepONet. The network is drawn as its trunk is, with the first output of each
    unknown.
    """

    whole: DeepONet

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns), which sees no families."""
        plain, _ = apart(domain)
        trunk = self.whole.trunk
        scaled = {
            key: {u: given[f"{u}0"] for u in unknowns if f"{u}0" in given}
            for key, given in (("scale", trunk.scale), ("offset", trunk.offset))
        }
        (stream,) = rng.spawn(1)
        network = build_module(replace(trunk, **scaled), plain, unknowns, stream, dtype, device)
        return _OfPlace(domain, network)


class _OfPlace(T.nn.Module):
    """Points (n, d) -> what a network makes of their coordinates but for the families."""

    def __init__(self, domain: Shape, network: T.nn.Module) -> None:
        super().__init__()
        families = {one.name for one in domain.families}
        self._places = [k for k, name in enumerate(domain.coordinates) if name not in families]
        self.trunk = network

    def forward(self, points: T.Tensor) -> T.Tensor:
        return self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        """Return the unknowns (n, unknowns) from a column (n, 1) for each coordinate."""
        return run_joined(self.trunk, [columns[j] for j in self._places])


class _Branched(T.nn.Module):
    """Points (n, d) -> sums of products of trunk and branch, (n, unknowns).

    sums: see sums_of. middle, factor: what families are shifted and scaled by, (families,).
    """

    def __init__(
        self,
        domain: Shape,
        unknowns: int,
        networks: dict[str, T.nn.Module],
        sums: T.Tensor,
        middle: T.Tensor,
        factor: T.Tensor,
    ) -> None:
        super().__init__()
        families = [one.name for one in domain.families]
        names = domain.coordinates
        self._families = [names.index(name) for name in families]
        self._places = [k for k, name in enumerate(names) if name not in families]
        self._unknowns = unknowns
        for name, tensor in {"sums": sums, "middle": middle, "factor": factor}.items():
            self.register_buffer(name, tensor, persistent=False)
        for name, network in networks.items():
            self.add_module(name, network)

    def forward(self, points: T.Tensor) -> T.Tensor:
        return self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        """Return the unknowns (n, unknowns) from a column (n, 1) for each coordinate."""
        trunk = run_joined(self.trunk, [columns[j] for j in self._places])
        families = [columns[j] for j in self._families]
        numbers = (T.cat(families, dim=1) - self.middle) * self.factor
        linear = [T.ones_like(families[0]), numbers]
        networks = dict(self.named_children())
        pieces = []
        own = run_joined(self.branch, families) if "branch" in networks else None
        for k in range(self._unknowns):
            pieces += linear
            if own is not None:
                each = own.shape[1] // self._unknowns
                pieces.append(own[:, k * each : (k + 1) * each])
        return T.nn.functional.linear(trunk * T.cat(pieces, dim=1), self.sums)
