"""Which noise ratio f = σ/σ_Gauss trains best: private fits along a privacy frontier, on public synthetic data.

`sample` fits one synthetic data set without privacy and then by objective perturbation at a handful of f, each time
with σ and λ that meet the same (ε, δ). Draw i uses the same noise, up to its size, at every f. The rows are nobody's:
choosing f on private data would cost privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from objpert_core._validation import (
    FloatArray,
    check_fields,
    choice,
    in_open_unit,
    integer_up_to,
    nonnegative,
    nonnegative_integer,
    positive,
    positive_integer,
)
from objpert_core.accounting import (
    ApproximateMinima,
    ObjectivePerturbation,
    calibrate_objective_perturbation,
    default_noise_ratio,
)
from objpert_core.datasets import synthetic
from objpert_core.exceptions import ConvergenceError
from objpert_core.experiments.compare import TIGHT_BOUNDS
from objpert_core.experiments.learners import NON_PRIVATE_C
from objpert_core.experiments.live import StoppedError, stopper
from objpert_core.experiments.summary import Interval, mean_interval
from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows, perturb_and_solve, solve
from objpert_core.learning.problem.rows import row_radius

BOUNDS = (*TIGHT_BOUNDS, "rdp")
"""What may calibrate: a bound by its privacy profile, or "rdp", the published "glm" through its Rényi curve."""
RATIOS = (1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0)  # and the bound's default
PUBLISHED_RATIO = 1.3  # Redberg et al. (2023), section 5
COLUMNS = {"even": 0.0, "uneven": 1.0}  # column j of the synthetic rows has standard deviation j^−decay
MAX_CELLS = 2_000_000  # rows × features of a live sample: a fit takes some 50 ms
MAX_ROWS = 50_000
MAX_FEATURES = 200
MAX_DRAWS = 20
TEST_ROWS = 4000
TAU = 1e-6  # the estimator's default
_FLIPPED = 0.036  # label noise, as in synthetic-l


@dataclass(frozen=True)
class Recipe:
    """A way to choose σ and λ: a bound of `BOUNDS` and a noise ratio f."""

    bound: str
    noise_ratio: float

    @property
    def accountant(self) -> str:
        """ "rdp" where the bound is accounted through its Rényi curve."""
        return "rdp" if self.bound == "rdp" else "profile"

    def mechanism(self, epsilon: float, delta: float, lipschitz: float) -> ObjectivePerturbation | None:
        """σ and the smallest λ that meet the target with an exact minimiser; None where no λ does at this f."""
        found = self._calibrated(epsilon, delta, lipschitz, None)
        assert found is None or isinstance(found, ObjectivePerturbation)
        return found

    def algorithm(self, epsilon: float, delta: float, lipschitz: float) -> ApproximateMinima | None:
        """As `mechanism`, with τ and σ_out as the estimator takes them."""
        found = self._calibrated(epsilon, delta, lipschitz, TAU)
        assert found is None or isinstance(found, ApproximateMinima)
        return found

    def _calibrated(
        self, epsilon: float, delta: float, lipschitz: float, tau: float | None
    ) -> ObjectivePerturbation | ApproximateMinima | None:
        positive("epsilon", epsilon), in_open_unit("delta", delta), positive("lipschitz", lipschitz)
        choice("bound", self.bound, BOUNDS)
        if positive("noise_ratio", self.noise_ratio) < 1:
            raise ValueError(f"noise_ratio must be a finite number >= 1, got {self.noise_ratio!r}")
        try:
            return calibrate_objective_perturbation(
                epsilon,
                delta,
                lipschitz,
                bound="glm" if self.bound == "rdp" else self.bound,
                noise_ratio=self.noise_ratio,
                tau=tau,
                accountant=self.accountant,
            )
        except ValueError:  # every argument is in range: this f is too small for the bound
            return None


PUBLISHED = Recipe("rdp", PUBLISHED_RATIO)


@dataclass(frozen=True)
class Plan:
    """What to sample; the sample may be smaller than planned (`sample_shape`)."""

    epsilon: float = 1.0
    delta: float = 1e-5
    bound: str = "logistic"
    rows: int = 10_000
    features: int = 20
    intercept_scaling: float = 0.3
    columns: str = "even"
    draws: int = 6
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self, positive, "epsilon")
        check_fields(self, in_open_unit, "delta")
        choice("bound", self.bound, BOUNDS)
        check_fields(self, positive_integer, "rows", "features")
        check_fields(self, nonnegative, "intercept_scaling")
        choice("columns", self.columns, tuple(COLUMNS))
        integer_up_to("draws", self.draws, MAX_DRAWS)
        check_fields(self, nonnegative_integer, "seed")

    @property
    def sample_shape(self) -> tuple[int, int]:
        """Rows and features of the sample: as planned, or cut to `MAX_FEATURES`, `MAX_ROWS` and `MAX_CELLS`."""
        features = min(self.features, MAX_FEATURES)
        return min(self.rows, MAX_ROWS, MAX_CELLS // features), features

    @property
    def scaled_down(self) -> bool:
        """Whether the sample is smaller than what is planned."""
        return self.sample_shape != (self.rows, self.features)

    @property
    def ours(self) -> Recipe:
        """The package's default: our theorem (bound 'logistic') at its default f."""
        return Recipe("logistic", default_noise_ratio("logistic", self.epsilon))

    def mechanisms(self) -> dict[Recipe, ApproximateMinima]:
        """What is fitted: the bound's frontier by rising f, then the published and the package's recipe."""
        name = "glm" if self.bound == "rdp" else self.bound
        default = default_noise_ratio(name, self.epsilon, Recipe(self.bound, 1.0).accountant)
        along = [Recipe(self.bound, f) for f in sorted({default, *RATIOS})]
        about = (self.epsilon, self.delta, row_radius(self.intercept_scaling))
        found = {recipe: recipe.algorithm(*about) for recipe in (*along, PUBLISHED, self.ours)}
        return {recipe: mechanism for recipe, mechanism in found.items() if mechanism is not None}


@dataclass(frozen=True)
class Point:
    """One recipe's fits so far, draws in the same order at every recipe, so that the numbers of two recipes pair up."""

    recipe: Recipe
    mechanism: ApproximateMinima
    excess: tuple[float, ...] = ()
    accuracy: tuple[float, ...] = ()
    failed: bool = False

    @property
    def measured(self) -> bool:
        """Whether there is at least one draw, and none that failed."""
        return bool(self.excess) and not self.failed

    @property
    def mean_excess(self) -> Interval:
        """Mean excess loss with its 95 % interval; only after the first draw."""
        return mean_interval(self.excess)

    @property
    def mean_accuracy(self) -> Interval:
        """Mean accuracy with its 95 % interval; only after the first draw."""
        return mean_interval(self.accuracy)


@dataclass(frozen=True, eq=False)
class Estimate:
    """The fits made so far; complete in itself, never changed."""

    plan: Plan
    rows: int
    dimension: int
    reference_norm: float
    reference_loss: float
    reference_accuracy: float
    points: tuple[Point, ...]

    @property
    def fits(self) -> int:
        """How many private models have been fitted."""
        return sum(len(point.excess) for point in self.points)

    @property
    def fits_planned(self) -> int:
        """How many private models there will be in the end; a recipe that failed is not fitted further."""
        return sum(len(point.excess) if point.failed else self.plan.draws for point in self.points)

    def along(self) -> tuple[Point, ...]:
        """The points of the plan's own bound that have been fitted, by rising f."""
        return tuple(p for p in self.points if p.recipe.bound == self.plan.bound and p.measured)

    def of(self, recipe: Recipe) -> Point | None:
        """The point of one recipe; None when it was not fitted."""
        return next((p for p in self.points if p.recipe == recipe and p.measured), None)

    def best(self) -> Point | None:
        """The point along the frontier with the least mean excess loss; None before the first."""
        return min(self.along(), key=lambda p: p.mean_excess.mean, default=None)

    def undecided(self) -> tuple[Point, ...]:
        """Other points along the frontier whose 95 % interval of paired differences to the best holds 0."""
        best = self.best()
        others = [p for p in self.along() if p is not best]
        return tuple(p for p in others if best is not None and not mean_difference(p, best).low > 0)


def mean_difference(first: Point, second: Point) -> Interval:
    """Mean of the first point's excess loss minus the second's, draw by draw, with its 95 % interval."""
    return mean_interval([a - b for a, b in zip(first.excess, second.excess, strict=False)])


def sample(plan: Plan, should_stop: Callable[[], bool] = lambda: False) -> Iterator[Estimate]:
    """Fit along the frontier, one draw at every f before the next draw; the first estimate has no private fit."""
    rows, features = plan.sample_shape
    X, labels = synthetic.draw(
        rows + TEST_ROWS, features, decay=COLUMNS[plan.columns], flipped=_FLIPPED, seed=plan.seed
    )
    targets = np.where(labels == 1, 1.0, -1.0)
    train = Rows(X[:rows], "normalize", plan.intercept_scaling)
    test = Rows(X[rows:], "normalize", plan.intercept_scaling)
    here, there = targets[:rows], targets[rows:]
    if should_stop():
        return
    reference = PerturbedObjective(train, here, 1 / NON_PRIVATE_C, np.zeros(train.dimension))
    theta_0 = solve(reference, tau=TAU).theta
    state = Estimate(
        plan,
        rows,
        train.dimension,
        reference_norm=float(np.linalg.norm(theta_0)),
        reference_loss=_mean_loss(train, here, theta_0),
        reference_accuracy=_accuracy(test, there, theta_0),
        points=tuple(Point(recipe, mechanism) for recipe, mechanism in plan.mechanisms().items()),
    )
    if not state.points:
        raise ValueError(f"epsilon must be one that some recipe can meet at delta = {plan.delta:g}, got {plan.epsilon}")
    yield state

    for draw in range(plan.draws):
        for index, point in enumerate(state.points):
            if point.failed:
                continue
            try:
                theta = perturb_and_solve(
                    X[:rows],
                    here,
                    point.mechanism,
                    delta=plan.delta,
                    epsilon=plan.epsilon,
                    accountant=point.recipe.accountant,
                    intercept_scaling=plan.intercept_scaling,
                    random_state=plan.seed + draw,
                    callback=stopper(should_stop),
                ).theta
            except StoppedError:
                return
            except ConvergenceError:
                fitted = replace(point, failed=True)
            else:
                fitted = replace(
                    point,
                    excess=(*point.excess, _mean_loss(train, here, theta) - state.reference_loss),
                    accuracy=(*point.accuracy, _accuracy(test, there, theta)),
                )
            state = replace(state, points=(*state.points[:index], fitted, *state.points[index + 1 :]))
            yield state


def _mean_loss(rows: Rows, targets: FloatArray, theta: FloatArray) -> float:
    return float(LogisticLoss().value(rows.margins(theta) * targets).mean())


def _accuracy(rows: Rows, targets: FloatArray, theta: FloatArray) -> float:
    return float(np.mean(rows.margins(theta) * targets > 0))
