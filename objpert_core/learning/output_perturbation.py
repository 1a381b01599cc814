"""Output perturbation: solve the regularised problem without noise, release the solution plus Gaussian noise.

Where rows' gradients have norm ≤ R and the solver stops at one of norm ≤ τ, an added row moves its stopping place by at
most (R + 2τ)/λ, a replaced one by (2R + 2τ)/λ. Both bounds are tight for the logistic loss (docs/theorems.md, T10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Required, Unpack

from objpert_core._validation import FloatArray, choice, in_open_unit, positive, positive_integer
from objpert_core.accounting import (
    Mechanism,
    OutputPerturbation,
    calibrate_gaussian,
    calibrate_remaining,
    composed_fit,
)
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, REPLACE_ONE
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.steps.base import Step, asked
from objpert_core.accounting.terms import Terms
from objpert_core.learning.allowance import Allowance
from objpert_core.learning.certificates.field_rules import COUNT, NONNEGATIVE, POSITIVE, fact, or_nothing
from objpert_core.learning.certificates.model import FAR
from objpert_core.learning.certificates.shown import loss_words
from objpert_core.learning.certificates.solved import SolvedCertificate
from objpert_core.learning.draws import Draws, refuse_steps
from objpert_core.learning.fit import Noise, Problem, Seed, SharedOptions
from objpert_core.learning.problem.losses import LOGISTIC, LogisticLoss
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.steps.base import kind_of
from objpert_core.learning.steps.ranges import Ranges

NEIGHBOURS = {"add/remove": ADD_REMOVE, "replace": REPLACE_ONE, ADD_REMOVE: ADD_REMOVE, REPLACE_ONE: REPLACE_ONE}
"""What this file's `adjacency` arguments may be, and what the mechanism calls it."""
ADJACENCIES = tuple(NEIGHBOURS)

_GRADIENTS_MOVED = {ADD_REMOVE: 1, REPLACE_ONE: 2}  # how many gradients of one row lie between two neighbours


def output_sensitivity(
    lam: float, lipschitz: float, tau: float, adjacency: str = ADD_REMOVE, rows_per_person: int = 1
) -> float:
    """Bound how far one row moves the point where a solver stops: (R + 2τ)/λ, or (2R + 2τ)/λ if the row is replaced.

    k rows of one person move the point by (kR + 2τ)/λ or (2kR + 2τ)/λ. Chaudhuri, Monteleoni and Sarwate (2011), Lemma
    7 and Corollary 8, for a solver that is not exact (docs/theorems.md, T10).

    R = `lipschitz` > 0 bounds the norm of one row's gradient; τ > 0 is the gradient norm at which the solver may stop.
    `adjacency` may also be "add/remove" or "replace".

    >>> round(output_sensitivity(lam=10.0, lipschitz=1.0, tau=1e-6), 12)
    0.1000002
    """
    moved = _moved(lipschitz, adjacency, rows_per_person)
    return (moved + 2 * positive("tau", tau)) / positive("lam", lam)


def _moved(lipschitz: float, adjacency: str, rows_per_person: int) -> float:
    gradients = _GRADIENTS_MOVED[NEIGHBOURS[choice("adjacency", adjacency, ADJACENCIES)]]
    return positive("lipschitz", lipschitz) * gradients * positive_integer("rows_per_person", rows_per_person)


def recommended_output_lam(
    epsilon: float,
    delta: float,
    n_rows: int,
    lipschitz: float = 1.0,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> float:
    """Choose the λ that `OutputPerturbationLogisticRegression` takes by default, from public numbers only.

    Noise of deviation σ/λ on every coefficient costs about ½(σ/λ)²·h·n·R² of the loss, and regularisation about
    ½λ‖θ*‖². With the constant that did best on synthetic data λ = ½·(σ²R²n)^⅓; n, `n_rows`, is thus treated as public.
    R is `lipschitz`; other arguments are those of `output_sensitivity` and `calibrate_gaussian`.

    >>> round(recommended_output_lam(1.0, 1e-5, 10_000), 2)
    25.91
    """
    rows = positive_integer("n_rows", n_rows)
    moved = _moved(lipschitz, adjacency, rows_per_person)
    sigma = calibrate_gaussian(positive("epsilon", epsilon), delta, moved).sigma
    return float(0.5 * ((sigma * lipschitz) ** 2 * rows) ** (1 / 3))


@dataclass(frozen=True, kw_only=True, repr=False)
class OutputPerturbationCertificate(SolvedCertificate, mechanisms=("OutputPerturbation",)):
    """The certificate of a fit by output perturbation; other fields: `PrivacyCertificate`, `SolvedCertificate`.

    Attributes
    ----------
    sigma, lam : float
        Standard deviation of the noise on each coefficient, and the regularisation λ.
    tau, lipschitz : float
        Gradient norm the solver had to reach, and the bound on one row's gradient norm: R = √(1 + s²).
    public_rows : int or None
        The number of rows, where a rule read it; treated as public.
    margin : float or None
        The loss's margin, which costs nothing (docs/theorems.md, T2). None in form 1 only.
    """

    OUTPUT_NOISE: ClassVar[str] = "sigma"

    sigma: float = fact(POSITIVE)
    lam: float = fact(POSITIVE)
    tau: float = fact(POSITIVE)
    lipschitz: float = fact(POSITIVE)
    public_rows: int | None = fact(or_nothing(COUNT), default=None)
    margin: float | None = fact(NONNEGATIVE, since=2, default=None)

    @property
    def sensitivity(self) -> float:
        """How far one person's rows can move the solution; see `output_sensitivity`."""
        return output_sensitivity(self.lam, self.lipschitz, self.tau, self.mechanism_adjacency, self.rows_per_person)

    @classmethod
    def numbers(cls, mechanism: OutputPerturbation) -> dict[str, Any]:
        """Name the noise; the fit itself says where the sensitivity came from."""
        return {"sigma": mechanism.sigma}

    def reach(self, dimension: int) -> float | None:
        """λ‖θ‖ ≤ nL + τ, and the noise; see `PrivacyCertificate.reach`."""
        if self.most_rows is None:
            return None
        return (self.most_rows * self.lipschitz + self.tau) / self.lam + FAR * math.sqrt(dimension) * self.sigma

    def rebuild(self) -> OutputPerturbation:
        """Build the mechanism again, its sensitivity derived anew from λ, R and τ."""
        return OutputPerturbation(self.sigma, self.sensitivity, adjacency=self.mechanism_adjacency)

    def accounted(self, mechanism: OutputPerturbation) -> Mechanism:
        """See `SolvedCertificate.accounted`; the mechanism's sensitivity is that of all rows of one person already."""
        return composed_fit(mechanism, self.terms.beside(self.rows_per_person), copies=self.fits)

    def holds(self) -> bool:
        """Say whether R bounds the gradients on these rows and τ was reached."""
        return self.lipschitz >= self.radius and self.reached(self.tau)

    def _contradiction(self) -> str | None:
        if self.rest_weight != 1.0:
            return f"rest_weight must be 1.0 for output perturbation, got {self.rest_weight!r}"
        return super()._contradiction()

    def _lines(self) -> list[str]:
        loss = loss_words("logistic", self.margin)
        return [
            f"  proof      Gaussian mechanism of sensitivity {self.sensitivity:.6g}, {self.mechanism}",
            *self._before(),
            f"  objective  {loss}, lam = {self.lam:.6g}, R = {self.radius:.6g} ({self._rows()})",
            f"  solver     gradient norm ≤ tau = {self.tau:g}, noise on every coefficient sigma = {self.sigma:.6g}",
            *self._after(has_rule=True),
        ]


class OutputOptions(SharedOptions, total=False):
    """Keyword arguments of `solve_and_perturb`."""

    epsilon: Required[float]
    delta: Required[float]
    loss: LogisticLoss
    lam: float | None
    public_rows: int | None
    tau: float
    adjacency: str
    rows_per_person: int
    steps: Sequence[Step]
    ranges: Ranges | None


def solve_and_perturb(
    X: Any, targets: FloatArray, *, random_state: Seed = None, **options: Unpack[OutputOptions]
) -> Release[OutputPerturbationCertificate]:
    """Fit private logistic regression by output perturbation: solve once, then add noise to the solution.

    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, with Gaussian noise and the sensitivity of
    `output_sensitivity`. There the loss is averaged over n rows; here it is summed, so that λ here is nλ there.

    Parameters
    ----------
    X, targets
        As in `Fit`.
    epsilon, delta : float
    loss : LogisticLoss
        With a margin or without: gradients have norm ≤ R either way.
    lam : float > 0, optional
        By default `recommended_output_lam` for `public_rows` and for what is left of ε.
    public_rows : int, optional
        The number of rows that the rule for λ uses; by default X's own number, which is then treated as public.
    tau : float > 0
        Gradient norm the solver must reach.
    adjacency : {"add/remove one row", "replace one row"}
        Replacing a row needs twice the noise. The short words "add/remove" and "replace" mean the same.
    rows_per_person : int >= 1
        How many rows of one person the promise covers together; k rows need k times the noise.
    steps, ranges
        As in `perturb_and_solve`.
    **options
        `row_norm`, `intercept_scaling`, `solver`, `max_iter`, `random_state`, `callback` and `on_error`, as in `Fit`.

    Raises
    ------
    ConvergenceError, ValueError
        As in `perturb_and_solve`; nothing is released.

    Examples
    --------
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5000, axis=0)
    >>> targets = np.repeat([1.0, -1.0], 5000)
    >>> release = solve_and_perturb(X, targets, epsilon=1.0, delta=1e-5, intercept_scaling=0.0)
    >>> release.certificate.verify(), bool(release.theta[0] > 0 > release.theta[1])
    (True, True)
    """
    (release,) = _described(X, targets, random_state, **options)
    return release


def _described(
    X: Any,
    targets: FloatArray,
    random_state: Seed,
    *,
    epsilon: float,
    delta: float,
    loss: LogisticLoss = LOGISTIC,
    lam: float | None = None,
    public_rows: int | None = None,
    tau: float = 1e-6,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
    steps: Sequence[Step] = (),
    ranges: Ranges | None = None,
    **solving: Unpack[SharedOptions],
) -> list[Release[OutputPerturbationCertificate]]:
    positive("epsilon", epsilon), in_open_unit("delta", delta), positive("tau", tau)
    neighbours = NEIGHBOURS[choice("adjacency", adjacency, ADJACENCIES)]
    known = X.shape[0] if public_rows is None else positive_integer("public_rows", public_rows)
    beside = asked(*steps)
    reads_rows = lam is None or any(kind_of(step).reads_rows for step in beside)
    used_rows, declared = known if reads_rows else None, public_rows is not None
    terms = Terms(epsilon, delta, neighbours, rows_per_person, "profile", used_rows, declared, beside)
    mechanism, chosen = calibrated(terms, row_radius(solving.get("intercept_scaling", 0.3)), tau, lam)
    problem = Problem(X, targets, loss, solving=solving, declared=ranges, declared_rows=public_rows)
    return solve_and_perturb_draws(problem, terms, mechanism, chosen, tau, [random_state])


def calibrated(terms: Terms, radius: float, tau: float, lam: float | None) -> tuple[OutputPerturbation, float]:
    """The noise for what the steps leave of (ε, δ), and λ: `lam`, or `recommended_output_lam` for None."""
    adjacency, people = terms.adjacency, terms.rows_per_person
    lams: dict[OutputPerturbation, float] = {}

    def fit_for(left: float) -> OutputPerturbation:
        """The mechanism for what is left of ε."""
        own = lam
        if own is None:
            assert terms.public_rows is not None
            own = recommended_output_lam(left, terms.delta, terms.public_rows, radius, adjacency, people)
        sensitivity = output_sensitivity(own, radius, tau, adjacency, people)
        sigma = calibrate_gaussian(left, terms.delta, sensitivity).sigma
        fit = OutputPerturbation(sigma, sensitivity, adjacency=adjacency)
        lams[fit] = own
        return fit

    assert terms.epsilon is not None
    # Both the fit and what is beside it are about all rows of one person already.
    mechanism = calibrate_remaining(terms.epsilon, terms.delta, fit_for, terms.beside(people))
    return mechanism, lams[mechanism]


def solve_and_perturb_draws(
    problem: Problem,
    terms: Terms,
    mechanism: OutputPerturbation,
    lam: float,
    tau: float,
    random_states: Sequence[Seed],
) -> list[Release[OutputPerturbationCertificate]]:
    """Make several private fits by one solution; `mechanism` and `lam` are as `calibrated` gives them."""
    refuse_steps(problem, terms, OutputPerturbationCertificate)
    draws, loss = Draws(problem, terms, random_states), problem.loss
    assert isinstance(loss, LogisticLoss)
    radius = row_radius(draws.rows.constant)
    Allowance(
        n_rows=problem.declared_rows or problem.X.shape[0],
        dimension=draws.rows.dimension,
        longest=radius,
        loss=loss,
        gradient=radius,
        lam=lam,
    ).refuse(tau)
    return draws.release(
        mechanism,
        Noise(lambda *_: Perturbation(None, lam), tau, mechanism.sigma),
        partial(_the_same, loss),
        epsilon=terms.epsilon,
        lam=lam,
        tau=float(tau),
        lipschitz=radius,
        margin=loss.margin,
    )


def _the_same(loss: LogisticLoss, _rows: Rows) -> LogisticLoss:
    return loss
