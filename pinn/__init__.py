"""Solve differential equations with neural networks."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinn.conditions import (
        Condition,
        Data,
        Dirichlet,
        Initial,
        Integral,
        Interface,
        Neumann,
        Operator,
        Periodic,
        PointValue,
        Robin,
        Terminal,
    )
    from pinn.diagnosis import ProblemWarning, UnsolvedWarning, doctor, standard_errors
    from pinn.evaluation import ExtrapolationWarning
    from pinn.geometry import (
        Ball,
        Box,
        Difference,
        Disk,
        Ellipse,
        Family,
        Intersection,
        Interval,
        Mesh,
        PointCloud,
        Polygon,
        Shape,
        Surface,
        Time,
        Triangle,
        Union,
    )
    from pinn.models import (
        KAN,
        MLP,
        AutoModel,
        Embedding,
        Factorization,
        FourierEmbedding,
        Model,
        ModifiedMLP,
        MultiScale,
        Network,
        PeriodicEmbedding,
        PerUnknown,
        PirateNet,
        RandomFeatures,
        ResidualMLP,
        Separable,
        Siren,
        Windows,
    )
    from pinn.objective.weighting import (
        LRA,
        NTK,
        Attention,
        Causal,
        EqualLosses,
        GradNorm,
        ReLoBRaLo,
        SelfAdaptive,
        SoftAdapt,
        Weighting,
    )
    from pinn.optimizers import (
        BFGS,
        DSGNAR,
        ENGD,
        LBFGS,
        NNCG,
        SOAP,
        SPRING,
        SSBFGS,
        Adam,
        ConstantRate,
        CosineDecay,
        ExponentialDecay,
        FirstOrder,
        GaussNewton,
        LevenbergMarquardt,
        Muon,
        PlateauDecay,
        Schedule,
        SSBroyden,
        Stage,
        StopReason,
    )
    from pinn.problem import Equation, Field, Parameter, Problem, Reference
    from pinn.report import write_report
    from pinn.sampling import Sampling
    from pinn.schema import declared
    from pinn.solution import Report, Solution, load
    from pinn.solving import check, solve
    from pinn.tables import Table
    from pinn.training import Auto, Callback, Plan, Progress, default_training

__version__ = "0.1.0"


def _require_own_autograd() -> None:
    """Raise ImportError unless `autograd` is the package that is installed together with this one.

    It is not imported for that: `python -m pinn --help` has no need of it.
    """
    spec = importlib.util.find_spec("autograd")
    loader = None if spec is None else spec.loader
    source = loader.get_source("autograd") if hasattr(loader, "get_source") else ""
    if spec is None or (source is not None and '__distribution__ = "pinn"' not in source):
        found = "none is installed" if spec is None else f"{spec.origin or 'what is left of it'}"
        raise ImportError(
            f"pinn needs the package `autograd` that is installed with it, but found {found}: "
            "another distribution named autograd was installed over it, or removed together with "
            "it; run `pip uninstall autograd`, then `pip install --force-reinstall --no-deps pinn`"
        )


_require_own_autograd()

__all__ = [
    "BFGS",
    "DSGNAR",
    "ENGD",
    "KAN",
    "LBFGS",
    "LRA",
    "MLP",
    "NNCG",
    "NTK",
    "SOAP",
    "SPRING",
    "SSBFGS",
    "Adam",
    "Attention",
    "Auto",
    "AutoModel",
    "Ball",
    "Box",
    "Callback",
    "Causal",
    "Condition",
    "ConstantRate",
    "CosineDecay",
    "Data",
    "Difference",
    "Dirichlet",
    "Disk",
    "Ellipse",
    "Embedding",
    "EqualLosses",
    "Equation",
    "ExponentialDecay",
    "Factorization",
    "ExtrapolationWarning",
    "Family",
    "Field",
    "FirstOrder",
    "FourierEmbedding",
    "GaussNewton",
    "GradNorm",
    "Initial",
    "Integral",
    "Interface",
    "Intersection",
    "Interval",
    "LevenbergMarquardt",
    "Mesh",
    "Model",
    "ModifiedMLP",
    "MultiScale",
    "Muon",
    "Network",
    "Neumann",
    "Operator",
    "Parameter",
    "Periodic",
    "PerUnknown",
    "PeriodicEmbedding",
    "PirateNet",
    "Plan",
    "PlateauDecay",
    "PointCloud",
    "PointValue",
    "Polygon",
    "Problem",
    "ProblemWarning",
    "Progress",
    "RandomFeatures",
    "ReLoBRaLo",
    "Reference",
    "Report",
    "ResidualMLP",
    "Robin",
    "SSBroyden",
    "Sampling",
    "Schedule",
    "SelfAdaptive",
    "Separable",
    "Shape",
    "Siren",
    "SoftAdapt",
    "Solution",
    "Stage",
    "StopReason",
    "Surface",
    "Table",
    "Terminal",
    "Time",
    "Triangle",
    "Union",
    "UnsolvedWarning",
    "Weighting",
    "Windows",
    "check",
    "declared",
    "default_training",
    "doctor",
    "load",
    "solve",
    "standard_errors",
    "write_report",
]

# Where each name lives. It is imported when it is first used: `python -m pinn --help` needs none.
_HOMES = {
    "pinn.conditions": (
        "Condition", "Data", "Dirichlet", "Initial", "Integral", "Interface", "Neumann",
        "Operator", "Periodic", "PointValue", "Robin", "Terminal",
    ),
    "pinn.diagnosis": ("ProblemWarning", "UnsolvedWarning", "doctor", "standard_errors"),
    "pinn.evaluation": ("ExtrapolationWarning",),
    "pinn.geometry": (
        "Ball",
        "Box",
        "Difference",
        "Disk",
        "Ellipse",
        "Family",
        "Intersection",
        "Interval",
        "Mesh",
        "PointCloud",
        "Polygon",
        "Shape",
        "Surface",
        "Time",
        "Triangle",
        "Union",
    ),
    "pinn.models": (
        "KAN", "MLP", "AutoModel", "Embedding", "Factorization", "FourierEmbedding", "Model",
        "ModifiedMLP", "MultiScale", "Network", "PeriodicEmbedding", "PerUnknown", "PirateNet",
        "RandomFeatures", "ResidualMLP", "Separable", "Siren", "Windows",
    ),
    "pinn.objective.weighting": (
        "LRA",
        "NTK",
        "Attention",
        "Causal",
        "EqualLosses",
        "GradNorm",
        "ReLoBRaLo",
        "SelfAdaptive",
        "SoftAdapt",
        "Weighting",
    ),
    "pinn.optimizers": (
        "BFGS",
        "DSGNAR",
        "ENGD",
        "LBFGS",
        "NNCG",
        "SOAP",
        "SPRING",
        "SSBFGS",
        "Adam",
        "ConstantRate",
        "CosineDecay",
        "ExponentialDecay",
        "FirstOrder",
        "GaussNewton",
        "LevenbergMarquardt",
        "Muon",
        "PlateauDecay",
        "Schedule",
        "SSBroyden",
        "Stage",
        "StopReason",
    ),
    "pinn.problem": ("Equation", "Field", "Parameter", "Problem", "Reference"),
    "pinn.report": ("write_report",),
    "pinn.sampling": ("Sampling",),
    "pinn.schema": ("declared",),
    "pinn.solution": ("Report", "Solution", "load"),
    "pinn.solving": ("check", "solve"),
    "pinn.tables": ("Table",),
    "pinn.training": ("Auto", "Callback", "Plan", "Progress", "default_training"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pinn' has no attribute {name!r}{_hint(name)}", name=name)
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def _hint(name: str) -> str:
    """Say which name was meant, for one that is not there.

    Nothing is said of a module: `from pinn import config` looks for a name first, and goes on.
    """
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return ""
    from pinn.checks import nearest

    return nearest(name, __all__) or "; `python -m pinn list` shows what there is"


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
