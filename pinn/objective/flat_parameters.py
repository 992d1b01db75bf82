"""All trainable numbers as one flat vector with named parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import autograd as T
from autograd import devices
from autograd.plan.lanes.cuda.transfers import copy
from pinn.models import Joined
from pinn.objective.layout import Layout
from pinn.problem.parameter import Parameter


def fill(tensor: T.Tensor, numbers: np.ndarray) -> None:
    """Write numbers of the same shape into a leaf, in its dtype and on its device."""
    if tensor.is_cuda:
        with T.no_grad():
            tensor.copy_(T.tensor(numbers, dtype=tensor.dtype, device=tensor.device))
    else:  # at every step: straight into its memory
        np.copyto(tensor.numpy(), numbers, casting="same_kind")


class FlatParameters:
    """The parameters of a model, of fields and of a problem as views of one flat tensor.

    fields: name -> the network of a field, and the numbers of the coordinates that it takes.
    `module` has the columns of all: the model's, then those of the fields. theta, a float64 vector
    of `size` numbers, is what optimizers work on; `layout` says what they are, part by part.
    Loading a theta changes the modules in place.
    """

    def __init__(
        self,
        module: T.nn.Module,
        parameters: Sequence[Parameter],
        dtype: T.dtype,
        device: str,
        fields: Mapping[str, tuple[T.nn.Module, Sequence[int]]] | None = None,
    ) -> None:
        self.fields = dict(fields or {})
        self.parameters = tuple(parameters)
        owners = {"model": module, **{name: own for name, (own, _) in self.fields.items()}}
        inputs = {name: taken for name, (_, taken) in self.fields.items()}
        self.module = Joined(owners, inputs) if self.fields else module
        self._owners = owners
        weights = [
            (f"{owner}.{name}", tensor)
            for owner, own in owners.items()
            for name, tensor in own.named_parameters()
            if tensor.requires_grad  # those that are frozen stay as they are, as buffers do
        ]
        self._raw = {
            p.name: T.tensor(p.raw_initial, dtype=dtype, device=device, requires_grad=True)
            for p in self.parameters
        }
        named = weights + list(self._raw.items())
        self.tensors = [tensor for _, tensor in named]
        self.layout = Layout.of(
            (name, tuple(tensor.shape), name in self._raw) for name, tensor in named
        )
        self.size = self.layout.size
        with T.no_grad():
            self._flat = T.cat([tensor.detach().reshape(-1) for tensor in self.tensors])
            for tensor, part in zip(self.tensors, self.layout.parts, strict=True):
                tensor.data = self._flat[part.place].reshape(part.shape)
        self._on_host = not self._flat.is_cuda
        # On a device: the numbers there, and how often anything had been written then.
        self._held: tuple[np.ndarray, int] | None = None

    @property
    def theta(self) -> np.ndarray:
        """A copy of the vector, float64."""
        held = self._known()
        if held is None:
            held = self._flat.detach().cpu().numpy()
        return np.array(held, dtype=np.float64)

    def frozen(self, owner: str) -> dict[str, np.ndarray]:
        """Return the parameters of a network that are not trained, by name.

        owner: "model", or the name of a field.
        """
        return {
            f"{owner}.{name}": tensor.detach().cpu().numpy()
            for name, tensor in self._owners[owner].named_parameters() if not tensor.requires_grad
        }  # fmt: skip

    def load(self, theta: np.ndarray) -> None:
        """Set all parameters from a vector of `size` numbers."""
        if np.shape(theta) != (self.size,):
            raise ValueError(f"expected a vector of shape ({self.size},), got {np.shape(theta)}")
        if self._on_host:
            fill(self._flat, np.asarray(theta))
        elif self._known() is None or self._known().tobytes() != self._cast(theta).tobytes():
            fill(self._flat, np.asarray(theta))
            self.loaded(theta)

    def load_there(self, theta: Any) -> None:
        """Set all parameters from an array (size,) of their device: a launch of a kernel."""
        self._held = None
        copy(devices.namespace_of(theta), [(theta, self._flat._data)])

    def loaded(self, theta: np.ndarray | None) -> None:
        """Take note of what was loaded last, so that it is neither sent again nor fetched.

        None: of something that the host does not know.
        """
        if theta is None:
            self._held = None
            return
        self._held = self._cast(theta), self._writes()

    def _cast(self, theta: np.ndarray) -> np.ndarray:
        """Return a copy in the precision of the parameters."""
        with np.errstate(over="ignore"):
            return np.array(theta, dtype=self._flat.dtype)

    def _known(self) -> np.ndarray | None:
        """Return the numbers on a device, as far as the host knows them."""
        if self._held is None or self._held[1] != self._writes():
            return None
        return self._held[0]

    def _writes(self) -> int:
        """Return how often the library has written to the parameters."""
        return sum(tensor._version[0] for tensor in (self._flat, *self.tensors))

    def coefficients(self) -> dict[str, T.Tensor]:
        """Return each coefficient as a tensor of shape () that depends on its raw number."""
        return {p.name: p.value(self._raw[p.name]) for p in self.parameters}

    def coefficients_of(self, theta: np.ndarray) -> dict[str, float]:
        """Return the coefficients of a vector, as the dtype holds it; the modules keep theirs."""
        numbers = np.asarray(theta, dtype=self._flat.dtype)
        raw = {part.name: part.of(numbers) for part in self.layout.parts if part.name in self._raw}
        return {p.name: p.value(T.tensor(raw[p.name])).item() for p in self.parameters}

    def tensors_of(self, owner: str) -> list[T.Tensor]:
        """Return the trained tensors of a coefficient, or those of a field's network."""
        named = zip(self.layout.parts, self.tensors, strict=True)
        return [t for p, t in named if p.name == owner or p.name.startswith(f"{owner}.")]

    def named(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts of a vector by name, as views of it."""
        return {part.name: part.of(theta) for part in self.layout.parts}

    def from_named(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the vector made of named parts; ValueError for a missing or misshapen one."""
        names = [part.name for part in self.layout.parts]
        unknown, missing = sorted(set(arrays) - set(names)), sorted(set(names) - set(arrays))
        if unknown or missing:
            raise ValueError(
                f"expected the parameters {', '.join(names)}; missing: "
                f"{', '.join(missing) or 'none'}, not known: {', '.join(unknown) or 'none'}"
            )
        theta = np.empty(self.size)
        for part in self.layout.parts:
            array = np.asarray(arrays[part.name])
            if array.shape != part.shape:
                raise ValueError(
                    f"parameter {part.name}: expected shape {part.shape}, got {array.shape}"
                )
            part.of(theta)[...] = array
        return theta
