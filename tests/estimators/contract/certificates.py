"""What a certificate promises: what was asked, about the neighbours asked for, in a text that is read back."""

import dataclasses
from collections.abc import Iterable

import numpy as np
from sklearn.base import is_regressor

from objpert_core.accounting.numerics.rounding import promised
from objpert_core.estimators import PrivacyCertificate
from objpert_core.learning.certificates.shown import adjacency_words, neighbours_in_words
from tests.estimators.contract.case import (
    NEIGHBOURS,
    Case,
)


def the_certificate_states_what_was_asked_and_verifies(case: Case) -> None:
    model, spent = case.fitted, case.fitted.privacy_
    assert (spent.epsilon, spent.delta) == (model.epsilon, model.delta)
    constant = model.intercept_scaling if getattr(model, "fit_intercept", True) else 0.0
    assert (spent.row_norm, spent.intercept_scaling) == (getattr(model, "row_norm", "clip"), constant)
    assert spent.verify()
    promise = f"({promised(spent.epsilon)}, {promised(spent.delta)})-differential privacy"
    assert f"{promise}, {neighbours_in_words(spent.adjacency)}" in repr(spent)
    asked = case.fit(epsilon=2.0, delta=1e-6).privacy_
    assert (asked.epsilon, asked.delta) == (2.0, 1e-6)
    assert asked.verify()


def the_certificate_survives_json_and_its_public_part_hides_the_diagnostics(case: Case) -> None:
    spent = case.fitted.privacy_
    assert PrivacyCertificate.from_json(spent.to_json()) == spent
    assert PrivacyCertificate.from_dict(spent.to_dict()) == spent
    public = PrivacyCertificate.from_json(spent.public().to_json())
    assert public == spent.public()
    assert public.verify()
    assert "diagnostics" not in public.to_dict()
    if spent.DIAGNOSTICS:
        assert set(spent.to_dict()["diagnostics"]) == {"note", *spent.DIAGNOSTICS}
        assert all(getattr(spent, name) is not None for name in spent.DIAGNOSTICS)
        assert all(getattr(public, name) is None for name in spent.DIAGNOSTICS)


def the_fit_records_its_shape_and_its_trace(case: Case) -> None:
    model = case.fitted
    assert model.n_features_in_ == 4
    fits = () if is_regressor(model) else (1 if len(case.labels) == 2 else len(case.labels),)
    assert model.coef_.shape == (*fits, model.coef_.shape[-1] if case.table else 4)
    assert np.shape(model.intercept_) == fits
    assert model.n_iter_ >= 1
    if hasattr(model, "gradient_norms_"):
        assert len(model.gradient_norms_) == model.n_iter_ + np.size(model.intercept_)
        assert model.gradient_norms_[-1] <= model.tau


def the_promise_is_about_the_neighbours_asked_for(case: Case, asked: Iterable[tuple[int, str]] = NEIGHBOURS) -> None:
    """Not among the rest: some calibrations for several rows take seconds."""
    known = case.of(public_rows=300, classes=[0, 1])
    ratios = []
    for rows, adjacency in asked:
        spent = case.fit(**known, adjacency=adjacency, rows_per_person=rows).privacy_
        words = adjacency if rows == 1 else adjacency.replace("one row", f"up to {rows} rows of one person")
        assert (spent.adjacency, spent.rows_per_person, spent.mechanism_adjacency) == (words, rows, adjacency)
        assert words.replace("add/remove", "add or remove") in repr(spent)
        assert spent.verify()
        assert PrivacyCertificate.from_json(spent.to_json()) == spent
        assert not dataclasses.replace(spent, rows_per_person=rows + 1).verify()
        more = adjacency_words(adjacency, rows_per_person=rows + 1)
        assert not dataclasses.replace(spent, adjacency=more, rows_per_person=rows + 1).verify()
        if adjacency == "add/remove one row":
            more = adjacency_words("replace one row", rows_per_person=rows)
            assert not dataclasses.replace(spent, adjacency=more).verify()
        ratios.append(noise_of(spent))
    assert ratios == sorted(ratios)


def noise_of(spent: PrivacyCertificate) -> float:
    """A number of the certificate that grows with its noise."""
    if hasattr(spent, "separation"):
        return 1 / spent.separation
    if hasattr(spent, "step_size"):  # whose plan takes steps and batches by the noise
        return spent.noise_multiplier / (spent.batch_size * spent.steps**0.5)
    found = getattr(spent, "noise_multiplier", None) or getattr(spent, "gram_noise", None)
    return found or spent.sigma * getattr(spent, "lam", 1.0) ** 0.5
