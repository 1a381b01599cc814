"""Logistic regression by DP-SGD, as a scikit-learn estimator, with its tuning paid for or not."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from objpert_core._validation import FloatArray, in_open_unit, length, positive, positive_integer
from objpert_core.accounting.dp_sgd.calibration import ACCOUNTANTS
from objpert_core.estimators.cautions import CALLERS_OF_FIT
from objpert_core.estimators.constraints import one_of, or_none, refuse_weights
from objpert_core.estimators.documented import documented
from objpert_core.estimators.former import ProbabilisticClassifier, Seed, WithNeighbours, encode
from objpert_core.estimators.frames import checked_rows, checked_targets
from objpert_core.estimators.scoring import FLOATS
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.dp_sgd.budget import check_allocated, dpsgd_budget
from objpert_core.learning.dp_sgd.certificate import DPSGDCertificate
from objpert_core.learning.dp_sgd.optimizers import OPTIMIZERS
from objpert_core.learning.dp_sgd.training import (
    ALLOCATION,
    POISSON,
    SAMPLINGS,
    Schedule,
    learning_rates_array,
    sum_spacing,
    train_candidates,
)
from objpert_core.learning.dp_sgd.tuning import (
    Score,
    Selection,
    Trial,
    exact_score,
    private_score,
    select_by_looking,
    select_honestly,
    split_by_coins,
)
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.sampling import Streams
from objpert_core.learning.screening import usable
from objpert_core.learning.solvers import Callback

_NOT_PAID = (
    "The learning rate is chosen by looking at the data and nobody pays for the choice: privacy_ covers one run only. "
    "Give mean_runs to pay for it, or tuning='dishonest' to say that this is meant."
)
_BATCH_SIZE, _RATE = 256, 0.03
_FEW_ROWS, _RATE_OF_FEW_ROWS = 1000, 0.5  # `python -m benchmarks.dp_sgd_learning_rates few`


def _one_rate(name: str, value: Any) -> None:
    learning_rates_array(name, positive(name, value))


def _different_rates(name: str, value: Any) -> list[float]:
    rates: list[float] = learning_rates_array(name, value).ravel().tolist()
    if not rates or len(set(rates)) < len(rates):
        raise ValueError(f"{name} must be one or more different numbers > 0, got {value!r}")
    return rates


@documented
class DPSGDLogisticRegression(ProbabilisticClassifier, WithNeighbours):
    """Logistic regression under (ε, δ)-differential privacy, by DP-SGD.

    In every step each row joins the batch by its own coin. The gradients of the batch are clipped and summed, Gaussian
    noise is added to the sum, and the optimiser moves along the noisy sum. The last iterate is released. With
    ``sampling="allocation"`` no coins are tossed: each row is in one step of each epoch, which as a rule needs less
    noise.

    The learning rate has to come from somewhere. Three choices, from private to not:

    * `learning_rate` alone: one run, which the certificate covers.
    * `learning_rates` with `mean_runs`: honest tuning. K ~ Poisson(mean_runs) independent runs with learning rates
      drawn from those on offer; the best one is released and the certificate covers the choice. K = 0 releases θ = 0.
    * `learning_rates` with ``tuning="dishonest"``: a model is trained with each rate, the best model is picked by
      looking at the data, and the certificate covers **one run, not the choice**. This is for comparison with published
      experiments.

    Parameters
    ----------
    %(epsilon delta)s
    learning_rate : float or None, default=None
        None takes 0.03, which is for Adam and was chosen on synthetic data only (`benchmarks/dp_sgd_learning_rates.py`:
        within 1 point of the best rate's accuracy on average, and within 4.4 at worst). For SGD about 3 does well. Not
        used where `learning_rates` is given.
    batch_size : int or None, default=None
        Expected size of a batch; all rows in every step if they are fewer. None takes 256. Where neither a batch size
        nor a learning rate is given, fewer than 1000 public rows are all used in every step, at the learning rate 0.5:
        on rows that are much alike, a few steps of 0.03 would not get anywhere.
    epochs : int, default=60
        There are epochs · ⌈n/batch_size⌉ steps.
    optimizer : {"adam", "sgd"}, default="adam"
    clip : float or None, default=None
        Norm to which every row's gradient is clipped. None takes √(1 + s²), which no gradient of the logistic loss
        exceeds: nothing is clipped.
    accountant : {"pld", "rdp"}, default="pld"
        See `objpert_core.accounting.calibrate_dpsgd`.
    mean_runs : float or None, default=None
        μ, the mean number of runs in honest tuning; with 15.4 there are more than 10 runs with probability 0.9.
    learning_rates : sequence of different floats or None, default=None
        The learning rates on offer; they must not come from the data.
    tuning : {None, "honest", "dishonest"}, default=None
        None means honest where `mean_runs` is given; otherwise, with `learning_rates`, dishonest, with a warning.
    validation_fraction : float, default=0.1
        For tuning without `X_val`: every row is held out for the choice with this probability, by its own coin.
    %(intercept row_norm)s
    random_state : None, int, RandomState or Generator, default=None
        None takes batches, noise and coins from the operating system. Anything else is for teaching and tests, and the
        certificate says ``reproducible=True``. With one seed a candidate of dishonest tuning has the batches and the
        noise of a fit with that learning rate alone.
    %(margin classes)s
    public_rows : int or None, default=None
        The number of rows from which sample rate and steps follow.
        %(declared_rows)s
    %(on_error_of_steps adjacency rows_per_person)s
    sampling : {"poisson", "allocation"}, default="poisson"
        How batches are drawn. "poisson": in each step every row joins with probability batch_size/n. "allocation": in
        each epoch every row is used in exactly one of the t = ⌈n/batch_size⌉ steps, drawn uniformly for each row on its
        own, and sums are divided by n/t. Allocation is accounted for by privacy loss distributions, for one row added
        or removed. Allocation does not work with `mean_runs`, nor with other values of `adjacency`,
        `rows_per_person` and `accountant` than the defaults. With a `delta` below about 1e-13 times the number of
        steps, allocation saves no noise.

    Attributes
    ----------
    %(fitted_classifier fitted_margin)s
    privacy_ : DPSGDCertificate
        What was promised and how. `release` gives a copy of the model that may be published, with its public part.
    learning_rate_ : float or None
        The learning rate of the released run; None if honest tuning made no run. Covered by the promise unless tuning
        was dishonest.
    candidates_ : list of dict
        ``learning_rate`` and ``score`` (share of right answers, with noise where it is private) of all that was tried.
        Outside the guarantee, their number too: do not publish.
    n_iter_ : int
        The number of steps of one run.
    %(fitted_features)s

    Notes
    -----
    Abadi et al. (2016), Algorithm 1; Papernot and Steinke (2022) for the choice; the set-up of Redberg, Koskela and
    Wang (2023), Section 5; Feldman and Shenfeld (2025) for random allocation (docs/theorems.md, T28). A held-out row is
    counted with noise, at the same (ε, δ), and no row is both trained on and counted (proof in
    `learning/dp_sgd/budget.py`). The time that honest tuning takes reveals K, which the promise does not cover: do not
    publish the time either.
    %(weights)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DPSGDLogisticRegression(epsilon=1.0, delta=1e-5, classes=[0, 1], epochs=5, random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.privacy_.tuning
    ((1, 30), 1.0, 'none')
    >>> allocated = DPSGDLogisticRegression(classes=[0, 1], epochs=5, sampling="allocation").fit(X, y)
    >>> allocated.privacy_.noise_multiplier < model.privacy_.noise_multiplier
    True
    """

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "learning_rate": or_none(_one_rate),
        "batch_size": or_none(positive_integer),
        "epochs": positive_integer,
        "optimizer": one_of(*OPTIMIZERS),
        "clip": or_none(length),
        "accountant": one_of(*ACCOUNTANTS),
        "mean_runs": or_none(positive),
        "learning_rates": or_none(_different_rates),
        "tuning": or_none(one_of("honest", "dishonest")),
        "validation_fraction": in_open_unit,
        "public_rows": or_none(positive_integer),
        "sampling": one_of(*SAMPLINGS),
    }
    __metadata_request__fit: ClassVar[dict[str, str]] = {"X_val": UNUSED, "y_val": UNUSED}  # and the base's

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, learning_rate: float | None = None,
        batch_size: int | None = None,
        epochs: int = 60, optimizer: str = "adam", clip: float | None = None, accountant: str = "pld",
        mean_runs: float | None = None, learning_rates: Sequence[float] | None = None, tuning: str | None = None,
        validation_fraction: float = 0.1, fit_intercept: bool = True, intercept_scaling: float = 0.3,
        row_norm: str = "normalize", random_state: Seed = None, *, margin: float = 0.0, classes: Any = None,
        public_rows: int | None = None, on_error: str = "raise",
        adjacency: str = "add/remove one row", rows_per_person: int = 1, sampling: str = "poisson",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            row_norm=row_norm, random_state=random_state, margin=margin, classes=classes, on_error=on_error,
            adjacency=adjacency, rows_per_person=rows_per_person,
        )  # fmt: skip
        self.learning_rate, self.learning_rates = learning_rate, learning_rates
        self.batch_size, self.epochs, self.optimizer = batch_size, epochs, optimizer
        self.clip, self.accountant = clip, accountant
        self.tuning, self.mean_runs, self.validation_fraction = tuning, mean_runs, validation_fraction
        self.public_rows, self.sampling = public_rows, sampling

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        callback: Callback | None = None,
        **others: Any,
    ) -> Self:
        """Fit the private model; see `ObjPertLogisticRegression.fit` for the rest. There are two labels.

        Parameters
        ----------
        X, y
            Dense matrices that are not stored row by row (a data frame's columns) are copied once into that order.
        X_val, y_val : array-like, optional
            Rows and labels that choose among `learning_rates` by exact accuracy. Honest tuning then declares them
            **public**: the promise does not cover them.
        callback : callable, optional
            ``callback(step, gradient_norm)`` after every step of every run, with the norm of the noisy mean gradient
            (the smallest among candidates trained together). An exception raised in it stops the fit, leaves the
            estimator unfitted and is passed on. With honest tuning the callback learns how many runs there are and what
            unreleased runs did: both are outside the guarantee, do not publish them.
        **others
            None. `sample_weight` gets a `TypeError`.
        """
        refuse_weights(self, others)
        return self.fit_beside((), X, y, callback, X_val=X_val, y_val=y_val)

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        X_val, y_val = options["X_val"], options["y_val"]
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together")
        if self.learning_rates is None:
            for name, value in (("mean_runs", self.mean_runs), ("tuning", self.tuning)):
                if value is not None:
                    raise ValueError(f"{name} must be None where learning_rates is None, got {value!r}")
            if X_val is not None:
                raise ValueError("X_val must be None where learning_rates is None: there is nothing to choose")
        if self.tuning == "dishonest" and self.mean_runs is not None:
            raise ValueError(f"mean_runs must be None for tuning='dishonest', got {self.mean_runs!r}")
        if self.tuning == "honest" and self.mean_runs is None:
            raise ValueError("mean_runs must be a finite number > 0 for tuning='honest', got None")
        if self.sampling == ALLOCATION:
            check_allocated(
                accountant=self.accountant,
                mean_runs=self.mean_runs,
                adjacency=self.adjacency,
                rows_per_person=self.rows_per_person,
            )
        if self.mean_runs is not None and X_val is None and self.rows_per_person != 1:
            raise ValueError(
                "rows_per_person must be 1 for honest tuning without X_val, since one person's rows may be trained on "
                f"and held out at once, got {self.rows_per_person!r}"
            )

    def _reads_rows(self) -> bool:
        return self.public_rows is None  # sample rate and steps go by it

    def _asked(self, public_rows: int) -> tuple[int, str, tuple[float, ...]]:
        """The size of a batch, "none", "honest" or "dishonest", and the learning rates on offer."""
        left_to_rules = self.batch_size is None and self.learning_rate is None and self.learning_rates is None
        if left_to_rules and public_rows < _FEW_ROWS and (self.optimizer, self.sampling) == ("adam", POISSON):
            return public_rows, "none", (_RATE_OF_FEW_ROWS,)
        size = _BATCH_SIZE if self.batch_size is None else int(self.batch_size)
        if self.learning_rates is None:
            return size, "none", (_RATE if self.learning_rate is None else float(self.learning_rate),)
        rates = tuple(_different_rates("learning_rates", self.learning_rates))
        return size, "dishonest" if self.mean_runs is None else "honest", rates

    def _release(self, X: Any, targets: FloatArray, callback: Any, **options: Any) -> Release[DPSGDCertificate]:
        constant = self._constant
        public_rows = X.shape[0] if self.public_rows is None else int(self.public_rows)
        batch_size, tuning, candidates = self._asked(public_rows)
        if self._releases:
            X, targets = usable(X, targets, LogisticLoss())
        rows, judges = Rows(X, self.row_norm, constant), self._validated_judges(**options)
        fraction = float(self.validation_fraction) if tuning != "none" and judges is None else None
        expected = public_rows * (1 - (fraction or 0.0))
        schedule = Schedule.of_epochs(expected, batch_size, self.epochs, self.sampling)
        budget = dpsgd_budget(
            self.epsilon,
            self.delta,
            schedule,
            accountant=self.accountant,
            mean_runs=None if self.mean_runs is None else float(self.mean_runs),
            private_score=fraction is not None,
            adjacency=self.adjacency,
            rows_per_person=int(self.rows_per_person),
        )
        streams = Streams(self.random_state)
        if tuning == "dishonest" and self.tuning is None:
            warnings.warn(_NOT_PAID, PrivacyBudgetWarning, stacklevel=CALLERS_OF_FIT)
        members, score = None, None if judges is None else exact_score(*judges)
        if fraction is not None:
            members, held_out = split_by_coins(rows.n_rows, fraction, streams)
            if budget.score_noise is None:
                score = exact_score(rows, targets, held_out)
            else:
                scale = public_rows * fraction
                score = private_score(rows, targets, held_out, budget.score_noise, scale, streams)
        running = {"noise_multiplier": budget.noise_multiplier, "streams": streams, "members": members}
        selection = self._select((rows, targets, candidates, schedule), score, callback, running)
        self.margin_ = float(self.margin)
        self.learning_rate_ = selection.learning_rate
        self.candidates_ = [{"learning_rate": trial.learning_rate, "score": trial.score} for trial in selection.trials]
        self.n_iter_ = schedule.steps
        certificate = DPSGDCertificate.of(
            budget,
            streams,
            tuning=tuning,
            clip=self.clip,
            intercept_scaling=constant,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            accountant=self.accountant,
            row_norm=self.row_norm,
            optimizer=self.optimizer,
            batch_size=batch_size,
            epochs=int(self.epochs),
            public_rows=public_rows,
            rows_declared=self.public_rows is not None,
            margin=self.margin_,
            candidates=candidates,
            validation_fraction=fraction,
            on_error=self.on_error,
            rows_per_person=int(self.rows_per_person),
            lattice=sum_spacing(row_radius(constant) if self.clip is None else self.clip, rows.dimension),
        )
        return Release(selection.theta, certificate, ())

    def _select(
        self,
        trained: tuple[Rows, FloatArray, tuple[float, ...], Schedule],
        score: Score | None,
        callback: Any,
        running: dict[str, Any],
    ) -> Selection:
        """The one run without a judge of models; otherwise the best of several."""
        rows, _, candidates, _ = trained
        running |= {"clip": self.clip, "margin": float(self.margin), "optimizer": self.optimizer}
        if score is None:
            theta = train_candidates(*trained, callback=callback, **running)[0]
            return Selection.best([Trial(candidates[0], theta, math.nan)], rows.dimension)
        if self.mean_runs is None:
            return select_by_looking(*trained, score=score, callback=callback, **running)
        told = None if callback is None else lambda _run, _runs, step, norm: callback(step, norm)
        return select_honestly(*trained, score=score, mean_runs=float(self.mean_runs), callback=told, **running)

    def _validated_judges(self, X_val: Any, y_val: Any) -> tuple[Rows, FloatArray] | None:
        if X_val is None:
            return None
        X_val, y_val = validate_data(
            self,
            checked_rows(X_val),
            checked_targets(y_val),
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_all_finite=False,
            reset=False,
        )
        return Rows(X_val, self.row_norm, self._constant), encode(y_val, self.classes_)[1]
