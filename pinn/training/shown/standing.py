"""Where training stands, as one line of text that fits where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinn.text import clock, shortened

_GAP = "  "
_LONGEST_NAME = 18
# A line with less room than this has no place for the whole name of a stage.
_NARROW, _SHORT_STAGE = 100, 12
_BAR = 12


@dataclass(frozen=True)
class Standing:
    """What is told of a stage on its way.

    steps: its limit, None where a limit in time counts. share: of that limit, in [0, 1], what is
    behind. rate: steps a second, 0 where it is not known yet; left: seconds to the limit. losses:
    by block, shares: the same times their weights, by which they are chosen where there is no room
    for all. errors: relative L2, by unknown, where there is a reference.
    """

    stage: str
    step: int
    steps: int | None
    share: float
    rate: float
    left: float
    loss: float
    losses: Mapping[str, float]
    shares: Mapping[str, float]
    errors: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    learning_rate: float | None = None
    damping: float | None = None

    def line(self, width: int | None = None, bar: str = "") -> str:
        """Return it in at most so many columns, with what matters most; None: all of it.

        bar: two signs, for what is behind and what is not, of which a bar is made where there is
        room; "" for none.
        """
        if width is None:
            return _GAP.join([*self._head(_LONGEST_NAME * 2), *(self._pieces(None).values())])
        head = self._head(_SHORT_STAGE if width < _NARROW else _LONGEST_NAME * 2)
        pieces = {("bar", ""): self._bar(bar), **self._pieces(_LONGEST_NAME)}
        room = width - sum(len(part) + len(_GAP) for part in head) + len(_GAP)
        kept = set()
        for name in self._by_importance(pieces):
            # What is left out is counted, which takes some room as well.
            if len(_GAP) + len(pieces[name]) <= room - (4 if name[0] == "losses" else 0):
                room -= len(_GAP) + len(pieces[name])
                kept.add(name)
        shown = {name: text for name, text in pieces.items() if name in kept}
        told = [name for name in shown if name[0] == "losses"]
        left_out = len([name for name in pieces if name[0] == "losses"]) - len(told)
        if told and left_out:
            shown[told[-1]] += f" +{left_out}"
        return _GAP.join([*head, *filter(None, shown.values())])[:width]

    def _bar(self, signs: str) -> str:
        behind = round(self.share * _BAR)
        return signs and signs[0] * behind + signs[1] * (_BAR - behind)

    def _head(self, longest: int) -> list[str]:
        name = self.stage if len(self.stage) <= longest else f"{self.stage[: longest - 2]}.."
        return [f"{name} {self.step}" + ("" if self.steps is None else f"/{self.steps}")]

    def _pieces(self, longest: int | None) -> dict[tuple[str, str], str]:
        """Return the parts of the line in their order, by kind and name."""

        def short(name: str) -> str:
            return name if longest is None else shortened(name, longest)

        found = {("loss", ""): f"loss {self.loss:.2e}"}
        if len(self.losses) > 1:
            for name, loss in self.losses.items():
                found["losses", name] = f"{short(name)} {loss:.1e}"
        for name, error in self.errors.items():
            called = "error" if len(self.errors) == 1 else f"error of {short(name)}"
            found["errors", name] = f"{called} {error:.1e}"
        for name, value in self.parameters.items():
            found["parameters", name] = f"{short(name)} = {value:.4g}"
        if self.learning_rate is not None:
            found["rate", "learning"] = f"rate {self.learning_rate:.1e}"
        if self.damping is not None:
            found["rate", "damping"] = f"damping {self.damping:.1e}"
        if self.rate:
            found["speed", ""] = _speed(self.rate)
        found["left", ""] = f"{clock(self.left)} left"
        return found

    def _by_importance(self, pieces: Mapping[tuple[str, str], str]) -> list[tuple[str, str]]:
        """Return the names of the parts, those that are shown first where there is little room."""
        losses = sorted(self.losses, key=lambda name: -self.shares.get(name, 0.0))
        errors = sorted(self.errors, key=lambda name: -self.errors[name])
        order = [
            ("loss", ""), ("left", ""), *(("errors", name) for name in errors[:1]),
            *(("losses", name) for name in losses[:2]), ("speed", ""),
            *(("parameters", name) for name in self.parameters), ("rate", "damping"),
            ("rate", "learning"), ("bar", ""), *(("losses", name) for name in losses[2:]),
            *(("errors", name) for name in errors[1:]),
        ]
        return [name for name in order if name in pieces]


def _speed(rate: float) -> str:
    if rate < 1:
        return f"{1 / rate:.2g} s/step"
    return f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
