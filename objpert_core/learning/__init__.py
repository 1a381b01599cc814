"""Private learning: losses, rows of enforced norm, solvers, noise; Algorithm 1 made of them, and its rivals."""

from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from objpert_core.learning.certificates.solved import SolvedCertificate
from objpert_core.learning.dp_sgd.certificate import DPSGDCertificate
from objpert_core.learning.fit import Fit, FitOptions
from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.objective_perturbation import perturb_and_solve
from objpert_core.learning.output_perturbation import (
    OutputPerturbationCertificate,
    output_sensitivity,
    recommended_output_lam,
    solve_and_perturb,
)
from objpert_core.learning.population.certificate import NoisySGDCertificate
from objpert_core.learning.population.phased import PhasedCertificate
from objpert_core.learning.problem.derived import ClippedLoss
from objpert_core.learning.problem.envelopes import MoreauEnvelope, envelope_steps
from objpert_core.learning.problem.losses import (
    LOSSES,
    HuberisedHingeLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    SquaredHingeLoss,
    SquaredLoss,
    loss_named,
)
from objpert_core.learning.problem.nonsmooth import (
    EVERY_LOSS,
    NON_SMOOTH_LOSSES,
    AbsoluteLoss,
    EpsilonInsensitiveLoss,
    HingeLoss,
    PinballLoss,
)
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.ptr.certificate import BestOfCertificate, ProposeTestReleaseCertificate
from objpert_core.learning.quadratic.certificate import QuadraticCertificate
from objpert_core.learning.quadratic.release import NoisyGram, noisy_gram
from objpert_core.learning.release import Refused, Release, Released
from objpert_core.learning.solvers import SOLVERS, SolverResult, residual_bound, solve
from objpert_core.learning.steps.ranges import Ranges

# isort: split
# So that texts of these kinds are read; last, because errors list the kinds in this order.
from objpert_core.learning.certificates.evaluated import EvaluationCertificate, TogetherCertificate
from objpert_core.learning.certificates.searched import SearchCertificate
from objpert_core.learning.posterior import certificate as _posterior  # noqa: F401

__all__ = [
    "EVERY_LOSS",
    "LOSSES",
    "NON_SMOOTH_LOSSES",
    "SOLVERS",
    "AbsoluteLoss",
    "BestOfCertificate",
    "ClippedLoss",
    "DPSGDCertificate",
    "EpsilonInsensitiveLoss",
    "EvaluationCertificate",
    "Fit",
    "FitOptions",
    "HingeLoss",
    "HuberLoss",
    "HuberisedHingeLoss",
    "LogisticLoss",
    "Loss",
    "MoreauEnvelope",
    "NoiseSource",
    "NoisyGram",
    "NoisySGDCertificate",
    "ObjectivePerturbationCertificate",
    "OutputPerturbationCertificate",
    "PerturbedObjective",
    "PhasedCertificate",
    "PinballLoss",
    "PrivacyCertificate",
    "ProposeTestReleaseCertificate",
    "QuadraticCertificate",
    "Ranges",
    "Refused",
    "Release",
    "Released",
    "Rows",
    "SearchCertificate",
    "SolvedCertificate",
    "SolverResult",
    "SquaredHingeLoss",
    "SquaredLoss",
    "TogetherCertificate",
    "envelope_steps",
    "loss_named",
    "noise_source",
    "noisy_gram",
    "output_sensitivity",
    "perturb_and_solve",
    "recommended_output_lam",
    "residual_bound",
    "solve",
    "solve_and_perturb",
]
