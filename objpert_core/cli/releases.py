"""The files that `objpert fit` wrote, read again by `objpert predict` and `objpert verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from objpert_core.cli.files import STANDARD, read_text
from objpert_core.cli.fit import CERTIFICATE, MODEL
from objpert_core.cli.parsing import Failed

MODEL_SIZE = 10_000_000
"""Bytes of a model's file."""
CERTIFICATE_SIZE = 1_000_000


def model(name: str) -> Any:
    """The `TableModel` of a release's folder or of a model's file."""
    from objpert_core.estimators.own_table import read_model

    return read_model(model_text(name))


def model_text(name: str) -> str:
    """The text of a model's file, or of the model in a release's folder."""
    path = name
    if name != STANDARD and Path(name).is_dir():
        path = str(Path(name) / MODEL)
    if path.endswith((".pkl", ".pickle", ".joblib", ".skops")):
        raise ValueError(
            f"the model must be {MODEL}, as objpert fit writes it: only such a file is read without running code"
        )
    return read_text(path, "the model", MODEL_SIZE)


def certificate_and_model(name: str) -> tuple[Any, Any]:
    """The certificate of a folder, of a certificate's file, a model's or an evaluation's, and the model if it is there.

    `Failed` where an evaluation's counts are not those of its certificate.
    """
    from objpert_core.estimators.own_table import FORMAT, read_model
    from objpert_core.evaluation.evaluation import FORMAT as SCORES
    from objpert_core.learning import PrivacyCertificate

    if name != STANDARD and Path(name).is_dir():
        own = read_text(str(Path(name) / CERTIFICATE), "the certificate", CERTIFICATE_SIZE)
        return PrivacyCertificate.from_json(own), model(name)
    text = read_text(name, "the certificate", MODEL_SIZE)
    if _format(text) == FORMAT:
        found = read_model(text)
        return found.model.privacy_, found
    if _format(text) == SCORES:
        return _certificate_of_scores(text), None
    return PrivacyCertificate.from_json(text), None


def _certificate_of_scores(text: str) -> Any:
    from objpert_core.evaluation import Evaluation

    evaluation = Evaluation.from_json(text)
    if evaluation.certificate.verify() and not evaluation.verify():
        raise Failed("the evaluation does not hold: its counts are not those that its certificate is about")
    return evaluation.certificate


def _format(text: str) -> Any:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document.get("format") if isinstance(document, dict) else None
