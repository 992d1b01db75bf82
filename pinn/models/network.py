"""What networks have in common: inputs, layers, outputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

import autograd as T
from pinn.checks import nearest
from pinn.geometry import Shape
from pinn.models.embeddings import AnyEmbeddings, Embedding
from pinn.models.features import Features, resolved, with_numbers
from pinn.models.inputs import InputPlan, Inputs
from pinn.models.model import Facts, Model
from pinn.models.parts import Factorization, Maker, Part
from pinn.schema import declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Choice, Items, Names, Number, OneOf, Text

_FEATURES = Items(
    Text("an expression of coordinates and constants such as exp(-nu*t)"),
    "a list of expressions of coordinates and constants such as [x, exp(-nu*t)]",
)
_OFFSET = Names(Number(), "a mapping from unknowns to numbers")
_SCALE = OneOf(
    Choice(("data",)), Names(Number(above=0.0), "a mapping from unknowns to numbers > 0")
)


@declared(kw_only=True)
class Network(Model):
    """A network made of parts: what it sees, its layers, what its outputs stand for.

    A network of one's own says what its parts are (`parts`) and how they act (`forward`), and has
    the rest: features, embeddings, factorised weights, the scale of its outputs, the number of its
    parameters, how it is built and saved.

    features: what the network sees instead of the coordinates, each an expression of them and of
    the problem's constants: [x, t, exp(-nu*t)]. Coordinates are scaled from their bounds to
    [-1, 1], other expressions taken as they are. embedding: what is applied to that, one after the
    other. factorization: random weight factorisation of all layers. offset, scale: unknown ->
    number, so that u = offset + scale * N with an N of about 1; 0 and 1 where they are left out,
    but for unknowns that a problem states to be 20 times larger or smaller, or that are 0 where an
    equation has no value (docs/decisions/0060). scale may be "data": then both come from the values
    that conditions give to each unknown, their mean and standard deviation.

    enrichment: expressions f_k, likewise, that are added to what the layers give, each with a
    trained factor for each unknown, which starts at 0: N = layers + sum c_k f_k. Where a solution
    is known to behave like a multiple of f_k, near a corner or a source, the layers are left with
    the smooth rest. Melenk and Babuska, Comput. Methods Appl. Mech. Eng. 139 (1996) 289; for
    networks: Hu, Jin and Zhou, SIAM J. Sci. Comput. 46 (2024).
    """

    features: Annotated[Sequence[str], _FEATURES] = ()
    embedding: AnyEmbeddings = ()
    enrichment: Annotated[Sequence[str], _FEATURES] = ()
    factorization: Factorization | None = None
    offset: Annotated[Mapping[str, float], _OFFSET] = field(default_factory=dict)
    scale: Annotated[Mapping[str, float] | Literal["data"], _SCALE] = field(default_factory=dict)

    fits_last_layer: ClassVar[bool] = False
    """Whether the last part, a linear layer, starts as the fit of the values that are given."""

    @property
    def linear(self) -> bool:
        """Whether the network is linear in all that is trained."""
        return False

    @abstractmethod
    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        """Return the parts, by name, of a network (n, inputs) -> (n, outputs)."""

    def parts_for(self, plan: InputPlan, outputs: int) -> dict[str, Part]:
        """Return the parts of a network that sees what a plan says."""
        return self.parts(plan.width, outputs)

    @abstractmethod
    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        """Return the outputs (n, outputs) for z (n, inputs); parts: what `parts` was made into."""

    def embeddings(self) -> tuple[Embedding, ...]:
        """Return all embeddings: those that were given, and those of the network's own."""
        return self.embedding

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        self._plan(domain)
        self._enrichment(domain)
        for key, given in (("offset", self.offset), ("scale", self.scale)):
            for name in given if isinstance(given, Mapping) else ():
                if name not in unknowns:
                    refuse(
                        f"expected some of the unknowns {', '.join(unknowns)}, got {name!r}"
                        f"{nearest(name, unknowns)}",
                        key,
                    )

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int:
        """Return how many numbers the network has, without building it."""
        plan = self._plan(domain)
        parts = self.parts_for(plan, len(unknowns)).values()
        layers = sum(part.count(self.factorization) for part in parts)
        return plan.count() + layers + len(self.enrichment) * len(unknowns)

    def settled(self, domain: Shape, unknowns: Sequence[str], facts: Facts) -> Network:
        """Return the network with numbers for the constants and for what `scale: data` means."""
        texts = {
            key: with_numbers(domain, getattr(self, key), facts.constants, key)
            for key in ("features", "enrichment")
        }
        as_they_were = all(found == getattr(self, key) for key, found in texts.items())
        written = self if as_they_were else replace(self, **texts)
        if self.scale != "data":
            return written
        offsets, scales = {}, {}
        for name in unknowns:
            values = facts.given(name)
            if not values.size:
                refuse(
                    f"no condition gives values of {name!r} itself; write its scale as a number, "
                    f"{{{name}: 1}}",
                    "scale",
                )
            offset, spread = float(values.mean()), float(values.std())
            offsets[name] = self.offset.get(name, offset)
            # one value everywhere says nothing of how large the others are
            scales[name] = spread if spread > 1e-9 * abs(offset) else 1.0
        return replace(written, offset=offsets, scale=scales)

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns), initialised from `rng`.

        Raises as `check` does, and ValueError while `scale` is "data".
        """
        self.check(domain, unknowns)
        if self.scale == "data":
            refuse(
                "only pinn.solve gets the scale from a problem's data; write numbers here",
                "scale",
            )
        scale = [self.scale.get(name, 1.0) for name in unknowns]
        offset = [self.offset.get(name, 0.0) for name in unknowns]
        maker = Maker(rng, dtype, device, self.factorization)
        enrichment = self._enrichment(domain)
        return NetworkModule(self, self._plan(domain), enrichment, scale, offset, maker)

    def _plan(self, domain: Shape) -> InputPlan:
        return InputPlan(domain, self.features, self.embeddings())

    def _enrichment(self, domain: Shape) -> Features:
        return Features(domain, resolved(domain, self.enrichment, "enrichment"))


class NetworkModule(T.nn.Module):
    """A network of an InputPlan and parts: points (n, coordinates) -> (n, unknowns)."""

    def __init__(
        self,
        network: Network,
        plan: InputPlan,
        enrichment: Features,
        scale: Sequence[float],
        offset: Sequence[float],
        maker: Maker,
    ) -> None:
        super().__init__()
        self.inputs = Inputs(plan, maker)
        parts = network.parts_for(plan, len(scale))
        self.parts = {name: part.make(self, name, maker) for name, part in parts.items()}
        self._enrichment = enrichment
        if len(enrichment):
            self.enrichment = maker.parameter(np.zeros((len(scale), len(enrichment))))
        self.last_layer = list(self.parts.values())[-1] if network.fits_last_layer else None
        self._run: Callable[[Mapping[str, Any], T.Tensor], T.Tensor] = network.forward
        self._scaled = any(number != 1 for number in scale)
        self._moved = any(offset)
        if self._scaled:
            self.register_buffer("scale", maker.tensor(scale), persistent=False)
        if self._moved:
            self.register_buffer("offset", maker.tensor(offset), persistent=False)

    def forward(self, points: T.Tensor) -> T.Tensor:
        if len(self._enrichment):
            return self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])
        return self._outputs(self._run(self.parts, self.inputs(points)))

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        """Return the unknowns (n, unknowns) from a column (n, 1) for each coordinate."""
        values = self._run(self.parts, self.inputs.of_columns(columns))
        if len(self._enrichment):
            known = T.cat(self._enrichment(columns), dim=1)
            values = values + T.nn.functional.linear(known, self.enrichment)
        return self._outputs(values)

    def _outputs(self, values: T.Tensor) -> T.Tensor:
        if self._scaled:
            values = values * self.scale
        return values + self.offset if self._moved else values
