"""A model card says what the certificate says, and nothing else that the data say."""

import dataclasses
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import objpert_core.estimators as est
from objpert_core.datasets import Categories
from objpert_core.estimators.cards import CHOICE_NOTE, SEED_NOTE, UNVERIFIED_NOTE, is_card
from objpert_core.evaluation import evaluate
from tests.estimators.test_contract import CASES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return est.ObjPertLogisticRegression(classes=[0, 1], public_rows=200).fit(X, Y)


def headings(text):
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


@pytest.mark.thorough
def test_a_card_has_the_promise_the_provisos_and_what_its_author_said(model, tmp_path):
    card = est.model_card(
        model,
        title="Readers / writers",
        training_data="Two hundred *readers*.",
        intended_use="Teaching.",
        authors="Us.",
        evaluation=evaluate(model, X, Y),
    )
    text = card.render()
    assert headings(text) == [
        "Readers / writers", "Intended use", "Training data", "Privacy", "What the promise covers",
        "What it does not cover", "How to check it", "Evaluation", "Authors",
    ]  # fmt: skip
    assert text.startswith("---\ntags:\n- differential-privacy\n- tabular-classification\n")
    assert "| promise | (1, 1e-5)-differential privacy, add or remove one row |" in text
    spent = model.privacy_
    for name in ("sigma", "lam", "tau"):
        assert f"{name} = {getattr(spent, name):g}".replace("e-0", "e-") in text
    assert f"output noise sigma\\_out = {spent.sigma_out:g}" in text
    assert "bound 'logistic'" in text
    assert "| noise | operating system |" in text
    assert "their own promise to the people whose rows were scored: (1, 1e-5)-differential privacy" in text
    assert "| score | estimate | 95 % interval |" in text
    assert "| balanced accuracy | " in text
    assert "set of labels" not in text
    assert "number of rows, which" not in text
    card.save(tmp_path / "README.md")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_that_the_certificate_keeps_to_itself_is_in_it(case):
    fitted = case.fitted
    text = est.model_card(fitted).render()
    assert "diagnostics" not in text
    assert not {"gradient_norms_", "n_iter_", "candidates_"} & set(vars(est.model_card(fitted).get_model()))
    for name in fitted.privacy_.DIAGNOSTICS:
        assert f'"{name}": ' not in text.replace(f'"{name}": null', "")
    assert text.index(SEED_NOTE) < text.index("# Privacy")  # contract fits have seeds
    assert (UNVERIFIED_NOTE in text) == (not fitted.privacy_.verify())


def test_a_card_names_a_frames_columns_in_their_order_and_says_that_they_are_public(model):
    named = est.ObjPertLogisticRegression(classes=[0, 1], public_rows=200)
    text = est.model_card(named.fit(pd.DataFrame(X, columns=["age", "a*b", "hours"]), Y)).render()
    assert "Columns" in headings(text)
    assert r"In this order: age, a\*b, hours." in text
    assert "* The names of the columns, which count as public." in text
    bare = est.model_card(named.release(feature_names=False)).render()
    assert not any(
        "names of the columns" in one or "Columns" in headings(one) for one in (bare, est.model_card(model).render())
    )


def test_a_released_model_gives_the_same_card_but_for_what_it_does_not_know(model):
    released = model.release()
    ours, theirs = (est.model_card(one).render() for one in (model, released))
    unknown = "* The set of labels, unless the author named them before the fit; this card cannot tell.\n"
    assert theirs.replace(unknown, "") == ours
    assert unknown in theirs
    assert est.model_card(released, labels_named=True).render() == ours
    assert is_card(theirs)
    assert not is_card(f"# Mine\n\n{theirs}")
    assert not is_card(theirs[:300])
    assert "`objpert verify certificate.json model.json`" in theirs
    (inside,) = re.findall(r"```json\n(.*?)\n```", theirs, re.DOTALL)
    certificate = est.PrivacyCertificate.from_json(inside)
    assert certificate == model.privacy_.public()
    assert certificate.verify(released)
    titled = est.model_card(model, title="A *b* <i>[c](d)/e_f\\").render()
    assert headings(titled)[:2] == ["A \\*b\\* \\<i\\>\\[c\\](d)/e\\_f&#92;", "Training data"]


def test_a_card_of_an_additive_model_shows_the_largest_effects_of_each_column():
    table = pd.DataFrame({"age": RNG.integers(18, 90, 4000), "a*b": RNG.choice(["x", "y"], 4000)})
    likes, known = table.age > 50, {"a*b": Categories(["x", "y"])}
    model = est.ObjPertAdditiveClassifier(8.0, columns=known, classes=[False, True], public_rows=4000, random_state=0)
    text = est.model_card(model.fit(table, likes)).render()
    assert headings(text)[:3] == ["A private additive model", "Columns", "Effects"]
    assert f"An additive classifier of 2 classes on 2 columns in {len(model.pieces_)} pieces, fitted by" in text
    shapes = model.shapes_[model.shapes_.share > 0]
    for name, one in shapes.groupby("column"):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} |".replace("*", r"\*"))]
        low, high = (one.loc[at] for at in (one.effect.idxmin(), one.effect.idxmax()))
        count = (model.shapes_.column == name).sum()
        assert f"| {count} | {low.effect:.3g} ({low.piece}) | {high.effect:.3g} ({high.piece}) |" in line
    declared = "* Declared categories, ranges and pieces, which"
    assert declared in text
    assert est.model_card(model.release(), labels_named=True).render() == text
    banded = est.ObjPertAdditiveClassifier(8.0, columns=known, classes=[False, True], intervals=True)
    text = est.model_card(banded.fit(table, likes)).render()
    lowest = banded.shapes_.query("column == 'age' and share > 0").sort_values("effect").iloc[0]
    assert f"| {lowest.effect:.3g} from {lowest.low:.3g} to {lowest.high:.3g} ({lowest.piece}) |" in text
    assert "Coefficients" not in headings(text)
    with pytest.raises(ValueError, match="a summary is of a linear model"):
        banded.summary()
    numbers = est.ObjPertAdditiveRegressor(target_range=(0.0, 99.0), public_rows=4000)
    text = est.model_card(numbers.fit(table[["age"]], table.age)).render()
    assert "An additive regression on 1 columns" in text
    assert declared not in text


def test_scores_of_a_seeded_evaluation_are_not_for_publication(model):
    text = est.model_card(model, evaluation=evaluate(model, X, Y, random_state=0)).render()
    assert text.index("# Evaluation") < text.index(SEED_NOTE)


@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.UncoveredDataWarning")
def test_what_was_read_off_the_data_is_said():
    text = est.model_card(est.ObjPertLogisticRegression(random_state=0).fit(X, Y)).render()
    assert SEED_NOTE in text
    assert "* The set of labels, which was read off the data." in text
    assert "* The number of rows, which was read off the data" in text
    silent = est.ObjPertLogisticRegression(classes=[0, 1], public_rows=200, on_error="release").fit(X, Y)
    assert "The fact that the fit succeeded" not in est.model_card(silent).render()
    assert "* The fact that rounding did not stop the solver" in est.model_card(silent).render()


@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning", "ignore:accounting='published'")
def test_a_choice_that_is_not_covered_and_a_printed_proof_are_said():
    chosen = est.DPSGDLogisticRegression(
        learning_rates=[0.1, 1.0], tuning="dishonest", epochs=1, classes=[0, 1], public_rows=200
    )
    text = est.model_card(chosen.fit(X, Y)).render()
    assert "* **The choice among several runs**, which looked at the data." in text
    assert text.index(CHOICE_NOTE) < text.index("Its promise")
    printed = est.model_card(est.OPSPTRRegressor(accounting="published", epsilon=5.0).fit(X, X[:, 0])).render()
    assert UNVERIFIED_NOTE in printed
    assert "* **The promise as printed**" in printed
    assert "tabular-regression" in printed


def test_a_card_of_other_coefficients_says_so(model):
    other = model.release()
    other.coef_ = other.coef_ + 1.0
    assert UNVERIFIED_NOTE in est.model_card(other).render()
    other.privacy_ = dataclasses.replace(other.privacy_, sigma=-1.0)
    with pytest.raises(ValueError, match="must be one that a fit has written"):
        est.model_card(other)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_a_part_of_a_larger_promise_is_not_confirmed_released_or_not():
    X = np.random.default_rng(0).normal(size=(400, 2))
    one = est.OutputPerturbationLogisticRegression(classes=[0, 1], public_rows=400)
    found = est.PrivateSearch(one, {"margin": [0.0, 1.0]}, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert UNVERIFIED_NOTE not in est.model_card(found.best_estimator_).render()
    found.best_estimator_.privacy_ = found.privacy_.fit_certificate
    for model in (found.best_estimator_, found.best_estimator_.release()):
        printed = est.model_card(model).render()
        assert UNVERIFIED_NOTE in printed
        assert "it is a part of a “private search”" in printed


def test_what_is_no_private_model_or_no_text_is_refused(model):
    for wrong, why in ((make_pipeline(model), "got Pipeline: give its last step"), (3, "got int")):
        with pytest.raises(ValueError, match=f"^model must be a private model, .*{why}"):
            est.model_card(wrong)
    with pytest.raises(NotFittedError):
        est.model_card(est.ObjPertLogisticRegression())
    of_another = evaluate(est.ObjPertLogisticRegression(classes=[0, 1], public_rows=200).fit(X, Y), X, Y)
    wrong = {"title": ["", "two\nlines"], "training_data": [3], "evaluation": [{"accuracy": 0.9}, of_another]}
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        with pytest.raises(ValueError, match=f"^{name} must"):
            est.model_card(model, **{name: value})


def test_without_skops_one_is_told_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.card", None)
    with pytest.raises(ImportError, match=r"a model card needs skops: pip install '/path/to/checkout\[export\]'"):
        est.model_card(model)
