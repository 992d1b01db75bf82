"""Solve differential equations with neural networks."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinn.cli.from_python import ensemble, sweep
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
    from pinn.diagnosis import (
        Check,
        Diagnosis,
        ProblemWarning,
        UnsolvedWarning,
        doctor,
        standard_errors,
    )
    from pinn.estimates import ErrorEstimate
    from pinn.evaluation import ExtrapolationWarning
    from pinn.functions import FunctionSpace
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
        CornerEmbedding,
        DeepONet,
        Embedding,
        Factorization,
        FourierEmbedding,
        InversionEmbedding,
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
        Discrepancy,
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
    from pinn.problem import Equation, Field, Parameter, Problem, Reference, Singularity
    from pinn.report import write_report
    from pinn.sampling import Sampling
    from pinn.schema import declared
    from pinn.solution import Ensemble, Report, Solution, load
    from pinn.solving import check, solve
    from pinn.tables import Table
    from pinn.tracking import MLflow, TensorBoard, Tracker, WandB
    from pinn.training import Auto, Callback, Plan, Progress, default_training

__version__ = "0.1.0"


def _require_own_autograd() -> None:
    """Raise ImportError unless `autograd` is the package that was installed with this one.

    The command line ends with the sentence alone. It is not imported for that: `python -m pinn
    --help` has no need of it.
    """
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "autograd")
    try:
        spec = importlib.util.find_spec("autograd")
    except ValueError:  # what sys.modules has under this name came from no file
        spec = None
    source = None
    if spec is not None and hasattr(spec.loader, "get_source"):
        source = spec.loader.get_source("autograd")
    version = re.search(r'^__version__ = "(.*)"$', source or "", flags=re.MULTILINE)
    if spec is None:
        found = "none is installed"
    elif source is None:
        found = spec.origin or "what is left of it"
    elif '\n__distribution__ = "pinn"' not in source or version is None:
        found = f"{spec.origin}, which is another package"
    elif version[1] != __version__:
        found = f"that of pinn {version[1]} in {spec.origin}, and this is pinn {__version__}"
    else:
        return
    remedy = (
        "another distribution named autograd was installed over it, or removed together with it; "
        "run `pip uninstall autograd`, then install pinn again as before, with `--force-reinstall "
        "--no-deps`"
    )
    elsewhere = spec is not None and spec.origin is not None and (
        os.path.realpath(os.path.dirname(spec.origin)) != os.path.realpath(own)
    )  # fmt: skip
    if elsewhere and os.path.exists(os.path.join(own, "__init__.py")):
        remedy = (
            f"it hides the one in {own}, because Python looks into the folder of the script (or "
            "the current one) and PYTHONPATH first; rename it, or take its folder off sys.path"
        )
    message = (
        f"pinn needs the package `autograd` that is installed with it, but found {found}: {remedy}"
    )
    if _is_command():
        sys.exit(message)
    raise ImportError(message)


def _is_command() -> bool:
    """Whether it is imported for `python -m pinn` or the script `pinn`, which show no traceback."""
    command = os.path.basename(sys.argv[0]) if sys.argv else ""
    if command == "-m":  # what it is while Python looks for the module
        return re.search(r" -\w*m ?pinn( |$)", " ".join(sys.orig_argv)) is not None
    return os.path.splitext(command)[0] == "pinn"


_require_own_autograd()

__all__ = [
    "BFGS",
    "DSGNAR",
    "ENGD",
    "KAN",
    "LBFGS",
    "LRA",
    "MLP",
    "MLflow",
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
    "Check",
    "Condition",
    "ConstantRate",
    "CornerEmbedding",
    "CosineDecay",
    "Data",
    "DeepONet",
    "Diagnosis",
    "Difference",
    "Dirichlet",
    "Discrepancy",
    "Disk",
    "Ellipse",
    "Embedding",
    "Ensemble",
    "EqualLosses",
    "Equation",
    "ErrorEstimate",
    "ExponentialDecay",
    "Factorization",
    "ExtrapolationWarning",
    "Family",
    "Field",
    "FirstOrder",
    "FourierEmbedding",
    "FunctionSpace",
    "GaussNewton",
    "GradNorm",
    "Initial",
    "Integral",
    "Interface",
    "Intersection",
    "Interval",
    "InversionEmbedding",
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
    "Singularity",
    "Siren",
    "SoftAdapt",
    "Solution",
    "Stage",
    "StopReason",
    "Surface",
    "Table",
    "TensorBoard",
    "Terminal",
    "Time",
    "Tracker",
    "Triangle",
    "Union",
    "UnsolvedWarning",
    "WandB",
    "Weighting",
    "Windows",
    "check",
    "declared",
    "default_training",
    "doctor",
    "ensemble",
    "load",
    "solve",
    "standard_errors",
    "sweep",
    "write_report",
]

# Where each name lives. It is imported when it is first used: `python -m pinn --help` needs none.
_HOMES = {
    "pinn.cli.from_python": ("ensemble", "sweep"),
    "pinn.conditions": (
        "Condition", "Data", "Dirichlet", "Initial", "Integral", "Interface", "Neumann",
        "Operator", "Periodic", "PointValue", "Robin", "Terminal",
    ),
    "pinn.diagnosis": (
        "Check", "Diagnosis", "ProblemWarning", "UnsolvedWarning", "doctor", "standard_errors",
    ),
    "pinn.estimates": ("ErrorEstimate",),
    "pinn.evaluation": ("ExtrapolationWarning",),
    "pinn.functions": ("FunctionSpace",),
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
        "KAN", "MLP", "AutoModel", "CornerEmbedding", "DeepONet", "Embedding", "Factorization",
        "FourierEmbedding", "InversionEmbedding", "Model", "ModifiedMLP", "MultiScale", "Network",
        "PeriodicEmbedding", "PerUnknown", "PirateNet", "RandomFeatures", "ResidualMLP",
        "Separable", "Siren", "Windows",
    ),
    "pinn.objective.weighting": (
        "LRA",
        "NTK",
        "Attention",
        "Causal",
        "Discrepancy",
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
    "pinn.problem": ("Equation", "Field", "Parameter", "Problem", "Reference", "Singularity"),
    "pinn.report": ("write_report",),
    "pinn.sampling": ("Sampling",),
    "pinn.schema": ("declared",),
    "pinn.solution": ("Ensemble", "Report", "Solution", "load"),
    "pinn.solving": ("check", "solve"),
    "pinn.tables": ("Table",),
    "pinn.tracking": ("MLflow", "TensorBoard", "Tracker", "WandB"),
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
