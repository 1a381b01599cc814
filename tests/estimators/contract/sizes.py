"""What a fit promises about the number of rows: where its certificate names none, the rows in X decide nothing."""

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from objpert_core.exceptions import ReleaseRefusedError, UncoveredDataWarning
from objpert_core.learning.posterior.certificate import AdaptiveSamplingCertificate, SharedSamplingCertificate
from tests.estimators.contract.case import Case, names_of

DECLARED = 20
SIZES = (DECLARED, 137, 300)
"""Private ranges of the four columns need 137 rows at ε = 1, and those of two columns need 100."""
BY_DEFAULT: dict[str, Any] = {}
RANGES_OR_NONE = {"feature_ranges": "private", "lam": 5.0, "standardize": False}
TWO_RANGES_OR_NONE = {"feature_ranges": ((np.nan, -9.0, -9.0, np.nan), (np.nan, 9.0, 9.0, np.nan)), "lam": 5.0}
INTERVALS = {"intervals": True, "lam": 5.0, "row_norm": "clip", "epsilon": 40.0}
GRID = {
    "feature_ranges": (None, "private", TWO_RANGES_OR_NONE["feature_ranges"], (-9.0, 9.0)),
    "standardize": ("auto", False, True),
    "lam": (None, 5.0),
}


def the_number_of_rows_decides_nothing_unless_the_certificate_names_it(case: Case) -> None:
    _decides_nothing(case, (BY_DEFAULT, RANGES_OR_NONE), (60, 137))


def the_number_of_rows_decides_nothing_unless_it_is_named_in_any_setting(case: Case) -> None:
    own = {name: values for name, values in GRID.items() if name in names_of(case.new())}
    settings = (dict(zip(own, values, strict=True)) for values in product(*own.values()))
    sizes = SIZES if len(case.labels) <= 2 else SIZES[:2]  # several classes take a fit each
    _decides_nothing(case, (TWO_RANGES_OR_NONE, INTERVALS, *settings), sizes)


def _decides_nothing(case: Case, settings: Iterable[Mapping[str, Any]], sizes: Sequence[int]) -> None:
    for setting in settings:
        for declared in (None, DECLARED) if case.of(public_rows=None) else (None,):
            asked = case.of(**setting, classes=list(case.labels), public_rows=declared)
            try:
                told = [_told(case, sizes[0], asked)]
            except ValueError:
                assert setting, "the defaults are not to contradict each other"
                continue
            told += [_told(case, rows, asked) for rows in sizes[1:]]
            kinds = {("none" if rows is None else "declared" if known else "read off") for rows, known, _ in told}
            assert len(kinds) == 1, f"whether rows are named goes by their number: {asked}, {kinds}"
            assert kinds != {"read off"} or declared is None
            texts = {text for _, _, text in told}
            assert kinds == {"read off"} or len(texts) == 1, f"the rows in X decide: {asked}, {texts}"


def _told(case: Case, rows: int, asked: Mapping[str, Any]) -> tuple[int | None, bool | None, str]:
    """The number of rows that a fit names, whether it was declared, and what else may be known of the fit, but for the
    coefficients and what follows from released numbers. A refusal behind a noisy test has the same certificate.
    """
    X, y = case.data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncoveredDataWarning)
        warnings.filterwarnings("ignore", "feature_ranges: .* too few")
        model = case.new(**{"random_state": 0, **asked})
        try:
            spent = model.fit(X[:rows], y[:rows]).privacy_.public()
        except ReleaseRefusedError as refused:
            spent = refused.certificate.public()
    text = json.loads(spent.to_json())
    text.pop("coefficients_sha256", None)
    if isinstance(spent, (AdaptiveSamplingCertificate, SharedSamplingCertificate)):
        text.pop("lattice", None)  # of the released λ and γ
    text |= {name: _form(getattr(model, name, None)) for name in ("center_", "scale_", "feature_ranges_")}
    text |= {name: _form(getattr(model, name, None)) for name in ("hessian_", "outer_")}
    text["margin_"] = getattr(model, "margin_", None)
    return getattr(spent, "public_rows", None), spent.rows_declared, json.dumps(text, sort_keys=True)


def _form(released: Any) -> Any:
    return None if released is None else np.shape(released)
