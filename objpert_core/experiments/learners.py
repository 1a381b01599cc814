"""Every learner of the experiments: what it is called, what it promises, how it is made, trained and shown.

`LEARNERS` is the only such table: Figure 2, the live comparison, the app and docs/results.md read it. To add a learner,
add an entry.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.linear_model import LogisticRegression

from objpert_core import estimators
from objpert_core.learning.problem.losses import HuberisedHingeLoss

NON_PRIVATE, PUBLISHED, TIGHT = "non-private", "published", "tight"
SVC, ROUNDED, OUTPUT, KIFER = "svc", "svc-rounded", "output", "kifer2012"
DISHONEST_RDP, DISHONEST_PLD, DISHONEST_LARGE = "dpsgd-dishonest-rdp", "dpsgd-dishonest-pld", "dpsgd-dishonest-large"
HONEST = "dpsgd-honest"
TIGHT_DISHONEST, TIGHT_LOGISTIC = "tight-dishonest", "tight-no-margin"
TIGHT_RAW, TIGHT_CENTRED = "tight-raw", "tight-centred"
DPSGD_AGAIN, DPSGD_MARGIN = "dpsgd-again", "dpsgd-margin"
UNPAID_STANDARDISED, HONEST_STANDARDISED = "dpsgd-standardised", "dpsgd-standardised-honest"

NO_PRIVACY, ALGORITHM_1, SVM = "no privacy", "objective perturbation", "support vector machine"
OUTPUT_NOISE, DP_SGD = "output perturbation", "DP-SGD"
"""Kinds of learner."""

COVERS_ALL, COVERS_NOTHING = "all of it", "nothing"
COVERS_RUN = "one run, not the choice"
"""What a promise covers, where one phrase serves several learners."""

PLAIN, JUDGED = "plain", "judged by the test rows"
LUCKIEST, AGAIN = "best of several draws", "again with the chosen rate"
"""How Figure 2 trains a learner: see `methods.fit`."""

CENTRED, MAPPED = "centred only", "mapped beforehand"
"""What else than the estimator's own standardising a learner has: of its two steps the first; or, for an estimator that
has none, the map of `preprocessed` before it."""

TABLE, EXPLANATION = "table", "explanation"
"""Where Figure 2 has a learner: in every sweep and table, or only where it is named, to explain a difference."""

NON_PRIVATE_C = 100.0
"""scikit-learn's C = 1/λ without privacy: light enough (its default of 1 costs a point on Adult's unit rows) that the
difference to a private model is not the reference's own regularisation, and finite for separable classes."""
_DIRECT_SOLVER_COLUMNS = 1000  # scikit-learn's Newton-Cholesky is exact and fast up to about here


def reference_parameters(columns: int) -> dict[str, Any]:
    """Parameters of scikit-learn's `LogisticRegression` for the reference without privacy on that many columns."""
    direct = columns <= _DIRECT_SOLVER_COLUMNS
    return {
        "C": NON_PRIVATE_C,
        "solver": "newton-cholesky" if direct else "lbfgs",
        "tol": 1e-8 if direct else 1e-4,
        "max_iter": 1000,
    }


def reference(columns: int) -> LogisticRegression:
    """The unfitted model without privacy that every private one is compared with."""
    return LogisticRegression(**reference_parameters(columns))


def declared(model: Any, rows: int) -> Any:
    """`model`, told the number of rows where one of its rules asks for `public_rows`: a published data set's is
    public."""
    return model.set_params(public_rows=rows) if "public_rows" in model.get_params() else model


@dataclass(frozen=True)
class Of:
    """An estimator's parameter that the settings' attribute `name` decides; without it the default holds."""

    name: str


@dataclass(frozen=True)
class Learner:
    """One way to learn a linear classifier. `name` is its key here, in settings, in stored results and in links; `kind`
    one of `NO_PRIVACY` … `DP_SGD`; `label` is for legends, `title` begins a sentence, `accountant` follows "by"
    (`TIGHT` names the default's), and `covers` says what (ε, δ) is a promise about. `estimator` is a name in
    `objpert_core.estimators`, with the preset after a dot, `recipe` its keyword arguments beside the target, the
    classes and the noise seed, and `certificate` which attributes to show. `variant` tells the learner from another one
    of the same label. `training`, `standardised` and `margin` say how Figure 2 trains it, `figure2` where it stands
    there, and `live` its place in the live comparison, 0 for none.
    """

    name: str
    kind: str
    label: str
    title: str
    explanation: str
    accountant: str = ""
    covers: str = COVERS_ALL
    estimator: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    certificate: tuple[str, ...] = ()
    variant: str = ""
    training: str = PLAIN
    standardised: str = ""
    margin: bool = False
    figure2: str = ""
    live: int = 0

    @property
    def full_label(self) -> str:
        """The label with the variant, which no other learner has."""
        return f"{self.label} ({self.variant})" if self.variant else self.label

    @property
    def private(self) -> bool:
        """Whether it promises anything."""
        return self.kind != NO_PRIVACY

    @property
    def many_classes(self) -> bool:
        """Whether it learns more than two classes."""
        return self.kind in (NO_PRIVACY, ALGORITHM_1) and self.name != KIFER

    def parameters(self, settings: object) -> dict[str, Any]:
        """The recipe with what `settings` decide filled in: `compare.Settings`, or Figure 2's `methods.Parameters`."""
        return {
            name: getattr(settings, value.name) if isinstance(value, Of) else value
            for name, value in self.recipe.items()
            if not isinstance(value, Of) or hasattr(settings, value.name)
        }

    def make(self, **parameters: Any) -> Any:
        """The unfitted estimator of a private learner."""
        name, _, preset = self.estimator.partition(".")
        kind = getattr(estimators, name)
        return (getattr(kind, preset) if preset else kind)().having(parameters)


_ROWS = {"intercept_scaling": Of("intercept_scaling"), "row_norm": Of("row_norm")}
_TIGHT = {"bound": Of("bound"), **_ROWS}
_RAW = _TIGHT | {"standardize": False}
_RECIPE = {name: Of(name) for name in ("noise_ratio", "tau", "sigma_out")}  # of the published Algorithm 1
_SGD = {
    **_ROWS,
    "learning_rates": Of("learning_rates"),
    "batch_size": Of("batch_size"),
    "epochs": Of("epochs"),
    "optimizer": Of("optimizer"),
}
_UNPAID = {**_SGD, "tuning": "dishonest"}
_UNPAID_LARGE = _UNPAID | {"learning_rates": Of("fine_learning_rates"), "batch_size": Of("large_batch_size")}
_PAID = _SGD | {"mean_runs": Of("mean_runs")}
_SHOWN = ("sigma", "lam", "tau", "sigma_out", "radius", "public_rows")
_SHOWN_SGD = ("noise_multiplier", "sample_rate", "steps", "clip", "mean_runs", "radius", "public_rows")
_SHOWN_MAP = ("center_noise", "scale_noise")
_PROFILE = "the privacy profile of our theorem"
_MONOTONE = f"{_PROFILE}, one-signed slope"
_ONE_RUN = "privacy loss distributions of one run"


def _objective(name: str, **entry: Any) -> Learner:
    shared = {"kind": ALGORITHM_1, "estimator": "ObjPertLogisticRegression", "recipe": _TIGHT, "certificate": _SHOWN}
    return Learner(name=name, **({"accountant": _PROFILE} | shared | entry))


def _svm(name: str, **entry: Any) -> Learner:
    shared = {"kind": SVM, "estimator": "ObjPertSVC", "certificate": (*_SHOWN, "loss", "clip")}
    return Learner(name=name, accountant=_MONOTONE, **(shared | entry))


def _sgd(name: str, **entry: Any) -> Learner:
    """DP-SGD; its tuning is not paid for unless the entry says otherwise."""
    shared = {"kind": DP_SGD, "estimator": "DPSGDLogisticRegression", "certificate": _SHOWN_SGD, "recipe": _UNPAID}
    unpaid = {"label": "DP-SGD unpaid", "accountant": _ONE_RUN, "covers": COVERS_RUN, "training": JUDGED}
    return Learner(name=name, **(shared | unpaid | entry))


LEARNERS: Mapping[str, Learner] = {
    learner.name: learner
    for learner in (
        Learner(
            name=NON_PRIVATE,
            kind=NO_PRIVACY,
            label="no privacy",
            title="Logistic regression without privacy",
            explanation="scikit-learn, no privacy",
            covers=COVERS_NOTHING,
            figure2=TABLE,
            live=1,
        ),
        _sgd(
            DISHONEST_RDP,
            variant="Rényi",
            title="DP-SGD whose tuning is not paid for, by Rényi accounting",
            explanation="DP-SGD, learning rate chosen by test accuracy, not paid for; Rényi accounting, as in the "
            "paper",
            accountant="the Rényi curve of one run",
            recipe=_UNPAID | {"accountant": "rdp"},
            figure2=TABLE,
        ),
        _sgd(
            DISHONEST_PLD,
            variant="PLD",
            title="DP-SGD whose tuning is not paid for",
            explanation="the same, accounted for by privacy loss distributions",
            figure2=TABLE,
            live=9,
        ),
        _sgd(
            DISHONEST_LARGE,
            variant="large batch",
            title="DP-SGD with large batches whose tuning is not paid for",
            explanation="the same with large batches and a fine grid",
            recipe=_UNPAID_LARGE,
            figure2=TABLE,
        ),
        _sgd(
            HONEST,
            label="DP-SGD paid",
            title="DP-SGD whose tuning is paid for",
            explanation="DP-SGD whose tuning is paid for, chosen on held-out training rows",
            accountant="privacy loss distributions and private selection, the choice included",
            covers=COVERS_ALL,
            recipe=_PAID,
            training=PLAIN,
            figure2=TABLE,
            live=11,
        ),
        _sgd(
            UNPAID_STANDARDISED,
            variant="standardised",
            title="DP-SGD on rows centred and scaled privately, whose tuning is not paid for",
            explanation="dpsgd-dishonest-large on rows centred and scaled as for Algorithm 1 with our theorem, at the "
            "same total ε",
            accountant=f"{_ONE_RUN}, composed with the noisy centre and scales",
            covers="centre, scales and one run, not the choice",
            recipe=_UNPAID_LARGE,
            standardised=MAPPED,
            figure2=TABLE,
            live=10,
        ),
        _sgd(
            HONEST_STANDARDISED,
            label="DP-SGD paid",
            variant="standardised",
            title="DP-SGD on rows centred and scaled privately, whose tuning is paid for",
            explanation="dpsgd-honest on rows centred and scaled as for Algorithm 1 with our theorem, at the same "
            "total ε",
            accountant="privacy loss distributions and private selection, composed with the noisy centre and scales",
            covers=COVERS_ALL,
            recipe=_PAID,
            training=PLAIN,
            standardised=MAPPED,
            figure2=TABLE,
        ),
        _objective(
            PUBLISHED,
            label="Algorithm 1 with the 2023 theorem",
            title="Algorithm 1, calibrated by the 2023 theorem",
            explanation="objective perturbation as published (Algorithm 1)",
            accountant="the Rényi curve of the 2023 theorem",
            estimator="ObjPertLogisticRegression.published",
            recipe=_ROWS | _RECIPE,
            figure2=TABLE,
            live=2,
        ),
        _objective(
            TIGHT,
            label="Algorithm 1 with our theorem",
            title="Algorithm 1, calibrated by our theorem",
            explanation="objective perturbation (Algorithm 1) with our theorem (bound 'logistic'), on rows centred and "
            "scaled privately",
            accountant=f"{_PROFILE} composed with the noisy centre and scales",
            certificate=(*_SHOWN, *_SHOWN_MAP),
            figure2=TABLE,
            live=3,
        ),
        Learner(
            name=OUTPUT,
            kind=OUTPUT_NOISE,
            label="output perturbation",
            title="Output perturbation",
            explanation="output perturbation",
            accountant="the privacy profile of the Gaussian mechanism",
            estimator="OutputPerturbationLogisticRegression",
            recipe=_ROWS | {"standardize": False},
            certificate=("sigma", "lam", "tau", "radius", "sensitivity", "public_rows"),
            figure2=TABLE,
            live=7,
        ),
        _objective(
            KIFER,
            label="Algorithm 1 with the 2012 theorem",
            title="Classical objective perturbation of 2012",
            explanation="objective perturbation with the bound of Kifer et al. (2012)",
            accountant="the theorem of 2012",
            estimator="ObjPertLogisticRegression.kifer2012",
            recipe=_ROWS,
            figure2=TABLE,
            live=8,
        ),
        # What the differences come from. At small ε dishonest DP-SGD does well because every candidate has its own
        # noise, and the luckiest is chosen: the first does the same with Algorithm 1, the second takes that luck, but
        # not the learning rate, away from DP-SGD. The next three take from Algorithm 1, one by one, scales, centre and
        # margin; the last gives the margin to DP-SGD.
        _objective(
            TIGHT_DISHONEST,
            label="Algorithm 1 with our theorem, luckiest draw",
            title="Algorithm 1, calibrated by our theorem, the luckiest of several draws",
            explanation="of as many noise draws of tight as dpsgd-dishonest-pld has learning rates, the best by test "
            "accuracy",
            accountant=f"{_PROFILE} composed with the noisy centre and scales",
            certificate=(*_SHOWN, *_SHOWN_MAP),
            covers="one draw, not the choice",
            training=LUCKIEST,
            figure2=EXPLANATION,
        ),
        _sgd(
            DPSGD_AGAIN,
            label="DP-SGD unpaid, drawn again",
            title="DP-SGD with the learning rate that unpaid tuning chose and fresh noise",
            explanation="as dpsgd-dishonest-pld, run once more with the learning rate that was chosen and fresh noise",
            covers="the last run, not where its rate came from",
            training=AGAIN,
            figure2=EXPLANATION,
        ),
        _objective(
            TIGHT_CENTRED,
            label="Algorithm 1 with our theorem, centred only",
            title="Algorithm 1, calibrated by our theorem, on rows that are centred but not scaled",
            explanation="as tight, with the private centre but without the scales",
            accountant=f"{_PROFILE} composed with the noisy centre",
            certificate=(*_SHOWN, *_SHOWN_MAP),
            standardised=CENTRED,
            figure2=EXPLANATION,
        ),
        _objective(
            TIGHT_RAW,
            label="Algorithm 1 with our theorem, raw rows",
            title="Algorithm 1, calibrated by our theorem, on rows as they are",
            explanation="as tight, without private centre and scales",
            recipe=_RAW,
            figure2=EXPLANATION,
            live=4,
        ),
        _objective(
            TIGHT_LOGISTIC,
            label="Algorithm 1 with our theorem, raw rows, no margin",
            title="Algorithm 1, calibrated by our theorem, on rows as they are and without the margin",
            explanation="as tight-raw, with the logistic loss itself, without a margin",
            recipe=_RAW | {"margin": 0.0},
            figure2=EXPLANATION,
        ),
        _sgd(
            DPSGD_MARGIN,
            label="DP-SGD unpaid, with the margin",
            title="DP-SGD with large batches and the margin whose tuning is not paid for",
            explanation="as dpsgd-dishonest-large, with the margin that tight has",
            recipe=_UNPAID_LARGE,
            margin=True,
            figure2=EXPLANATION,
        ),
        _svm(
            SVC,
            label="SVM",
            title="Support vector machine by Algorithm 1",
            explanation="support vector machine with a clipped squared hinge (Algorithm 1)",
            recipe=_ROWS,
            live=5,
        ),
        _svm(
            ROUNDED,
            label="SVM, rounded hinge",
            title="Support vector machine with the rounded hinge by Algorithm 1",
            explanation="support vector machine with a clipped hinge whose corner is rounded (Algorithm 1)",
            recipe={"loss": HuberisedHingeLoss.name, **_ROWS},
            live=6,
        ),
    )
}
"""Every learner by name, in the order of Figure 2's tables and legends."""

LIVE: Mapping[str, Learner] = {
    learner.name: learner for learner in sorted(LEARNERS.values(), key=lambda learner: learner.live) if learner.live
}
"""The learners that the live comparison offers, in the order of its fits, columns and legends."""

COMPARABLE: Mapping[str, Learner] = {
    **LIVE,
    **{
        name: learner for name, learner in LEARNERS.items() if learner.kind == ALGORITHM_1 and learner.training == PLAIN
    },
}
"""Those that `compare` takes: what it offers, and what explains the differences of Algorithm 1."""

UNPAID = (DISHONEST_RDP, DISHONEST_PLD, DISHONEST_LARGE)
"""The DP-SGDs of Figure 2's table whose tuning is not paid for: the rivals of the claim."""

SGD = tuple(name for name, learner in LIVE.items() if learner.kind == DP_SGD)
"""The DP-SGDs among them."""

FORMER_LABELS: Mapping[str, str] = {
    "Algorithm 1 published": PUBLISHED,
    "Kifer et al. 2012": KIFER,
    "Algorithm 1 tight": TIGHT,
    "Algorithm 1 tight, luckiest draw": TIGHT_DISHONEST,
    "Algorithm 1 tight, centred only": TIGHT_CENTRED,
    "Algorithm 1 tight, raw rows": TIGHT_RAW,
    "Algorithm 1 tight, raw rows, no margin": TIGHT_LOGISTIC,
}
"""What links from before one proof had one name call a learner."""

LABEL_WORDS: Mapping[str, str] = {
    "our theorem": "with a margin, on rows centred and scaled privately; ε covers every step",
    "2023 theorem": "as published",
    "unpaid": "the learning rate is the one with the best test accuracy, and ε does not cover that choice",
    "paid": "ε covers the choice too",
    "Rényi": "the ε of a run by Rényi divergences, as in the paper",
    "PLD": "by privacy loss distributions, which prove a smaller ε for the same noise",
    "large batch": "accounted by PLD, with larger batches and a finer grid",
    "luckiest draw": "the best, by test accuracy, of as many noise draws as there are rates, to compare with unpaid",
    "drawn again": "the rate that unpaid (PLD) chose, with fresh noise, to compare with our theorem",
    "standardised": "on rows centred and scaled as for our theorem, with the ε that is left; unpaid with large batches",
    "raw rows": "without private centring and scaling",
    "centred only": "without private scaling",
    "no margin": "raw rows, and without the margin k of the loss",
    "with the margin": "large batch with the margin k that our theorem has here",
}
"""What the words of the labels mean."""


def label_words(names: Collection[str]) -> dict[str, str]:
    """The words of the learners' full labels that need a legend, each once, with their meanings."""
    labels = " | ".join(LEARNERS[name].full_label for name in names)
    return {word: meaning for word, meaning in LABEL_WORDS.items() if re.search(rf"\b{word}\b", labels)}
