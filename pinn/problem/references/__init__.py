"""Reference solutions that ship with pinn, by name."""

from pinn.problem.references import burgers
from pinn.problem.references.burgers import cole_hopf
from pinn.problem.references.reference import Reference
from pinn.problem.references.table import ReferenceKind, add, get, names, remove

__all__ = ["Reference", "ReferenceKind", "add", "cole_hopf", "get", "names", "remove"]

add(burgers.REFERENCE)
