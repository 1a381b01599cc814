"""Privacy accounting: what (ε, δ) and Rényi curve a mechanism has, and what noise a target needs.

Adjacency is add/remove one row. See `ObjectivePerturbation` for the bounds and their sources.
"""

from objpert_core.accounting.calibration import (
    calibrate_gaussian,
    calibrate_objective_perturbation,
    calibrate_published,
    default_noise_ratio,
)
from objpert_core.accounting.composition import Composition, compose, repeat
from objpert_core.accounting.conversion import ViaRDP, rdp_to_delta, rdp_to_epsilon, via_rdp
from objpert_core.accounting.dpsgd import DPSGD
from objpert_core.accounting.mechanisms import (
    BOUNDS,
    ApproximateMinima,
    Gaussian,
    Mechanism,
    ObjectivePerturbation,
)
from objpert_core.accounting.selection import PrivateSelection, liu_talwar_epsilon, poisson_mean

__all__ = [
    "BOUNDS",
    "DPSGD",
    "ApproximateMinima",
    "Composition",
    "Gaussian",
    "Mechanism",
    "ObjectivePerturbation",
    "PrivateSelection",
    "ViaRDP",
    "calibrate_gaussian",
    "calibrate_objective_perturbation",
    "calibrate_published",
    "compose",
    "default_noise_ratio",
    "liu_talwar_epsilon",
    "poisson_mean",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "repeat",
    "via_rdp",
]
