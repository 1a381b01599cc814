"""What a recipe promises: it says before a fit what the certificate says after it, and an estimator is little more."""

import inspect
import pickle
import warnings
from collections import Counter

import pytest
from sklearn.base import clone

from objpert_core.estimators.cautions import forget_cautions
from objpert_core.learning.certificates.shown import neighbours_in_words
from tests.estimators.contract.case import Case, names_of

MOST_CLASSES, MOST_PRIVATE, MOST_PARAMETERS, LONGEST = 5, 25, 16, 40


def the_recipe_says_what_the_certificate_then_says(case: Case) -> None:
    model, spent = case.new(), case.fitted.privacy_
    planned = model.planned(300, 4)
    assert planned.mechanism == spent.rebuild()
    assert planned.row_norm == spent.row_norm
    assert planned.terms.steps == (spent.terms.steps if hasattr(spent, "terms") else ())
    text = str(planned)
    assert neighbours_in_words(spent.adjacency) in text
    assert planned.reads_rows == (spent.rows_declared is False)
    assert planned == model.planned(300, 4)  # no data are in it
    assert planned != case.new(epsilon=2.0).planned(300, 4)
    told = {row["what"] for row in planned.statement()}
    assert {"promise", "fit", "noise", "releases"} <= told
    with pytest.raises(ValueError, match="rows must be a whole number >= 1, got 0"):
        model.planned(0, 4)


def it_is_made_of_few_classes_with_few_private_names_and_few_parameters(case: Case) -> None:
    kind = type(case.new())
    ours = [one for one in kind.__mro__ if one.__module__.startswith(("objpert_core", "tests."))]
    assert len(ours) <= MOST_CLASSES + kind.__module__.startswith("tests.")
    private = Counter(name for one in ours for name in vars(one) if name.startswith("_") and not name.endswith("__"))
    assert len(private) <= MOST_PRIVATE
    assert max(private.values(), default=1) <= 2
    assert len(case.new().get_params(deep=False)) <= MOST_PARAMETERS
    assert len(inspect.getsource(kind.recipe).splitlines()) <= LONGEST


def an_option_stands_in_advanced_and_is_still_taken_flat(case: Case) -> None:
    kind = type(case.new())
    for name, value in kind.ADVANCED.items():
        assert kind(advanced={name: value}).get_params() == kind().get_params() | {"advanced": {name: value}}
        forget_cautions()
        with pytest.warns(FutureWarning, match=f"^{name} is an advanced option: {kind.__name__}") as told:
            flat = kind(**{name: value})
        assert next(one.filename for one in told) in (__file__, inspect.getfile(kind))
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            again = clone(pickle.loads(pickle.dumps(flat)))
            assert again.get_params() == kind().set_params(**{f"advanced__{name}": value}).get_params()
            kind(**{name: value})  # once is enough
        with pytest.raises(AttributeError, match=f"{name} stands in advanced"):
            setattr(flat, name, value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'silver'"):
        kind(silver=1)
    with pytest.raises(ValueError, match=r"^advanced must be None or a mapping of options out of .*, got \{'silver'"):
        kind(advanced={"silver": 1}).fit(*case.data)


def nothing_changes_settings(case: Case) -> None:
    settings = case.new().settings
    assert set(vars(settings)) == set(names_of(case.new()))
    with pytest.raises(AttributeError, match="settings are for reading"):
        settings.epsilon = 2.0
