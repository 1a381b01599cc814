"""Logistic regression by DP-SGD, as a scikit-learn estimator, with its tuning paid for or not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from objpert_core._validation import FloatArray, in_open_unit, length, positive, positive_integer
from objpert_core.accounting.dp_sgd.calibration import ACCOUNTANTS
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.base import LinearClassifier, encode
from objpert_core.estimators.cautions import Caution
from objpert_core.estimators.constraints import one_of, or_none, refuse_weights
from objpert_core.estimators.documented import documented
from objpert_core.estimators.frames import checked_rows, checked_targets
from objpert_core.estimators.objective import constant_of
from objpert_core.estimators.parameters import Advanced, Applies, Settings, Together
from objpert_core.estimators.recipe import Data, Learned, Objective, Public, Recipe
from objpert_core.estimators.scoring import FLOATS
from objpert_core.estimators.steps_before import rows_cautions
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.dp_sgd.budget import Budget, check_allocated, dpsgd_budget
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
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.sampling import Streams
from objpert_core.learning.screening import usable
from objpert_core.learning.solvers import Callback

_NOT_PAID = Caution(
    "tuning",
    "The learning rate is chosen by looking at the data and nobody pays for the choice: privacy_ covers one run only. "
    "Give mean_runs to pay for it, or tuning='dishonest' to say that this is meant.",
    PrivacyBudgetWarning,
)
_BATCH_SIZE, _RATE = 256, 0.03
_FEW_ROWS, _RATE_OF_FEW_ROWS = 1000, 0.5  # `python -m benchmarks.dp_sgd_learning_rates few`


def _one_rate(name: str, value: Any) -> float:
    return float(learning_rates_array(name, positive(name, value)).ravel()[0])


def _different_rates(name: str, value: Any) -> list[float]:
    rates: list[float] = learning_rates_array(name, value).ravel().tolist()
    if not rates or len(set(rates)) < len(rates):
        raise ValueError(f"{name} must be one or more different numbers > 0, got {value!r}")
    return rates


_NO_RATES = "where learning_rates is None"


def _can_be_allocated(s: Settings) -> None:
    if s.sampling == ALLOCATION:
        check_allocated(
            accountant=s.accountant,
            mean_runs=s.mean_runs,
            adjacency=s.adjacency,
            rows_per_person=s.rows_per_person,
        )


@documented
class DPSGDLogisticRegression(LinearClassifier):
    """Logistic regression under (ε, δ)-differential privacy, by DP-SGD.

    In every step each row joins the batch by its own coin. The gradients of the batch are clipped and summed, Gaussian
    noise is added to the sum, and the optimiser moves along the noisy sum. The last iterate is released.

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
    mean_runs : float or None, default=None
        μ, the mean number of runs in honest tuning; with 15.4 there are more than 10 runs with probability 0.9.
    learning_rates : sequence of different floats or None, default=None
        The learning rates on offer; they must not come from the data.
    %(margin classes fit_intercept)s
    public_rows : int or None, default=None
        The number of rows from which sample rate and steps follow.
        %(declared_rows)s
    %(adjacency rows_per_person on_error_of_steps)s
    random_state : None, int, RandomState or Generator, default=None
        None takes batches, noise and coins from the operating system. Anything else is for teaching and tests, and the
        certificate says ``reproducible=True``. With one seed a candidate of dishonest tuning has the batches and the
        noise of a fit with that learning rate alone.
    %(advanced)s

    Other Parameters
    ----------------
    optimizer : {"adam", "sgd"}, default="adam"
    clip : float or None, default=None
        Norm to which every row's gradient is clipped. None takes √(1 + s²), which no gradient of the logistic loss
        exceeds: nothing is clipped.
    accountant : {"pld", "rdp"}, default="pld"
        See `objpert_core.accounting.calibrate_dpsgd`.
    tuning : {None, "honest", "dishonest"}, default=None
        None means honest where `mean_runs` is given; otherwise, with `learning_rates`, dishonest, with a warning.
    validation_fraction : float, default=0.1
        For tuning without `X_val`: every row is held out for the choice with this probability, by its own coin.
    sampling : {"poisson", "allocation"}, default="poisson"
        How batches are drawn. "poisson": in each step every row joins with probability batch_size/n. "allocation": in
        each epoch every row is used in exactly one of the t = ⌈n/batch_size⌉ steps, drawn uniformly for each row on its
        own, and sums are divided by n/t, which as a rule needs less noise. Allocation is accounted for by privacy loss
        distributions, for one row added or removed. It does not work with `mean_runs`, nor with other values of
        `adjacency`, `rows_per_person` and `accountant` than the defaults.
    %(intercept_scaling row_norm)s

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

    CONSTRAINTS: ClassVar = {
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
        "sampling": one_of(*SAMPLINGS),
    }
    ADVANCED: ClassVar = {
        "optimizer": "adam",
        "clip": None,
        "accountant": "pld",
        "tuning": None,
        "validation_fraction": 0.1,
        "sampling": POISSON,
        "intercept_scaling": 0.3,
        "row_norm": "normalize",
    }
    TOGETHER: ClassVar = (
        Together("mean_runs", lambda s: s.mean_runs is None or s.learning_rates, "be None", _NO_RATES),
        Together("tuning", lambda s: s.tuning is None or s.learning_rates, "be None", _NO_RATES),
        Together(
            "mean_runs", lambda s: s.tuning != "dishonest" or s.mean_runs is None, "be None", "for tuning='dishonest'"
        ),
        Together(
            "mean_runs",
            lambda s: s.tuning != "honest" or s.mean_runs is not None,
            "be a finite number > 0",
            "for tuning='honest'",
        ),
        Applies(_can_be_allocated),
    )
    __metadata_request__fit: ClassVar[dict[str, str]] = {"X_val": UNUSED, "y_val": UNUSED}  # and the base's
    has_probabilities = True

    privacy_: DPSGDCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, learning_rate: float | None = None,
        batch_size: int | None = None, epochs: int = 60, *, mean_runs: float | None = None,
        learning_rates: Sequence[float] | None = None, margin: float = 0.0, classes: Any = None,
        fit_intercept: bool = True, public_rows: int | None = None, adjacency: str = "add/remove one row",
        rows_per_person: int = 1, on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None,
        **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

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
            ``callback(step, gradient_norm)`` after every step of every run, with the norm of the noisy mean gradient.
            An exception raised in it stops the fit, leaves the estimator unfitted and is passed on. With honest tuning
            it learns what unreleased runs did: that is outside the guarantee, do not publish it.
        **others
            None. `sample_weight` gets a `TypeError`.
        """
        refuse_weights(self, others)
        judges = None if X_val is None and y_val is None else (X_val, y_val)
        return self.fit_beside((), X, y, callback, judges=judges)

    def recipe(self, public: Public) -> Recipe:
        s, name = self.settings, type(self).__name__
        plan = _planned(s, public)
        mechanism, about = plan.budget.mechanism, (s.adjacency, s.rows_per_person)

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
            X, targets = data.X, data.targets
            if s.on_error == "release":
                X, targets = usable(X, targets, LogisticLoss())
            rows, judges = Rows(X, s.row_norm, constant_of(s)), _judges(self, s, data.judges)
            for state in random_states:
                streams = Streams(state)
                selection = _selected(s, plan, rows, targets, judges, streams, callback)
                certificate = _certified(s, plan, rows, streams)
                tried = [{"learning_rate": one.learning_rate, "score": one.score} for one in selection.trials]
                also = {"learning_rate_": selection.learning_rate, "candidates_": tried, "margin_": s.margin}
                also |= {"n_iter_": plan.schedule.steps}
                yield Learned(Release(selection.theta, certificate, ()), also)

        counted: dict[str, Any] = {"public_rows": plan.rows, "rows_declared": s.public_rows is not None}
        terms = Terms(s.epsilon, s.delta, *about, **counted)
        unpaid = (_NOT_PAID,) if plan.tuning == "dishonest" and s.tuning is None else ()
        return Recipe(
            f"DP-SGD, {plan.schedule.steps} steps, tuning: {plan.tuning}",
            terms,
            mechanism,
            public,
            run,
            Objective(LogisticLoss(s.margin), clip=s.clip),
            s.row_norm,
            reads_rows=True,
            released=("learning rate",),
            cautions=(*rows_cautions(s, name, True), *unpaid),
        )


class _Plan(NamedTuple):
    """What public numbers decide; `fraction` of the rows is held out for the choice, None for no row."""

    rows: int
    batch_size: int
    tuning: str
    candidates: tuple[float, ...]
    fraction: float | None
    schedule: Schedule
    budget: Budget


def _planned(s: Settings, public: Public) -> _Plan:
    if public.judged and s.learning_rates is None:
        raise ValueError("X_val must be None where learning_rates is None: there is nothing to choose")
    if s.mean_runs is not None and not public.judged and s.rows_per_person != 1:
        raise ValueError(
            "rows_per_person must be 1 for honest tuning without X_val, since one person's rows may be trained on and "
            f"held out at once, got {s.rows_per_person!r}"
        )
    rows = s.public_rows or public.rows
    batch_size, tuning, candidates = _asked(s, rows)
    fraction = s.validation_fraction if tuning != "none" and not public.judged else None
    schedule = Schedule.of_epochs(rows * (1 - (fraction or 0.0)), batch_size, s.epochs, s.sampling)
    budget = dpsgd_budget(
        s.epsilon,
        s.delta,
        schedule,
        accountant=s.accountant,
        mean_runs=s.mean_runs,
        private_score=fraction is not None,
        adjacency=s.adjacency,
        rows_per_person=s.rows_per_person,
    )
    return _Plan(rows, batch_size, tuning, candidates, fraction, schedule, budget)


def _asked(s: Settings, rows: int) -> tuple[int, str, tuple[float, ...]]:
    """The size of a batch, "none", "honest" or "dishonest", and the learning rates on offer."""
    left_to_rules = s.batch_size is None and s.learning_rate is None and s.learning_rates is None
    if left_to_rules and rows < _FEW_ROWS and (s.optimizer, s.sampling) == ("adam", POISSON):
        return rows, "none", (_RATE_OF_FEW_ROWS,)
    size = _BATCH_SIZE if s.batch_size is None else s.batch_size
    if s.learning_rates is None:
        return size, "none", (_RATE if s.learning_rate is None else s.learning_rate,)
    return size, "dishonest" if s.mean_runs is None else "honest", tuple(s.learning_rates)


def _judges(model: DPSGDLogisticRegression, s: Settings, judges: Any) -> tuple[Rows, FloatArray] | None:
    if judges is None:
        return None
    X_val, y_val = judges
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be given together")
    X_val, y_val = validate_data(
        model,
        checked_rows(X_val),
        checked_targets(y_val),
        accept_sparse="csr",
        dtype=FLOATS,
        ensure_all_finite=False,
        reset=False,
    )
    return Rows(X_val, s.row_norm, constant_of(s)), encode(y_val, model.classes_)[1]


def _selected(
    s: Settings,
    plan: _Plan,
    rows: Rows,
    targets: FloatArray,
    judges: tuple[Rows, FloatArray] | None,
    streams: Streams,
    callback: Callback | None,
) -> Selection:
    """The one run where nothing judges models; otherwise the best of several."""
    members, score = None, None if judges is None else exact_score(*judges)
    if plan.fraction is not None:
        members, held_out = split_by_coins(rows.n_rows, plan.fraction, streams)
        score = _score(plan, rows, targets, held_out, streams)
    trained = rows, targets, plan.candidates, plan.schedule
    running: dict[str, Any] = {
        "noise_multiplier": plan.budget.noise_multiplier,
        "streams": streams,
        "members": members,
        "clip": s.clip,
        "margin": s.margin,
        "optimizer": s.optimizer,
    }
    if score is None:
        theta = train_candidates(*trained, callback=callback, **running)[0]
        return Selection.best([Trial(plan.candidates[0], theta, math.nan)], rows.dimension)
    if s.mean_runs is None:
        return select_by_looking(*trained, score=score, callback=callback, **running)
    told = None if callback is None else lambda _run, _runs, step, norm: callback(step, norm)
    return select_honestly(*trained, score=score, mean_runs=s.mean_runs, callback=told, **running)


def _score(plan: _Plan, rows: Rows, targets: FloatArray, held_out: Any, streams: Streams) -> Score:
    if plan.budget.score_noise is None:
        return exact_score(rows, targets, held_out)
    scale = plan.rows * (plan.fraction or 0.0)
    return private_score(rows, targets, held_out, plan.budget.score_noise, scale, streams)


def _certified(s: Settings, plan: _Plan, rows: Rows, streams: Streams) -> DPSGDCertificate:
    return DPSGDCertificate.of(
        plan.budget,
        streams,
        tuning=plan.tuning,
        clip=s.clip,
        intercept_scaling=rows.constant,
        epsilon=s.epsilon,
        delta=s.delta,
        accountant=s.accountant,
        row_norm=s.row_norm,
        optimizer=s.optimizer,
        batch_size=plan.batch_size,
        epochs=s.epochs,
        public_rows=plan.rows,
        rows_declared=s.public_rows is not None,
        margin=s.margin,
        candidates=plan.candidates,
        validation_fraction=plan.fraction,
        on_error=s.on_error,
        rows_per_person=s.rows_per_person,
        lattice=sum_spacing(row_radius(rows.constant) if s.clip is None else s.clip, rows.dimension),
    )
