"""What may hold a solution back: one cause a file, a function that looks for it.

A cause of one's own is a function of an Examination that yields findings, and a line here:
CAUSES["name"] = function.
"""

from pinn.diagnosis.causes.balance import balance
from pinn.diagnosis.causes.causality import causality
from pinn.diagnosis.causes.contradiction import contradiction
from pinn.diagnosis.causes.corner import corner
from pinn.diagnosis.causes.front import front
from pinn.diagnosis.causes.hard_value import hard_value
from pinn.diagnosis.causes.long_time import long_time
from pinn.diagnosis.causes.misfit import misfit
from pinn.diagnosis.causes.network import network
from pinn.diagnosis.causes.points import points
from pinn.diagnosis.causes.precision import precision
from pinn.diagnosis.causes.solver import solver
from pinn.diagnosis.causes.statement import statement
from pinn.diagnosis.causes.unfinished import unfinished
from pinn.diagnosis.causes.units import units
from pinn.diagnosis.causes.waves import waves
from pinn.diagnosis.finding import CAUSES

CAUSES["statement"] = statement
CAUSES["contradiction"] = contradiction
CAUSES["misfit"] = misfit
CAUSES["precision"] = precision
CAUSES["units"] = units
CAUSES["balance"] = balance
CAUSES["hard_value"] = hard_value
CAUSES["long_time"] = long_time
CAUSES["causality"] = causality
CAUSES["corner"] = corner
CAUSES["waves"] = waves
CAUSES["front"] = front
CAUSES["points"] = points
CAUSES["solver"] = solver
CAUSES["unfinished"] = unfinished
CAUSES["network"] = network
