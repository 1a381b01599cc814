"""A coin's split: fit and evaluation cost the larger of the two budgets, by quadrature and by the certificate."""

import dataclasses
import json

import numpy as np
import pytest

from objpert_core.accounting import Gaussian, ObjectivePerturbation, compose, parallel
from objpert_core.blocks import Blocks
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertLogisticRegression
from objpert_core.evaluation import evaluate, split_by_coin, together
from objpert_core.learning import PrivacyCertificate

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def parts():
    return split_by_coin(X, y, test_share=0.5, random_state=3)


@pytest.fixture(scope="module")
def model(parts):
    return ObjPertLogisticRegression(classes=[0, 1], public_rows=300, random_state=0).fit(parts[0], parts[2])


def scored(model, parts, **changes):
    return evaluate(model, parts[1], parts[3], **{"epsilon": 0.5, "random_state": 0} | changes)


def divergence(test_share, of_fit, of_test, epsilon):
    """H of one person alone against nobody, by quadrature: the person's 1 is in either of two noisy sums."""
    v = np.linspace(-9, 9, 1201)
    weight = np.exp(-(v**2) / 2) / np.sqrt(2 * np.pi) * (v[1] - v[0])
    ratios = [np.exp((s * v - 0.5) / s**2) for s in (of_fit, of_test)]
    ratio = (1 - test_share) * ratios[0][:, None] + test_share * ratios[1][None, :]
    return weight @ np.maximum(ratio - np.exp(epsilon), 0.0) @ weight


@pytest.mark.thorough
def test_a_coins_split_is_as_private_as_its_worse_part_and_no_better():
    """The bound of T49 is met at both ends of the coin's bias; one per cent less is refuted."""
    of_fit, of_test, epsilon = 1.0, 1.6, 0.5
    fit, test = Gaussian(of_fit), Gaussian(of_test)
    for share in (0.001, 0.2, 0.5, 0.999):
        found = divergence(share, of_fit, of_test, epsilon)
        mixture = (1 - share) * fit.delta(epsilon) + share * test.delta(epsilon)
        assert found <= mixture * (1 + 1e-4) <= parallel(fit, test).delta(epsilon) * (1 + 1e-4)
    assert divergence(1e-4, of_fit, of_test, epsilon) > 0.99 * parallel(fit, test).delta(epsilon)
    assert divergence(1 - 1e-4, of_test, of_fit, epsilon) > 0.99 * parallel(fit, test).delta(epsilon)


@pytest.mark.thorough
def test_parallel_answers_for_the_worst_part():
    fit, test = ObjectivePerturbation(5.0, 20.0), Gaussian(4.0)
    both = parallel(fit, test)
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        assert both.delta(epsilon) == max(fit.delta(epsilon), test.delta(epsilon))
    assert both.rdp(3.0) == max(fit.rdp(3.0), test.rdp(3.0))
    assert both.mu() == max(fit.mu(), test.mu())
    assert both.rho() == max(fit.rho(), test.rho())
    assert both.explain() is None
    assert both.has_profile
    assert not parallel(test, ObjectivePerturbation(5.0, 20.0, bound="non-glm", dimension=3)).has_profile
    assert compose(both, test).epsilon(1e-5) > both.epsilon(1e-5)
    for wrong in ((), (3,), (test, Gaussian(1.0, adjacency="replace one row"))):
        with pytest.raises(ValueError, match="must"):
            parallel(*wrong)


def test_fit_and_evaluation_cost_the_larger_budget(model, parts):
    evaluation = scored(model, parts)
    both = together(model.privacy_, evaluation)
    assert (both.epsilon, both.delta) == (1.0, 1e-5)
    assert together(model.privacy_, scored(model, parts, epsilon=2.0).certificate).epsilon == 2.0
    assert both.verify()
    assert both.verify(model)
    assert "by a coin" in repr(both)
    assert both.reproducible


def test_an_earlier_text_verifies_and_what_is_taken_out_of_it_stands_for_nothing(model, parts):
    """Texts did not say what is part of what."""
    both = together(model.privacy_, scored(model, parts))
    for part in (both.fit, both.evaluation):
        with pytest.raises(ValueError, match="must be a whole, and it is a part of a “fit and evaluation”"):
            together(*(PrivacyCertificate.from_dict(one) for one in (part, both.evaluation)))
    values = both.to_dict()
    values |= {
        name: {key: one for key, one in values[name].items() if key != "part_of"} for name in ("fit", "evaluation")
    }
    old = PrivacyCertificate.from_dict(values)
    assert old.verify(model)
    assert old.to_dict() == values
    assert not dataclasses.replace(both, fit=both.fit | {"part_of": "private search"}).verify()


@pytest.mark.thorough
def test_rows_in_both_parts_are_composed(model, parts):
    both = together(model.privacy_, scored(model, parts), split="same rows")
    assert 1.0 < both.epsilon < 1.5
    assert both.delta == 2e-5
    assert both.verify(model)


@pytest.mark.thorough
def test_a_part_in_the_place_of_another_is_convicted(model, parts):
    both = together(model.privacy_, scored(model, parts))
    for changes in (
        {"fit": both.evaluation, "evaluation": both.fit},
        {"evaluation": json.loads(both.to_json())},
    ):
        assert not dataclasses.replace(both, **changes).verify(), changes


@pytest.mark.thorough
def test_what_does_not_belong_together_is_refused(model, parts):
    own = scored(model, parts).certificate
    other = ObjPertLogisticRegression(classes=[0, 1], public_rows=300, random_state=1).fit(parts[0], parts[2])
    dishonest = DPSGDLogisticRegression(
        classes=[0, 1], epochs=1, learning_rates=[0.1, 0.2], tuning="dishonest", accountant="rdp"
    ).fit(parts[0], parts[2])
    for fit, evaluation, said in (
        (other.privacy_, own, "own model"),
        (own, own, "certificate of a fit"),
        (model.privacy_, model.privacy_, "of an evaluation"),
        (model, own, "privacy_"),
        (model.privacy_, scored(model, parts, adjacency="replace one row"), "adjacency"),
        (model.privacy_, scored(model, parts, rows_per_person=2), "rows_per_person"),
        (dishonest.privacy_, scored(dishonest, parts), "chose by looking at the data"),
        (dataclasses.replace(model.privacy_, epsilon=0.5), own, "verifies"),
    ):
        with pytest.raises(ValueError, match=said):
            together(fit, evaluation)
    with pytest.raises(ValueError, match="split must be"):
        together(model.privacy_, own, split="shuffled")


@pytest.mark.thorough
def test_a_number_of_rows_that_was_read_off_stays_in_the_words(parts):
    model = ObjPertLogisticRegression(classes=[0, 1], random_state=0).fit(parts[0], parts[2])
    both = together(model.privacy_, scored(model, parts))
    assert both.adjacency == model.privacy_.adjacency
    assert both.verify(model)


# The split


def test_every_row_goes_to_one_part_with_its_label(parts):
    X_train, X_test, y_train, y_test = parts
    together_again = np.concatenate([np.column_stack([X_train, y_train]), np.column_stack([X_test, y_test])])
    assert sorted(map(tuple, together_again)) == sorted(map(tuple, np.column_stack([X, y])))


def test_coins_have_the_share_and_rows_of_one_person_one_coin():
    rows = np.arange(20_000)
    _, test, _, _ = split_by_coin(rows[:, None], rows, test_share=0.2, random_state=0)
    assert len(test) == pytest.approx(4000, abs=5 * np.sqrt(20_000 * 0.16))
    people = rows % 100
    train, test, _, _ = split_by_coin(rows[:, None], rows, groups=people, random_state=0)
    assert set(train.ravel() % 100).isdisjoint(test.ravel() % 100)
    assert {len(train) % 200, len(test) % 200} == {0}


def test_people_whose_rows_are_walked_have_one_coin_in_every_walk():
    rows = np.arange(1_000)
    parts = np.split(rows, range(70, 1_000, 70))
    blocks = Blocks(lambda: ((part[:, None], part, part % 100) for part in parts))
    train, test, _, _ = split_by_coin(blocks, test_share=0.3, groups=True, random_state=0)
    for _ in range(2):
        own, other = (np.concatenate([X.ravel() for X, _ in part]) for part in (train, test))
        assert set(own % 100).isdisjoint(other % 100)
        assert sorted([*own, *other]) == rows.tolist()
    assert 100 < len(other) < 500
    with pytest.raises(ValueError, match="groups must be None or True where X is Blocks"):
        split_by_coin(blocks, groups=rows)


@pytest.mark.parametrize("kind", [float, object])
def test_rows_of_nobody_that_are_walked_have_one_coin_in_every_walk(kind):
    """NaN is no other NaN's key: each walk drew coins of its own, and a row was in both parts."""
    names = lambda: np.array([float("nan") if row % 3 else float(row) for row in range(60)], dtype=kind)  # noqa: E731
    blocks = Blocks(lambda: iter([(np.arange(60.0)[:, None], np.zeros(60), names())]))
    train, test, _, _ = split_by_coin(blocks, test_share=0.5, groups=True, random_state=0)
    own, other = (np.concatenate([X.ravel() for X, _ in part]).tolist() for part in (train, test))
    assert sorted(own + other) == list(range(60))
    assert len({row in own for row in range(60) if row % 3}) == 1


def test_coins_come_from_the_operating_system_unless_a_seed_is_asked_for():
    rows = np.arange(2000)[:, None]
    one, two = (split_by_coin(rows, rows.ravel())[1] for _ in range(2))
    assert not np.array_equal(one, two)
    seeded = [split_by_coin(rows, rows.ravel(), random_state=5)[1] for _ in range(2)]
    assert np.array_equal(*seeded)


def test_a_split_without_sense_is_refused():
    for changes in ({"test_share": 0.0}, {"test_share": 1}, {"groups": [1]}, {"y": y[:5]}):
        with pytest.raises(ValueError, match=r"must|inconsistent"):
            split_by_coin(**{"X": X, "y": y} | changes)


@pytest.mark.thorough
def test_an_evaluation_raises_for_bad_rows_whatever_the_fit_does(parts):
    fit = ObjPertLogisticRegression(classes=[0, 1], public_rows=300, on_error="release").fit(parts[0], parts[2])
    both = together(fit.privacy_, scored(fit, parts))
    assert (fit.privacy_.on_error, both.on_error) == ("release", "raise")
    assert both.verify(fit)


RULE = "the first {} of each person by column “id”, in the table's order"


def test_a_rule_about_rows_that_one_part_alone_kept_is_not_the_wholes(model, parts):
    """A person with more rows is cut in the fit, and counted with all rows in the scores: the whole covers one row."""
    ruled = dataclasses.replace(model.privacy_, rows_used=RULE.format("row"))
    scores = scored(model, parts).certificate
    assert together(ruled, scores).rows_used is None
    assert not dataclasses.replace(together(ruled, scores), rows_used=ruled.rows_used).verify()
    both = together(ruled, dataclasses.replace(scores, rows_used=ruled.rows_used))
    assert (both.rows_used, both.verify()) == (ruled.rows_used, True)


def test_a_rule_that_keeps_more_rows_of_a_person_than_the_promise_covers_does_not_verify(model):
    forged = dataclasses.replace(model.privacy_, rows_used=RULE.format("1,200 rows"))
    assert "rows_per_person must be the 1200 that rows_used keeps" in forged.objection()
    assert dataclasses.replace(forged, rows_used=RULE.format("row")).verify()
