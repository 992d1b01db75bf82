"""Changes of a run's model and stages, as a config takes them that may have left both open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pinn.diagnosis.finding import Change, flow
from pinn.models import MODELS
from pinn.models.model import ModelKind
from pinn.optimizers import STAGES, Stage
from pinn.schema import Family, dump
from pinn.schema.declared import Member


def of_model(model: Any, /, **settings: Any) -> Change:
    """Return the change of settings of a model; settings: plain data.

    It names the whole model: the config may say "auto", which has none of them. A class that no
    file holds is for the reader to change.
    """
    if type(model) not in dict(MODELS.items()).values():
        return Change("model", None, flow(settings))
    return Change("model", _short(MODELS, ModelKind(MODELS), model, settings))


def of_training(model: Any, stages: list[Any]) -> Iterator[Change]:
    """Yield the change to other stages, as `short` has them.

    Where stages are given, "auto" takes layers that are trained: a model that is linear in what is
    trained has to be named beside them.
    """
    if getattr(model, "linear", False):
        yield of_model(model)
    yield Change("training", stages)


def short(stage: Stage) -> Any:
    """Return a stage as a config holds it, without the settings that are its defaults."""
    if type(stage) not in dict(STAGES.items()).values():
        return stage.name
    return _short(STAGES, Member(STAGES), stage, {})


def _short(family: Family, kind: Member, value: Any, changed: dict[str, Any]) -> dict[str, Any]:
    ((name, settings),) = kind.dump(value).items()
    usual = dump(family[name]())
    given = {
        key: _parts_short(getattr(value, key), one)
        for key, one in settings.items() if one != usual[key]
    }  # fmt: skip
    return {name: {**given, **changed}}


def _parts_short(value: Any, dumped: Any) -> Any:
    """Return a setting as a config holds it, models that are in it without their defaults."""
    if type(value) in dict(MODELS.items()).values():
        return _short(MODELS, ModelKind(MODELS), value, {})
    if isinstance(value, Mapping):
        return {key: _parts_short(one, dumped[key]) for key, one in value.items()}
    return dumped
