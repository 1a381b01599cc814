"""DP-SGD with its learning rate chosen three ways: paid for, not paid for (by "judges" among the test rows), and fixed.

All are then asked about test rows that chose nothing: `Draw.curse` is by how much judges think better of their choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from objpert_core._validation import (
    FloatArray,
    IntArray,
    check_fields,
    choice,
    in_open_unit,
    integer_up_to,
    nonnegative_integer,
    positive,
    positive_integer,
    some_positive,
)
from objpert_core.accounting import PrivateSelection
from objpert_core.accounting.dp_sgd.calibration import ACCOUNTANTS
from objpert_core.datasets import Dataset
from objpert_core.experiments import paper
from objpert_core.experiments.live import DataFacts, StoppedError, stopper
from objpert_core.experiments.summary import Interval, mean_interval
from objpert_core.learning.dp_sgd.budget import Budget, accounted, dpsgd_budget
from objpert_core.learning.dp_sgd.certificate import DPSGDCertificate
from objpert_core.learning.dp_sgd.training import Schedule, sum_spacing, train_candidates
from objpert_core.learning.dp_sgd.tuning import (
    PAPER_LEARNING_RATES,
    Selection,
    private_score,
    right_answers,
    select_honestly,
    split_by_coins,
)
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.sampling import Streams

FIXED_RATE = 0.03
"""The learning rate fixed in advance: `DPSGDLogisticRegression`'s default, chosen on synthetic data."""
MAX_DRAWS = 50
JURIES = 40
"""Sets of judges for each noise seed."""
WAYS = ("judges", "fresh", "honest", "fixed")
"""Unpaid tuning as its judges see it and on fresh rows; paid tuning; a learning rate fixed in advance."""


@dataclass(frozen=True)
class Settings:
    """What to run; the promise is that of every model, of unpaid tuning that of one run."""

    epsilon: float = 1.0
    delta: float = 1e-5
    learning_rates: tuple[float, ...] = PAPER_LEARNING_RATES
    mean_runs: float = paper.MEAN_RUNS
    batch_size: int = 256
    epochs: int = 10
    accountant: str = "pld"
    judges: int = 200
    draws: int = 5
    seed: int = 0
    validation_fraction: float = 0.1
    intercept_scaling: float = 0.3

    def __post_init__(self) -> None:
        check_fields(self, positive, "epsilon", "mean_runs", "intercept_scaling")
        check_fields(self, in_open_unit, "delta", "validation_fraction")
        check_fields(self, positive_integer, "batch_size", "epochs", "judges")
        check_fields(self, some_positive, "learning_rates")
        choice("accountant", self.accountant, ACCOUNTANTS)
        integer_up_to("draws", self.draws, MAX_DRAWS)
        check_fields(self, nonnegative_integer, "seed")


@dataclass(frozen=True, eq=False)
class Draw:
    """What one noise seed gave. All of it but one released model looks at the data outside any guarantee.

    `judged` and `fresh` are every unpaid candidate's shares of right answers on the judges and on fresh rows; `chosen`
    is the judges' candidate. `runs`, `scores` (private, by held-out training rows) and `accuracy` (on fresh rows) are
    those of paid tuning's K runs, `released` is its run (None where K = 0 and θ = 0 is released) and `honest` that
    run's accuracy. `curse` is, for each of `JURIES` other sets of judges, what they say of their choice minus its share
    on the other rows; `no_curse` the same for the fixed learning rate.
    """

    seed: int
    rates: FloatArray
    judged: FloatArray
    fresh: FloatArray
    chosen: int
    runs: FloatArray
    scores: FloatArray
    accuracy: FloatArray
    released: int | None
    honest: float
    fixed: float
    curse: FloatArray
    no_curse: FloatArray

    def of(self, way: str) -> float:
        """Accuracy by one of `WAYS`."""
        unpaid = {"judges": self.judged[self.chosen], "fresh": self.fresh[self.chosen]}
        return float({**unpaid, "honest": self.honest, "fixed": self.fixed}[choice("way", way, WAYS)])


@dataclass(frozen=True, eq=False)
class TuningRuns:
    """The draws made so far; complete in itself, never changed."""

    settings: Settings
    data: DataFacts
    judges: int
    one: Budget
    paid: Budget
    unpaid_certificate: DPSGDCertificate
    paid_certificate: DPSGDCertificate
    true_epsilon: float
    draws: tuple[Draw, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every draw that was asked for has been made."""
        return len(self.draws) == self.settings.draws

    def mean(self, way: str) -> Interval | None:
        """Mean accuracy by one of `WAYS`, with its interval over the draws; None before the first."""
        return mean_interval([draw.of(way) for draw in self.draws]) if self.draws else None

    def difference(self, way: str, other: str) -> Interval | None:
        """Mean of accuracy by `way` minus accuracy by `other`, the draws taken in pairs; None before the first."""
        return mean_interval([draw.of(way) - draw.of(other) for draw in self.draws]) if self.draws else None

    @property
    def optimism(self) -> Interval | None:
        """What judges say of their choice minus what fresh rows say, averaged over juries, then over draws."""
        return mean_interval([float(draw.curse.mean()) for draw in self.draws]) if self.draws else None

    @property
    def without_choice(self) -> Interval | None:
        """The same difference for the learning rate fixed in advance; every jury is drawn anew, so each is a draw."""
        return mean_interval([gap for draw in self.draws for gap in draw.no_curse.tolist()]) if self.draws else None

    @property
    def juries(self) -> int:
        """How many juries were drawn for `optimism` and `without_choice`."""
        return sum(len(draw.curse) for draw in self.draws)


def tuning_runs(
    data: Dataset,
    settings: Settings = Settings(),
    should_stop: Callable[[], bool] = lambda: False,
    tell: Callable[[int, int, int], None] = lambda run, runs, step: None,
) -> Iterator[TuningRuns]:
    """Tune with and without paying, for one noise seed after the other; the first result has no draw."""
    if len(data.y_test) < 2:
        raise ValueError(f"data must have at least two test rows, got {len(data.y_test)}")
    judges = min(settings.judges, len(data.y_test) // 2)
    about = (settings.epsilon, settings.delta)
    whole, part = (
        Schedule.of_epochs(len(data.y_train) * share, settings.batch_size, settings.epochs)
        for share in (1.0, 1 - settings.validation_fraction)
    )
    one = dpsgd_budget(*about, whole, accountant=settings.accountant)
    paid = dpsgd_budget(*about, part, accountant=settings.accountant, mean_runs=settings.mean_runs, private_score=True)
    afterwards = accounted(PrivateSelection(one.mechanism, settings.mean_runs), settings.accountant)
    certificates = (
        _certificate(one, settings, data, "dishonest"),
        _certificate(paid, settings, data, "honest"),
    )
    true_epsilon = float(afterwards.epsilon(settings.delta))
    state = TuningRuns(settings, DataFacts.of(data), judges, one, paid, *certificates, true_epsilon)
    yield state
    with suppress(StoppedError):
        for number in range(settings.draws):
            draw = _draw(data, state, whole, part, settings.seed + number, stopper(should_stop), tell)
            state = replace(state, draws=(*state.draws, draw))
            yield state


def _certificate(budget: Budget, settings: Settings, data: Dataset, tuning: str) -> DPSGDCertificate:
    """The certificate of all draws alike, which names no coefficients."""
    dimension = data.X_train.shape[1] + (settings.intercept_scaling > 0)
    return DPSGDCertificate.of(
        budget,
        Streams(settings.seed),
        tuning=tuning,
        clip=None,
        intercept_scaling=settings.intercept_scaling,
        epsilon=settings.epsilon,
        delta=settings.delta,
        accountant=settings.accountant,
        row_norm="normalize",
        optimizer="adam",
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        public_rows=len(data.y_train),
        lattice=sum_spacing(row_radius(settings.intercept_scaling), dimension),
        rows_declared=True,  # the data are published, and so is their number of rows
        margin=0.0,
        candidates=settings.learning_rates,
        validation_fraction=settings.validation_fraction if tuning == "honest" else None,
    )


def _draw(
    data: Dataset,
    state: TuningRuns,
    whole: Schedule,
    part: Schedule,
    seed: int,
    check: Callable[[], None],
    tell: Callable[[int, int, int], None],
) -> Draw:
    settings = state.settings

    def watch(run: int, runs: int, step: int, _norm: float) -> None:
        check()
        tell(run, runs, step)

    constant = settings.intercept_scaling
    rows, targets = Rows(data.X_train, "normalize", constant), _signs(data.y_train)
    rates = np.array(sorted({*settings.learning_rates, FIXED_RATE}))
    thetas = train_candidates(
        rows,
        targets,
        rates,
        whole,
        noise_multiplier=state.one.noise_multiplier,
        streams=Streams(seed),
        callback=lambda step, norm: watch(0, 0, step, norm),
    )
    selection = _honestly(rows, targets, state, part, seed, watch)

    test, answers = Rows(data.X_test, "normalize", constant), _signs(data.y_test)
    offered = np.isin(rates, settings.learning_rates)
    right = np.array([(test.margins(theta) > 0) == (answers > 0) for theta in thetas])
    candidates, fixed = right[offered], right[rates == FIXED_RATE]
    judges, fresh = _jury(len(answers), state.judges, seed, 0)
    judged = candidates[:, judges].mean(axis=1)
    honest = right_answers(test, answers, np.array([trial.theta for trial in selection.trials]), fresh) / len(fresh)
    released = right_answers(test, answers, selection.theta[None], fresh)[0] / len(fresh)
    best = max(range(len(selection.trials)), key=lambda run: selection.trials[run].score, default=None)
    juries = [_jury(len(answers), state.judges, seed, number) for number in range(1, JURIES + 1)]
    return Draw(
        seed=seed,
        rates=rates[offered],
        judged=judged,
        fresh=candidates[:, fresh].mean(axis=1),
        chosen=int(judged.argmax()),
        runs=np.array([trial.learning_rate for trial in selection.trials]),
        scores=np.array([trial.score for trial in selection.trials]),
        accuracy=honest,
        released=best,
        honest=float(released),
        fixed=float(fixed[0, fresh].mean()),
        curse=_optimism(candidates, juries),
        no_curse=_optimism(fixed, juries),
    )


def _honestly(
    rows: Rows,
    targets: FloatArray,
    state: TuningRuns,
    schedule: Schedule,
    seed: int,
    watch: Callable[[int, int, int, float], None],
) -> Selection:
    """Paid tuning, as `DPSGDLogisticRegression` does it with this seed."""
    settings, streams = state.settings, Streams(seed)
    training, held_out = split_by_coins(rows.n_rows, settings.validation_fraction, streams)
    assert state.paid.score_noise is not None
    expected = rows.n_rows * settings.validation_fraction
    return select_honestly(
        rows,
        targets,
        settings.learning_rates,
        schedule,
        noise_multiplier=state.paid.noise_multiplier,
        mean_runs=settings.mean_runs,
        score=private_score(rows, targets, held_out, state.paid.score_noise, expected, streams),
        streams=streams,
        members=training,
        callback=watch,
    )


def _signs(labels: IntArray) -> FloatArray:
    return np.where(labels == 1, 1.0, -1.0)


def _jury(test_rows: int, judges: int, seed: int, number: int) -> tuple[IntArray, IntArray]:
    """(judges, the other test rows), at random; by a seed, for they are no part of any mechanism."""
    order = np.random.default_rng([seed, number]).permutation(test_rows)
    return order[:judges], order[judges:]


def _optimism(right: np.ndarray, juries: list[tuple[IntArray, IntArray]]) -> FloatArray:
    """For each jury: its share of right answers of the model it takes minus that of the other rows."""
    found = []
    for judges, others in juries:
        said = right[:, judges].mean(axis=1)
        best = int(said.argmax())
        found.append(said[best] - right[best, others].mean())
    return np.array(found)
