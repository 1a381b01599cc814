"""Privacy accounting: what (ε, δ) and Rényi curve a mechanism has, and what noise a target needs."""

from objpert_core.accounting.convolution.distribution import DiscretePLD
from objpert_core.accounting.distance import boundary_lam, distance_map, distance_to_optimality, optimal_lam
from objpert_core.accounting.dp_sgd.allocation import RandomAllocation
from objpert_core.accounting.dp_sgd.calibration import calibrate_allocation, calibrate_dpsgd, calibrate_sampled
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.dp_sgd.sampled import SampledWithoutReplacement, SampledWithReplacement
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.gaussian.filters import PrivacyFilter, PrivacyOdometer
from objpert_core.accounting.gaussian.mechanism import Gaussian, HalfNormal, OutputPerturbation
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, REPLACE_ONE, Mechanism
from objpert_core.accounting.mechanisms.composition import Composition, Parallel, compose, parallel, repeat
from objpert_core.accounting.mechanisms.events import from_dp_event, read_dp_events, write_dp_events
from objpert_core.accounting.mechanisms.group import group, replace_one
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.mechanisms.renyi import Concentrated, ViaRDP, rdp_to_delta, rdp_to_epsilon, via_rdp
from objpert_core.accounting.mechanisms.symmetrised import Symmetrised, symmetrised
from objpert_core.accounting.mechanisms.tabulated import Tabulated, tabulated
from objpert_core.accounting.numerics.tradeoff import best_guess, posterior
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY, BOUNDS, Bound
from objpert_core.accounting.objective.calibration import calibrate_objective_perturbation, calibrate_published
from objpert_core.accounting.objective.composed import calibrate_remaining, composed_fit, remaining_epsilon
from objpert_core.accounting.objective.defaults import default_noise_ratio, recommended_lam, recommended_margin
from objpert_core.accounting.objective.mechanism import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.objective.one_vs_rest import balanced_rest, one_vs_rest
from objpert_core.accounting.posterior.adaptive_sampling import AdaptiveSampling
from objpert_core.accounting.posterior.calibration import (
    calibrate_adaptive_sampling,
    posterior_precision,
    published_posterior_epsilon,
    published_posterior_precision,
)
from objpert_core.accounting.posterior.mechanism import PosteriorSampling
from objpert_core.accounting.ptr.gnmax import GNMax
from objpert_core.accounting.ptr.mechanism import ApproximateDP, ProposeTestRelease, tested_rdp
from objpert_core.accounting.ptr.votes import LaplaceVote, OptimalVote
from objpert_core.accounting.quadratic.calibration import calibrate_quadratic_perturbation
from objpert_core.accounting.quadratic.mechanism import QUADRATIC_BOUNDS, QuadraticPerturbation
from objpert_core.accounting.quadratic.published_calibration import (
    linear_objective_noise,
    optimal_published_bound,
    published_scale,
)
from objpert_core.accounting.quadratic.tilt_and_bend import TiltAndBend, calibrate_tilt_and_bend
from objpert_core.accounting.selection.mechanism import PrivateSelection, liu_talwar_epsilon, poisson_mean
from objpert_core.accounting.selection.tuning import calibrate_tuning, mean_runs
from objpert_core.accounting.steps.curvature import IntervalNoise, recommended_interval_noise
from objpert_core.accounting.steps.pieces import PieceNoise, recommended_pieces
from objpert_core.accounting.steps.ranges import RangeNoise, ranges_within_limits, recommended_ranges
from objpert_core.accounting.steps.standardisation import (
    Standardisation,
    full_standardisation,
    recommended_standardisation,
    standardisation_of_lengths,
)

__all__ = [
    "ADD_REMOVE",
    "BOUNDS",
    "BOUND_REGISTRY",
    "DPSGD",
    "QUADRATIC_BOUNDS",
    "REPLACE_ONE",
    "AdaptiveSampling",
    "ApproximateDP",
    "ApproximateMinima",
    "Bound",
    "Composition",
    "Concentrated",
    "DiscretePLD",
    "GNMax",
    "Gaussian",
    "HalfNormal",
    "IntervalNoise",
    "LaplaceVote",
    "Mechanism",
    "ObjectivePerturbation",
    "OptimalVote",
    "OutputPerturbation",
    "Parallel",
    "Perturbation",
    "PieceNoise",
    "PosteriorSampling",
    "PrivacyFilter",
    "PrivacyOdometer",
    "PrivateSelection",
    "ProposeTestRelease",
    "QuadraticPerturbation",
    "RandomAllocation",
    "RangeNoise",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Standardisation",
    "Symmetrised",
    "Tabulated",
    "TiltAndBend",
    "ViaRDP",
    "balanced_rest",
    "best_guess",
    "boundary_lam",
    "calibrate_adaptive_sampling",
    "calibrate_allocation",
    "calibrate_dpsgd",
    "calibrate_gaussian",
    "calibrate_objective_perturbation",
    "calibrate_published",
    "calibrate_quadratic_perturbation",
    "calibrate_remaining",
    "calibrate_sampled",
    "calibrate_tilt_and_bend",
    "calibrate_tuning",
    "compose",
    "composed_fit",
    "default_noise_ratio",
    "distance_map",
    "distance_to_optimality",
    "from_dp_event",
    "full_standardisation",
    "group",
    "linear_objective_noise",
    "liu_talwar_epsilon",
    "mean_runs",
    "one_vs_rest",
    "optimal_lam",
    "optimal_published_bound",
    "parallel",
    "poisson_mean",
    "posterior",
    "posterior_precision",
    "published_posterior_epsilon",
    "published_posterior_precision",
    "published_scale",
    "ranges_within_limits",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "read_dp_events",
    "recommended_interval_noise",
    "recommended_lam",
    "recommended_margin",
    "recommended_pieces",
    "recommended_ranges",
    "recommended_standardisation",
    "remaining_epsilon",
    "repeat",
    "replace_one",
    "standardisation_of_lengths",
    "symmetrised",
    "tabulated",
    "tested_rdp",
    "via_rdp",
    "write_dp_events",
]
