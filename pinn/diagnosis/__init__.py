"""What seems wrong with a problem before training, and with a solution after it."""

from pinn.diagnosis.adapted.cornered import at_corners, without_places
from pinn.diagnosis.adapted.easing import eased
from pinn.diagnosis.adapted.holed import around_holes
from pinn.diagnosis.adapted.layered import in_layers
from pinn.diagnosis.adapted.natural_units import in_natural_units
from pinn.diagnosis.adapted.outweighed import outweighing_noise
from pinn.diagnosis.adapted.spotted import at_spots
from pinn.diagnosis.adapted.superposed import by_functions, without_branch
from pinn.diagnosis.adapted.weighed import weighed_by_errors
from pinn.diagnosis.bands import standard_errors, with_noise
from pinn.diagnosis.check import BlockCheck, Check, StageCheck, check_run
from pinn.diagnosis.diagnose import Diagnosis, doctor
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import CAUSES, Change, Finding
from pinn.diagnosis.followed import follows_noise
from pinn.diagnosis.missed import missed
from pinn.diagnosis.overfit import overfitted
from pinn.diagnosis.posed.homogeneous import solved_by_zero
from pinn.diagnosis.posed.inflow import lacks_inflow
from pinn.diagnosis.posed.jumps import jumps
from pinn.diagnosis.posed.missing import lacks_conditions
from pinn.diagnosis.posed.preflight import preflight
from pinn.diagnosis.problem_warning import ProblemWarning, UnsolvedWarning
from pinn.diagnosis.recovery import recovery, untrained
from pinn.diagnosis.scaled_residual import natural_sizes, scaled_residuals, unsolved

__all__ = [
    "BlockCheck", "CAUSES", "Change", "Check", "Diagnosis", "Examination", "Finding",
    "ProblemWarning", "StageCheck", "UnsolvedWarning", "around_holes", "at_corners", "at_spots",
    "by_functions", "check_run", "doctor", "eased", "follows_noise", "in_layers",
    "in_natural_units", "jumps", "lacks_conditions", "lacks_inflow", "missed", "natural_sizes",
    "overfitted", "preflight", "recovery", "scaled_residuals", "solved_by_zero", "standard_errors",
    "unsolved", "untrained", "weighed_by_errors", "with_noise", "without_branch", "without_places",
]  # fmt: skip
