"""The files that `objpert fit` wrote, read again: a folder is the whole of what lies in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from objpert_core.cli.files import STANDARD, read_bytes, read_text
from objpert_core.cli.fit import CARD, CERTIFICATE, EVALUATION, MODEL, SCHEMA, SHAPES, TOGETHER
from objpert_core.cli.parsing import Failed

MODEL_SIZE = 10_000_000
"""Bytes of a model's file."""
_REASON = 300
"""Characters of why a file cannot be read."""


@dataclass(frozen=True)
class Release:
    """What a folder, or one file, holds of a release.

    `own` is the certificate that stands in the file, or that of the folder's fit; `evaluation` and `both`, the
    certificate of fit and evaluation, are there where the folder has them. `stranger` says which file does not belong
    to the others, as a clause; empty where all do.
    """

    own: Any
    model: Any = None
    evaluation: Any = None
    both: Any = None
    stranger: str = ""

    @cached_property
    def certificate(self) -> Any:
        """That of all there is: without together.json no coin is known of, and fit and evaluation are composed."""
        from objpert_core.evaluation import together

        if self.both is not None:
            return self.both
        if self.evaluation is None or self.stranger or not self.own.verify():
            return self.own
        try:
            return together(self.own, self.evaluation, "same rows")
        except ValueError as problem:
            raise ValueError(f"{EVALUATION} cannot be counted with {CERTIFICATE}: {problem}") from None

    @property
    def counted(self) -> str:
        """What the certificate of a scored folder counts; empty for any other one."""
        if self.both is not None:
            return f"{CERTIFICATE} and {EVALUATION}, by {TOGETHER}"
        return "" if self.evaluation is None else f"{CERTIFICATE} and {EVALUATION}, composed: there is no {TOGETHER}"


def release(name: str) -> Release:
    """What lies in a folder, or in one file: a certificate's, a model's or an evaluation's; `Failed` where an
    evaluation's counts are not those of its certificate.
    """
    from objpert_core.estimators.own_table import FORMAT, read_model
    from objpert_core.evaluation.evaluation import FORMAT as SCORES
    from objpert_core.learning import PrivacyCertificate

    if _is_folder(name):
        return _of_folder(Path(name))
    text = read_text(name, "the certificate", MODEL_SIZE)
    if _format(text) == FORMAT:
        found = read_model(text)
        return Release(found.model.privacy_, found)
    if _format(text) == SCORES:
        return Release(_certificate_of_scores(text))
    return Release(PrivacyCertificate.from_json(text))


def whole(name: str) -> Any:
    """The certificate of all that lies in a folder, or of one file; `ValueError` where a file does not belong."""
    return _refused_with_strangers(name, release(name)).certificate


def without_scores(name: str) -> bool:
    """Whether this is the file of a fit whose scores lie beside it."""
    path = Path(name)
    return path.name in (CERTIFICATE, MODEL) and any(_lies_in(path.parent, file) for file in (EVALUATION, TOGETHER))


def model(name: str) -> Any:
    """The `TableModel` of a release's folder or of a model's file; errors as for `whole`."""
    return _refused_with_strangers(name, with_model(name)).model


def with_model(name: str) -> Release:
    """As `release`, of a folder or of a model's file."""
    from objpert_core.estimators.own_table import read_model

    if _is_folder(name):
        return _of_folder(Path(name))
    found = read_model(_model_text(name))
    return Release(found.model.privacy_, found)


def differing(known: Any, found: Any) -> str:
    """What a schema has that is not its model's; empty where it may be the model's schema."""
    from objpert_core.datasets import NumericTarget

    target = known.target
    same = (found.encoding(known).feature_names, target.column) == (found.features, found.target)
    if not same or not found.reads(known):
        return "other columns"
    if not isinstance(target, NumericTarget):
        return "" if target.values == found.labels else "other values"
    if found.labels:
        return "a number as the target"
    ends = getattr(found.model, "target_range_", None)
    return "" if ends is None or (target.low, target.high) == tuple(ends.tolist()) else "another range"


def _refused_with_strangers(name: str, found: Release) -> Release:
    if found.stranger:
        raise ValueError(f"the release {name!r} does not hold: {found.stranger}")
    return found


def _of_folder(folder: Path) -> Release:
    from objpert_core.estimators.own_table import read_model

    found = read_model(_model_text(str(folder / MODEL)))
    held: dict[str, Any] = {}
    stranger = _stranger(folder, found, held)
    own = held.get(CERTIFICATE, found.model.privacy_)
    return Release(own, found, held.get(EVALUATION), held.get(TOGETHER), stranger)


def _stranger(folder: Path, found: Any, held: dict[str, Any]) -> str:
    """Which file does not belong beside the model, as a clause; empty where all do."""
    for file, look in _LOOKS.items():
        if not _lies_in(folder, file):
            continue
        text = read_bytes(str(folder / file), file, MODEL_SIZE).decode("utf-8-sig", errors="replace")
        try:
            wrong = look(text, found, held)
        except ValueError as problem:
            wrong = f"{file} cannot be read: {str(problem)[:_REASON]}"
        if wrong:
            return wrong
    return ""


# What is wrong with a file beside a model, as a clause; what it holds goes to `held`


def _look_at_certificate(text: str, found: Any, held: dict[str, Any]) -> str:
    from objpert_core.learning import PrivacyCertificate

    held[CERTIFICATE] = PrivacyCertificate.from_json(text)
    same = held[CERTIFICATE].public() == found.model.privacy_.public()
    return "" if same else f"{MODEL} carries another certificate than {CERTIFICATE}"


def _look_at_schema(text: str, found: Any, held: dict[str, Any]) -> str:
    from objpert_core.datasets import TableSchema

    known = TableSchema.from_json(text)
    wrong = differing(known, found)
    if not wrong and known.rows_used != found.model.privacy_.rows_used:
        wrong = "another rule about rows"
    return f"{SCHEMA} has {wrong} than {MODEL}" if wrong else ""


def _look_at_evaluation(text: str, found: Any, held: dict[str, Any]) -> str:
    from objpert_core.evaluation import Evaluation

    evaluation = Evaluation.from_json(text)
    held[EVALUATION] = evaluation.certificate
    if not evaluation.verify(found.model):
        return f"{EVALUATION} does not hold for {MODEL}"
    numbered = tuple(map(str, range(len(found.labels))))
    named = getattr(evaluation, "classes", found.labels) in (found.labels, numbered)
    return "" if named else f"{EVALUATION} names other values of the target than {MODEL}"


def _look_at_both(text: str, found: Any, held: dict[str, Any]) -> str:
    from objpert_core.learning import PrivacyCertificate, TogetherCertificate

    both = PrivacyCertificate.from_json(text)
    if isinstance(both, TogetherCertificate):
        fit, evaluation = both.parts
        if fit == found.model.privacy_.public() and evaluation == held.get(EVALUATION, evaluation).public():
            held[TOGETHER] = both
            return ""
    return f"{TOGETHER} is not about {CERTIFICATE} and {EVALUATION}"


def _look_at_shapes(text: str, found: Any, held: dict[str, Any]) -> str:
    from objpert_core.estimators.own_table import shapes_csv

    own = found.model.pieces_ is not None and shapes_csv(found.model, found.labels).decode() == text
    return "" if own else f"{SHAPES} is not about {MODEL}"


def _look_at_card(text: str, found: Any, held: dict[str, Any]) -> str:
    from objpert_core.estimators.cards import is_card

    another = is_card(text) and found.model.privacy_.to_json() not in text
    return f"{CARD} is the card of another model" if another else ""


_LOOKS: dict[str, Callable[[str, Any, dict[str, Any]], str]] = {
    CERTIFICATE: _look_at_certificate,
    SCHEMA: _look_at_schema,
    EVALUATION: _look_at_evaluation,
    TOGETHER: _look_at_both,
    SHAPES: _look_at_shapes,
    CARD: _look_at_card,
}


def _lies_in(folder: Path, file: str) -> bool:
    """Whether a folder has this file; a link that leads nowhere is one that cannot be read."""
    return os.path.lexists(folder / file)


def _is_folder(name: str) -> bool:
    return name != STANDARD and Path(name).is_dir()


def _model_text(path: str) -> str:
    if path.endswith((".pkl", ".pickle", ".joblib", ".skops")):
        raise ValueError(
            f"the model must be {MODEL}, as objpert fit writes it: only such a file is read without running code"
        )
    return read_text(path, "the model", MODEL_SIZE)


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
