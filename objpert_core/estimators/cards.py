"""A model card from a certificate: what a private model is, what it promises and what it does not, for its recipient.

The card is made from what `release` holds and from what its author types. Nothing else that depends on the data is in
it: no trace, no number of iterations, no score outside of a promise.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from objpert_core import tables
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.estimators.released import Released, released
from objpert_core.estimators.scoring import LinearScores
from objpert_core.estimators.summaries import Scaler
from objpert_core.evaluation import Evaluation
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.shown import neighbours_in_words
from objpert_core.learning.steps.ranges import MIXED, PUBLIC, WITHIN
from objpert_core.learning.steps.stated import covered

SCORES_NOTE = (
    "These scores have their own promise to the people whose rows were scored: {promise}, {adjacency}. If a coin for "
    "each person separated training rows from scored rows, the model and its scores together keep the weaker promise."
)
INTERVALS_NOTE = (
    "Log-odds per unit of {units}, without the pull of regularisation; the model predicts by "
    "slightly smaller coefficients. Errors count sampling and all noise, and the promise covers them."
)
EFFECTS_NOTE = (
    "A score is the intercept and one effect for each column: of the interval, the category or the gap that a cell "
    "holds. Effects {units}, and those of a column have mean 0. The table has the lowest and the highest of each "
    "column, of pieces in which rows were counted; `shapes_` of the model has all.{bands}"
)
BANDS_NOTE = "Beside an effect stand the ends of its 95 % interval, which the promise covers."
SEED_NOTE = (
    "> **Not for publication.** The noise of this model came from a seed. Anybody who knows or guesses the seed can "
    "subtract the noise, and then nothing below protects anybody."
)
CHOICE_NOTE = (
    "> **For comparisons only.** The data chose this model among several runs. The statements below hold for one "
    "run, fixed beforehand, and not for this model."
)
UNVERIFIED_NOTE = (
    "> **The promise is not confirmed.** The certificate does not verify against this model: its numbers do not "
    "prove its promise, it is about other coefficients, or it is a part of a larger promise."
)
_METADATA = "---\ntags:\n- differential-privacy\n- tabular-"
_LIMIT = "Nobody outside can check that the fit went as the certificate says."
_ALGORITHMS = {
    "ApproximateMinima": "objective perturbation",
    "OutputPerturbation": "output perturbation",
    "DPSGD": "differentially private gradient descent",
    "PrivateSelection": "differentially private gradient descent, the best of several runs",
}


def model_card(
    model: LinearScores,
    *,
    title: str | None = None,
    training_data: str | None = None,
    intended_use: str | None = None,
    authors: str | None = None,
    evaluation: Evaluation | None = None,
    labels_named: bool = False,
    scaler: Scaler | None = None,
) -> Any:
    """Make the model card of a fitted or a released model; needs skops.

    Parameters
    ----------
    model : fitted private estimator, or what its `release` gives
        Of a pipeline, give the last step.
    title : str, optional
        The heading, one line.
    training_data, intended_use, authors : str, optional
        Markdown of your own: who is in the data and how they were collected, what the model is for, whom to ask. These
        texts are printed as they are.
    evaluation : Evaluation, optional
        Scores to show, of this model. Other scores of private rows are outside of any promise, and no card has them.
    labels_named : bool
        Of a released classifier: whether its labels were named before the fit, which the classifier does not know.
    scaler : PublicRangeScaler or TableSchema, optional
        What the rows went through before a fit with intervals: coefficients are then in the columns' own units.

    Returns
    -------
    skops.card.Card
        ``render()`` is Markdown with the metadata that hubs read, ``save("README.md")`` writes it. The card's model is
        a released copy.

    Raises
    ------
    ImportError
        If skops is not installed.
    ValueError
        If `model` is no private model (`NotFittedError` for an unfitted one), a text is no text, or the evaluation is
        not of this model or does not verify.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ObjPertLogisticRegression(classes=[0, 1], public_rows=569).fit(X, y)
    >>> card = model_card(model, title="Tumours", training_data="Breast cancer Wisconsin (UCI), 569 women.")
    >>> "(1, 1e-5)-differential privacy, add or remove one row" in card.render()
    True
    """
    kind = _hub_card()
    if not isinstance(model, LinearScores):
        got = f"got {type(model).__name__}" + (": give its last step" if isinstance(model, Pipeline) else "")
        raise ValueError(f"model must be a private model, fitted or released, {got}")
    for name, text in (("training_data", training_data), ("intended_use", intended_use), ("authors", authors)):
        _text(name, text)
    check_is_fitted(model)
    heading = _title("A private linear model" if model.pieces_ is None else "A private additive model", title)
    copy = model if isinstance(model, Released) else released(model)
    certificate = copy.privacy_
    sections = {
        "": _summary(copy, certificate),
        "Columns": _columns(copy),
        "Coefficients": _coefficients(copy, scaler),
        "Effects": _effects(copy),
        "Intended use": intended_use,
        "Training data": training_data or "The author of this card has not described them.",
        "Privacy": tables.to_markdown(certificate.statement()).strip(),
        "Privacy/What the promise covers": _list(_covered(certificate)),
        "Privacy/What it does not cover": _list(_not_covered(model, certificate, labels_named)),
        "Privacy/How to check it": _check(certificate),
        "Evaluation": _evaluation(copy, evaluation),
        "Authors": authors,
    }
    card = kind(copy, model_diagram=False, template=None)
    for name, content in sections.items():
        if content:
            card.add(**{f"{heading}/{name}" if name else heading: content})
    return card


def is_card(text: str) -> bool:
    """Whether a text is a card that `model_card` made."""
    return text.startswith(_METADATA) and f"\n{_LIMIT}\n" in text


def _hub_card() -> Any:
    try:
        base = importlib.import_module("skops.card").Card
    except ImportError as error:
        raise ImportError("a model card needs skops: pip install '/path/to/checkout[export]'") from error

    class HubCard(base):  # type: ignore[misc, valid-type]  # skops is optional
        """A card whose text begins with the metadata of a model hub."""

        def render(self) -> str:
            task = "classification" if is_classifier(self.model) else "regression"
            return f"{_METADATA}{task}\npipeline_tag: tabular-{task}\n---\n{super().render()}"

        def save(self, path: Any, copy_files: bool = False) -> None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.render())

    return HubCard


def _summary(model: Released, certificate: PrivacyCertificate) -> str:
    algorithm = certificate.ALGORITHM or _ALGORITHMS.get(certificate.mechanism, certificate.mechanism)
    kind, parts = "A linear", "features"
    if model.pieces_ is not None:
        kind, parts = "An additive", f"columns in {len(model.pieces_)} pieces"
    classes = getattr(model, "classes_", None)
    what = f"{kind} regression" if classes is None else f"{kind} classifier of {len(classes)} classes"
    notes = [SEED_NOTE] * certificate.reproducible + [UNVERIFIED_NOTE] * (not certificate.verify(model))
    notes += [CHOICE_NOTE] * (getattr(certificate, "choice_covered", None) is False)
    about = (
        f"{what} on {model.n_features_in_} {parts}, fitted by {algorithm}. Its promise to the people in its training "
        f"data: {certificate.statement()[0]['what it says']}."
    )
    return "\n\n".join([*notes, about])


def _columns(model: Released) -> str | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else f"In this order: {', '.join(map(tables.unmarked, names))}."


def _coefficients(model: Released, scaler: Scaler | None) -> str | None:
    if model.hessian_ is None or model.pieces_ is not None:
        return None
    table = model.summary(scaler=scaler)
    rows = [
        {name: value if isinstance(value, str) else f"{value:.3g}" for name, value in row.items()}
        for row in table.reset_index(names="feature").to_dict("records")
    ]
    own = scaler is not None or model.feature_ranges_ is not None
    note = INTERVALS_NOTE.format(units="the columns" if own else "the rows as the model takes them")
    told = [note, tables.to_markdown(rows).strip(), table.attrs["caution"]]
    return "\n\n".join(part for part in told if part)


def _effects(model: Released) -> str | None:
    if model.pieces_ is None:
        return None
    shapes, rows = model.shapes_, list[dict[str, str]]()
    by = ["column", "class"] if "class" in shapes else ["column"]
    for names, one in shapes.groupby(by, sort=False):
        counted = one[one.share > 0]
        effects = [_effect(one) for one in counted.sort_values("effect").to_dict("records")]
        named = dict(zip(by, map(str, names), strict=True))
        rows.append(named | {"pieces": str(len(one)), "lowest": effects[0], "highest": effects[-1]})
    units = (
        "are in units of the answers" if is_regressor(model) else "above 0 speak for the class, of two for the second"
    )
    bands = "" if model.hessian_ is None else f" {BANDS_NOTE}"
    return f"{EFFECTS_NOTE.format(units=units, bands=bands)}\n\n{tables.to_markdown(rows).strip()}"


def _effect(row: Mapping[Any, Any]) -> str:
    band = f" from {row['low']:.3g} to {row['high']:.3g}" if "low" in row else ""
    return f"{row['effect']:.3g}{band} ({row['piece']})"


def _covered(certificate: PrivacyCertificate) -> list[str]:
    parts = ["the coefficients", "the intercept", *covered(certificate)]
    return [
        f"What is published of the fit: {', '.join(parts)}. Whatever is computed from these and from other people's "
        f"data.",
        f"Any two data sets that are neighbours: {neighbours_in_words(certificate.adjacency)}.",
        "Every attacker, whatever they know or compute, even if they know all rows except those in which neighbours "
        "differ.",
    ]


def _not_covered(model: LinearScores, certificate: PrivacyCertificate, labels_named: bool) -> list[str]:
    missing = [
        "Anything done to the data before the fit: scaling, selecting, encoding, leaving rows out.",
        "Other fits to the same people, including those of a search or a cross-validation that chose this model's "
        "parameters. Each fit spends its own (ε, δ), and they add up.",
        "Scores, charts and other numbers that were computed from the data, unless they have their own promise.",
        "How long the fit took, and what the fitted object knows beyond this card's model, such as its number of "
        "iterations.",
    ]
    if is_classifier(model) and not (labels_named and isinstance(model, Released)):
        named = getattr(model, "classes", None)
        if isinstance(model, Released):
            missing.append("The set of labels, unless the author named them before the fit; this card cannot tell.")
        elif named is None:
            missing.append("The set of labels, which was read off the data.")
    if hasattr(model, "feature_names_in_"):
        missing.append("The names of the columns, which count as public.")
    if certificate.rows_declared is False:
        missing.append("The number of rows, which was read off the data and is treated as public.")
    if getattr(certificate, "feature_ranges", None) in (PUBLIC, MIXED, WITHIN):
        missing.append("The ranges of the features, which the author says were known without these data.")
    if model.columns_ is not None and not all(one.unknown for one in model.columns_.kinds):
        missing.append("Declared categories, ranges and pieces, which the author says were known without these data.")
    if certificate.on_error == "raise":
        missing.append(
            "The fact that the fit succeeded: an invalid row, or a solver that did not converge, would have stopped "
            "it with an error."
        )
    elif certificate.on_error == "release":
        missing.append(
            "The fact that rounding did not stop the solver: otherwise the released model would use no data."
        )
    if getattr(certificate, "choice_covered", None) is False:
        missing.append("**The choice among several runs**, which looked at the data.")
    if getattr(certificate, "certified", None) is False:
        missing.append("**The promise as printed**: its proof has a gap, and the certificate does not verify.")
    return missing


def _check(certificate: PrivacyCertificate) -> str:
    return (
        "The certificate has the numbers from which anybody can compute the promise again, and names the "
        "coefficients by their fingerprint. With its text below and the model:\n\n"
        "```python\n"
        "from objpert_core.learning import PrivacyCertificate\n\n"
        "PrivacyCertificate.from_json(text).verify(model)\n"
        "```\n\n"
        "If you have the model as `model.json` and its `certificate.json`, `objpert verify certificate.json "
        "model.json` does the same in a terminal.\n\n"
        f"{_LIMIT}\n\n"
        f"```json\n{certificate.to_json()}\n```"
    )


def _evaluation(model: Released, evaluation: Evaluation | None) -> str | None:
    if evaluation is None:
        return None
    if not isinstance(evaluation, Evaluation) or not evaluation.verify(model):
        got = evaluation.certificate if isinstance(evaluation, Evaluation) else evaluation
        raise ValueError(f"evaluation must be None or an evaluation of this model that verifies, got {got!r}")
    spent = evaluation.certificate
    promise = f"({promised(spent.epsilon)}, {promised(spent.delta)})-differential privacy"
    note = SCORES_NOTE.format(promise=promise, adjacency=neighbours_in_words(spent.adjacency))
    seeded = f"{SEED_NOTE}\n\n" if spent.reproducible else ""
    return f"{seeded}{note}\n\n{evaluation.to_markdown().strip()}"


def _list(lines: list[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)


def _text(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {value!r}")


def _title(otherwise: str, value: str | None) -> str:
    """The heading, in which nothing is markup and a slash does not begin a section."""
    _text("title", value)
    given = otherwise if value is None else value.strip()
    heading = tables.unmarked(given)
    if not heading or "\n" in given:
        raise ValueError(f"title must be one line of text, got {value!r}")
    return heading.replace(r"\\", "&#92;").replace("/", r"\/")
