"""The words of the page "Your own data": pure functions from releases to sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.datasets import safe_text
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from pages.own.form import Line
from pages.own.jobs import Ask, Made
from ui import sentences
from ui.words import ACCOUNTANTS, accounted

LONGEST_NAME = 26
WHY_EMPTY = (
    "Ranges and categories start empty, and the page does not look at the values to fill them in: what is read off a "
    "table tells something about the people in it, and no ε would account for that. Type what is known without it."
)
NOT_KEPT = (
    "Your table stays in this session’s memory. Nothing of it is stored, logged or put into the address. It is dropped "
    "when you remove it or turn to another page, and about two minutes after you close this one."
)
EXAMPLE = "The example’s noise has a fixed seed, so that everybody sees the same: its model is not for publishing."
TYPED_FOR_YOU = (
    "Public here, since the code that makes the table is. Of your own file every line starts empty, and you type it."
)
NO_RELEASE = "Until then your table costs ε = 0. Each press of Fit is a release of its own, and releases add up."
STILL_EXAMPLE = "The picture is faint until your first release: it is the example’s, at this ε and δ."
ONE_ROW = "One row is one person: a table with several rows of one person promises less, each row for itself."
YOURS_ALONE = "For your eyes only, outside of the certificate:"
NO_ACCURACY = (
    "The page shows no accuracy: one that is measured on your table is not covered by ε. On rows that you keep apart, "
    "`model.json` and the lines below measure it; do not publish that number, or pay for it."
)
ROWS_HELP = (
    "Type it only if it is known without this table. Rules for the noise and λ go by it, and the certificate then "
    "holds whatever the number is. Empty: rows are counted, and the certificate says that their number is known to all."
)
LEDGER = (
    "Each press of Fit is a release of its own, and all of them count together, also those of a table that you mended. "
    "This list ends with the session: write it down. It holds for releases whose ε was fixed beforehand; where earlier "
    "ones decide the next ε, a privacy filter accounts for them (see Composition)."
)


def short(name: str) -> str:
    """A column's or feature's name, without its middle where it is long."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[: half - 1]}…{name[-half:]}"


def _called(name: str) -> str:
    """A name in an answer: one word more or less, however it is written."""
    return f"“{short(' '.join(name.split()))}”".replace(" ", "\u00a0")


def largest(made: Made) -> str:
    """The largest coefficient: '“age” weighs most, −3.21.'."""
    values = np.ravel(made.model.coef_)
    place = int(np.argmax(np.abs(values)))
    return f"{_called(made.names[place])} weighs most, {sentences.number(float(values[place]))}."


def example_answer(made: Made, name: str) -> str:
    """What one fit to the example costs and shows."""
    return f"One fit to {name} at ε = {sentences.epsilon(made.ask.epsilon)}: {largest(made)}"


def example_why(before: Made | None, made: Made) -> str:
    """What another ε or δ did to the noise of the fit."""
    if before is None or before.ask.text != made.ask.text:
        return ""
    changes = sentences.changed(before.ask, made.ask, {"epsilon": "ε", "delta": "δ"})
    if not changes:
        return ""
    noise = sentences.course("the noise σ", _sigma(before), _sigma(made), sentences.number)
    return f"{sentences.shift(changes)}: {noise}."


def _certificate(made: Made) -> ObjectivePerturbationCertificate:
    """The certificate, of the one kind that both estimators of the page write."""
    certificate = made.model.privacy_
    assert isinstance(certificate, ObjectivePerturbationCertificate)
    return certificate


def _sigma(made: Made) -> float:
    return float(_certificate(made).sigma)


def nothing_yet(step: str) -> str:
    """Before the first release: whether anything lacks."""
    return f"Nothing of your table is released {'yet' if step else 'until you press Fit'}."


def answer(releases: Sequence[Made], total: float) -> str:
    """What this session's releases cost together."""
    what = sentences.count(len(releases), "release").capitalize()
    verb = "costs" if len(releases) == 1 else "cost"
    together = "" if len(releases) == 1 else " together"
    return f"{what} of your data {verb} ε = {sentences.epsilon(total)}{together}."


def promise(made: Made) -> str:
    """The promise of one release."""
    certificate = made.model.privacy_
    return sentences.promise(certificate.epsilon, certificate.delta, _accountant(made), adjacency=certificate.adjacency)


def promise_of_all(releases: Sequence[Made], total: float, delta: float) -> str:
    """The promise of a session's releases."""
    accountant = _accountant(releases[0]) if len(releases) == 1 else "one composition of all releases"
    certificates = [made.model.privacy_ for made in releases]
    weakest = max(reversed(certificates), key=lambda certificate: certificate.rows_declared is False)
    return sentences.promise(total, delta, accountant, adjacency=weakest.adjacency)


def _accountant(made: Made) -> str:
    certificate = _certificate(made)
    noises = [getattr(certificate, name, None) for name in ("center_noise", "scale_noise")]
    return accounted(f"{ACCOUNTANTS[certificate.bound]} beside the noisy centre and scales", *noises)


def moved(made: Made, ask: Ask) -> str:
    """How the controls differ from the release that is shown; empty where they do not."""
    changes = sentences.changed(made.ask, ask, {"epsilon": "ε", "delta": "δ", "rows": "number of rows"})
    told = [sentences.shift(changes)] if changes else []
    told += ["other columns or ranges"] if made.ask.text != ask.text else []
    return f"The picture shows your last release. Since then: {' and '.join(told)}." if told else ""


def alt(made: Made, names: Sequence[str], values: FloatArray) -> str:
    """Alt text of the chart."""
    order = np.argsort(-np.abs(values))[:5]
    told = [f"{safe_text(short(names[place]))} {sentences.number(float(values[place]))}" for place in order]
    return f"The {len(names)} largest coefficients of the released model. Largest: {'; '.join(told)}."


def title(made: Made) -> str:
    """The name of the picture's files."""
    return f"Released coefficients, ε = {sentences.epsilon(made.ask.epsilon)}, δ = {sentences.delta(made.ask.delta)}"


def table_rows(made: Made) -> list[dict[str, str]]:
    """The largest coefficients as texts, largest first."""
    values = np.ravel(made.model.coef_)
    order = np.argsort(-np.abs(values), kind="stable")[:12]
    return [{"Feature": made.names[place], "Coefficient": sentences.number(float(values[place]))} for place in order]


def form_rows(lines: Sequence[Line]) -> list[dict[str, str]]:
    """What was typed, as texts; of columns in use."""
    return [
        {
            "Column": line.column,
            "Role": line.role,
            "Lowest": line.low,
            "Highest": line.high,
            "Categories": line.categories,
        }
        for line in lines
    ]
