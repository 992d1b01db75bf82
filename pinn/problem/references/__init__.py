"""What a problem is compared with: references that ship, by name, formulas and tables."""

from pinn.problem.references import burgers
from pinn.problem.references.burgers import cole_hopf
from pinn.problem.references.declaration import ReferenceKind
from pinn.problem.references.reference import Reference
from pinn.problem.references.table import add, get, names, remove
from pinn.problem.references.tabulated import with_tables

__all__ = [
    "Reference", "ReferenceKind", "add", "cole_hopf", "get", "names", "remove", "with_tables",
]

add(burgers.REFERENCE)
