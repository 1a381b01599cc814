"""What a fit promises: parameters checked before data, records, noise, failures that leave nothing behind."""

import inspect
import pickle
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge, SGDClassifier
from sklearn.svm import SVC

from objpert_core.estimators.recipe import Learned
from objpert_core.exceptions import ConvergenceError, ReleaseRefusedError
from objpert_core.learning import Refused
from tests.estimators.contract.case import RANGES, Case, Untouchable, assert_unfitted, names_of


def every_parameter_has_a_constraint(case: Case) -> None:
    model = case.new()
    assert set(vars(model.settings)) == set(names_of(model))


def the_answer_to_a_parameter_of_scikit_learns_names_no_other_that_it_lacks(case: Case) -> None:
    kind, own = type(case.new()), set(names_of(case.new()))
    for model in (ElasticNet, LogisticRegression, Ridge, SGDClassifier, SVC):
        for name in {"lamda", *inspect.signature(model).parameters} - own:
            with pytest.raises(
                TypeError, match=rf"{kind.__name__} has no parameter '{name}': |argument '{name}'"
            ) as raised:
                kind(**{name: 1.0})
            assert not set(re.findall(r"`(\w+)`", str(raised.value))) - own


def a_value_out_of_range_is_named_before_the_data_are_touched(case: Case) -> None:
    ranges = RANGES | dict(case.ranges)
    for name in names_of(case.new()):
        allowed, values = ranges.get(name, ("", ()))
        for value in (object(), *values):
            model = pickle.loads(pickle.dumps(case.fitted)).set_params(**{name: value})
            with pytest.raises(ValueError, match=f"^{name} must be ") as raised:
                model.fit(Untouchable(), Untouchable())
            if value in values:
                assert str(raised.value) == f"{name} must be {allowed}, got {value!r}"
            assert str(raised.value).endswith(f", got {value!r}")
            assert_unfitted(model)


def seeded_fits_repeat_and_the_certificate_says_so(case: Case) -> None:
    for make in (lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)):
        one, other = (case.fit(random_state=make()) for _ in range(2))
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.intercept_, other.intercept_)
        assert one.privacy_.reproducible is True
        assert "whoever knows the seed" in repr(one.privacy_)


def differ(one: Any, other: Any) -> bool:
    """Whether two models have other coefficients, of which noise may even decide how many there are."""
    return one.coef_.shape != other.coef_.shape or not np.allclose(one.coef_, other.coef_, rtol=1e-9, atol=0)


def a_random_state_shared_by_two_fits_moves_on(case: Case) -> None:
    state = np.random.RandomState(3)
    one, other = (case.fit(random_state=state) for _ in range(2))
    assert differ(one, other)


def the_operating_systems_noise_differs_from_fit_to_fit(case: Case) -> None:
    one, other = (case.fit(random_state=None) for _ in range(2))
    assert differ(one, other)
    assert (one.privacy_.noise_source, one.privacy_.reproducible) == ("operating system", False)


def a_fit_that_does_not_converge_raises_and_leaves_nothing_behind(case: Case) -> None:
    model = case.fit()
    if "max_iter" not in names_of(model):
        return
    with pytest.raises(ConvergenceError, match="nothing was released"):
        model.set_params(max_iter=1, tau=1e-12).fit(*case.data)
    assert_unfitted(model)


def a_refused_release_raises_with_its_certificate_and_leaves_nothing_behind(case: Case) -> None:
    model = case.fit()
    refused = Refused(case.fitted.privacy_, "the noisy test said no")
    model.recipe = lambda public: SimpleNamespace(cautions=(), learn=lambda *given: [Learned(refused)])
    with pytest.raises(ReleaseRefusedError, match="the noisy test said no") as raised:
        model.fit(*case.data)
    assert raised.value.certificate == case.fitted.privacy_
    assert_unfitted(model)


def stopping_from_the_callback_leaves_the_estimator_unfitted(case: Case) -> None:
    heard: list[int] = []

    def stop(step: int, norm: float) -> None:
        assert norm >= 0
        heard.append(step)
        if len(heard) == 3:
            raise KeyboardInterrupt("enough")

    model = case.fit()
    with pytest.raises(KeyboardInterrupt, match="enough"):
        model.fit(*case.data, callback=stop)
    assert heard == [case.first_step + step for step in range(3)]
    assert_unfitted(model)


def the_callback_hears_every_iteration(case: Case) -> None:
    heard: list[tuple[int, float]] = []
    model = case.new(random_state=0).fit(*case.data, callback=lambda step, norm: heard.append((step, norm)))
    np.testing.assert_array_equal(model.coef_, case.fitted.coef_)  # listening changes nothing
    if hasattr(model, "gradient_norms_"):
        assert [norm for _, norm in heard] == list(model.gradient_norms_)
        assert [step for step, _ in heard] == list(range(len(heard))) or np.size(model.intercept_) > 1


def an_estimator_that_was_not_fitted_says_so(case: Case) -> None:
    assert_unfitted(case.new())
    for name in {"decision_function", "predict_proba", "predict_log_proba"} & set(dir(case.new())):
        with pytest.raises(NotFittedError):
            getattr(case.new(), name)(case.data[0])
