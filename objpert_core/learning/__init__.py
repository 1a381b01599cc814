"""Learning by objective perturbation: losses, rows of enforced norm, solvers, noise, and Algorithm 1 made of them."""

from objpert_core.learning.certificate import PrivacyCertificate
from objpert_core.learning.losses import LogisticLoss
from objpert_core.learning.mechanism import Release, perturb_and_solve
from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.objective import PerturbedObjective
from objpert_core.learning.rows import Rows
from objpert_core.learning.solvers import SOLVERS, SolverResult, solve

__all__ = [
    "SOLVERS",
    "LogisticLoss",
    "NoiseSource",
    "PerturbedObjective",
    "PrivacyCertificate",
    "Release",
    "Rows",
    "SolverResult",
    "noise_source",
    "perturb_and_solve",
    "solve",
]
