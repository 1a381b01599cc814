"""The learners that `compare` knows: how each is made, what it is called, and what of its certificate to show.

To add one, add an entry to `LEARNERS`: the training page's controls, charts, tables and snippet follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from objpert_core import estimators
from objpert_core.learning.problem.losses import HuberisedHingeLoss

if TYPE_CHECKING:
    from objpert_core.experiments.compare import Settings

NON_PRIVATE, PUBLISHED, TIGHT = "non-private", "published", "tight"
SVC, ROUNDED, OUTPUT, KIFER = "svc", "svc-rounded", "output", "kifer2012"
DISHONEST, HONEST = "dpsgd-dishonest-pld", "dpsgd-honest"
SGD = (DISHONEST, HONEST)
METHODS = (NON_PRIVATE, PUBLISHED, TIGHT)
"""What is compared unless something else is asked for."""

PAPER_MEAN_RUNS = 15.4
"""μ with which K ~ Poisson(μ) is above 10 with probability 0.9: Redberg, Koskela and Wang (2023), Section 5."""

_OBJECTIVE = ("sigma", "lam", "tau", "sigma_out", "radius", "public_rows")
_SGD = ("noise_multiplier", "sample_rate", "steps", "clip", "mean_runs", "radius", "public_rows")


@dataclass(frozen=True)
class Learner:
    """One way to learn a linear classifier.

    Attributes:
        label: a word or two for legends, columns and controls.
        title: the same in full, to begin a sentence with.
        role: its look, a key of the app's chart roles.
        estimator: name in `objpert_core.estimators`, with the preset after a dot; "" without privacy.
        parameters: the estimator's keyword arguments beside target, classes and noise seed.
        certificate: names of what its certificate has to show, attributes of it, the most telling first.
    """

    label: str
    title: str
    role: str
    estimator: str
    parameters: Callable[[Settings], dict[str, Any]]
    certificate: tuple[str, ...]

    def make(self, **parameters: Any) -> Any:
        """The unfitted estimator."""
        name, _, preset = self.estimator.partition(".")
        kind = getattr(estimators, name)
        return (getattr(kind, preset) if preset else kind)(**parameters)


def _scaled(settings: Settings) -> dict[str, Any]:
    return {"intercept_scaling": settings.intercept_scaling}


def _sgd(settings: Settings) -> dict[str, Any]:
    shared = {"learning_rates": settings.learning_rates, "batch_size": settings.batch_size, "epochs": settings.epochs}
    return _scaled(settings) | shared


LEARNERS: Mapping[str, Learner] = {
    NON_PRIVATE: Learner(
        "no privacy", "Logistic regression without privacy", "nonprivate", "", lambda settings: {}, ()
    ),
    PUBLISHED: Learner(
        "Algorithm 1 published",
        "Algorithm 1, published calibration",
        "published",
        "ObjPertLogisticRegression.published",
        _scaled,
        _OBJECTIVE,
    ),
    TIGHT: Learner(
        "Algorithm 1 tight",
        "Algorithm 1, tight calibration",
        "tight",
        "ObjPertLogisticRegression",
        lambda settings: {"bound": settings.bound} | _scaled(settings),
        _OBJECTIVE,
    ),
    SVC: Learner(
        "SVM",
        "Support vector machine by Algorithm 1",
        "svc",
        "ObjPertSVC",
        _scaled,
        (*_OBJECTIVE, "loss", "clip"),
    ),
    ROUNDED: Learner(
        "SVM, rounded hinge",
        "Support vector machine with the rounded hinge by Algorithm 1",
        "svc-rounded",
        "ObjPertSVC",
        lambda settings: {"loss": HuberisedHingeLoss.name} | _scaled(settings),
        (*_OBJECTIVE, "loss", "clip"),
    ),
    OUTPUT: Learner(
        "output perturbation",
        "Output perturbation",
        "output",
        "OutputPerturbationLogisticRegression",
        _scaled,
        ("sigma", "lam", "tau", "radius", "sensitivity", "public_rows"),
    ),
    KIFER: Learner(
        "Kifer et al. 2012",
        "Classical objective perturbation of 2012",
        "classical",
        "ObjPertLogisticRegression.kifer2012",
        _scaled,
        _OBJECTIVE,
    ),
    DISHONEST: Learner(
        "DP-SGD unpaid",
        "DP-SGD whose tuning is not paid for",
        "dpsgd-dishonest-pld",
        "DPSGDLogisticRegression",
        lambda settings: _sgd(settings) | {"tuning": "dishonest"},
        _SGD,
    ),
    HONEST: Learner(
        "DP-SGD paid",
        "DP-SGD whose tuning is paid for",
        "dpsgd-honest",
        "DPSGDLogisticRegression",
        lambda settings: _sgd(settings) | {"mean_runs": settings.mean_runs},
        _SGD,
    ),
}
"""Every learner by name, in the order of fits, columns and legends."""
