import csv
from functools import partial

import numpy as np
import pytest

from objpert_core._provenance import read_table
from objpert_core.accounting import ObjectivePerturbation, calibrate_gaussian, recommended_lam
from objpert_core.experiments.results import folder
from objpert_core.experiments.studies import defaults
from objpert_core.learning import recommended_output_lam
from objpert_core.learning.problem.rows import row_radius

SMALL = defaults.Design(rows=80, features=4, offset=2.0, positive=0.3, flipped=0.1)


@pytest.fixture(scope="module")
def small_scores():
    return list(defaults.scores(SMALL, seed=3, draws=2, epsilons=[1.0]))


# Designs


def test_a_design_is_what_it_says():
    design = defaults.Design(rows=4000, features=50, decay=1.0, offset=2.0, positive=0.3, flipped=0.1)
    X, targets = design.draw(seed=1)
    assert X.shape == (4000 + defaults.TEST_ROWS, 50)
    assert np.mean(targets > 0) == pytest.approx(0.3 * 0.9 + 0.7 * 0.1, abs=0.01)
    mean = X.mean(axis=0)
    assert np.linalg.norm(mean) == pytest.approx(2.0, rel=0.02)
    spread = X.std(axis=0)
    assert np.linalg.norm(spread) == pytest.approx(1.0, rel=0.02)
    assert spread[9] / spread[0] == pytest.approx(0.1, rel=0.1)
    np.testing.assert_array_equal(X, design.draw(seed=1)[0])
    assert not np.array_equal(X, design.draw(seed=2)[0])


def test_designs_differ_and_cover_what_real_data_do():
    everything = list(defaults.designs())
    assert len(set(everything)) == len(everything) == 8 * len(defaults.SHAPES)
    assert {d.features > d.rows for d in defaults.designs([(10, 3), (3, 10)])} == {True, False}


# Candidates


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", defaults.EPSILONS)
def test_every_candidate_is_private(epsilon):
    radius = row_radius(0.3)
    for name, (sigma, lam) in defaults.candidates(epsilon, SMALL).items():
        if name != "published":  # accounted through Rényi with the other bound: see its own tests
            assert ObjectivePerturbation(sigma, lam, radius).epsilon(defaults.DELTA) <= epsilon


def test_the_rule_is_the_packages_and_least_uses_no_number_of_rows():
    few, many = defaults.candidates(1.0, SMALL), defaults.candidates(1.0, defaults.Design(rows=10**6, features=4))
    assert few["least"] == many["least"] == many["rule"]
    assert few["rule"][1] == recommended_lam(1.0, defaults.DELTA, 80, 5, row_radius(0.3)) > few["least"][1]
    assert few["x1"][0] == calibrate_gaussian(1.0, defaults.DELTA, row_radius(0.3)).sigma
    assert few["x16"][1] == 16 * few["x1"][1]
    assert few["f=1.3"][1] < few["f=1.1"][1] < few["x1"][1]


# Scores


def test_scores_are_means_over_shared_noise(small_scores):
    by = {(s.study, s.candidate): s for s in small_scores}
    assert len(by) == len(small_scores)
    assert len(defaults.CONSTANTS) == sum(study == "output" for study, _ in by)
    assert all(0 <= s.accuracy <= 1 and s.loss > 0 for s in small_scores)
    # One seed, one constant: the study of the intercept repeats the rule of the other study to the last digit
    assert by["intercept", "s=0.3"].loss == by["objective", "rule"].loss
    rule = by["output", "c=0.5"]
    assert rule.lam == recommended_output_lam(1.0, defaults.DELTA, 80, row_radius(0.3))
    assert rule.sigma == pytest.approx(calibrate_gaussian(1.0, defaults.DELTA, row_radius(0.3)).sigma / rule.lam)


@pytest.mark.slow
def test_noise_hurts(small_scores, monkeypatch):
    monkeypatch.setattr(defaults, "SCALINGS", (0.3,))
    quiet = list(defaults.scores(SMALL, seed=3, draws=2, epsilons=[20.0]))
    for study in ("objective", "output"):
        loud_loss, quiet_loss = (min(s.loss for s in scores if s.study == study) for scores in (small_scores, quiet))
        assert quiet_loss < loud_loss


def test_regrets_are_taken_case_by_case():
    easy, hard = defaults.Design(rows=9, features=1), defaults.Design(rows=9, features=2)

    def score(design, candidate, accuracy, loss):
        return defaults.Score("objective", design, 1.0, candidate, 1.0, 1.0, accuracy, loss)

    found = [
        score(easy, "a", 0.9, 0.2),
        score(easy, "b", 0.8, 0.3),
        score(hard, "a", 0.6, 0.8),
        score(hard, "b", 0.7, 0.5),
    ]
    b, a = defaults.regrets(found)
    assert (a.candidate, b.candidate, a.cases) == ("a", "b", 2)
    assert (a.accuracy, a.worst_accuracy, a.loss, a.worst_loss) == pytest.approx((0.05, 0.1, 0.15, 0.3))
    assert (b.accuracy, b.worst_accuracy, b.loss, b.worst_loss) == pytest.approx((0.05, 0.1, 0.05, 0.1))
    assert a.tenth == pytest.approx(0.09)


def test_margins_share_rows_noise_sigma_and_lam_and_differ_in_the_loss_only():
    found = {s.candidate: s for s in defaults.margin_scores(SMALL, seed=3, draws=2, epsilons=[1.0])}
    assert list(found) == [*(f"k={k:g}" for k in defaults.MARGINS), "rule"]
    assert len({(s.sigma, s.lam) for s in found.values()}) == 1
    assert len({s.loss for s in found.values()}) == len(found)
    without = next(
        s
        for s in defaults.scores(SMALL, seed=3, draws=2, epsilons=[1.0])
        if (s.study, s.candidate) == ("objective", "rule")
    )
    assert (found["k=0"].accuracy, found["k=0"].loss) == (without.accuracy, without.loss)


# Command line and committed results


def test_the_command_writes_a_table_with_its_origin(tmp_path, monkeypatch):
    assert {score.epsilon for score in defaults.margin_scores(SMALL, 0, 1)} == set(defaults.EPSILONS)
    for name in ("scores", "margin_scores"):
        monkeypatch.setattr(defaults, name, partial(getattr(defaults, name), epsilons=[1.0]))
    monkeypatch.setattr(defaults, "designs", lambda *_: [SMALL])
    monkeypatch.setattr(defaults, "SCALINGS", (0.3,))
    out = tmp_path / "defaults.csv"
    defaults.main(["synthetic", "--draws", "1", "--seed", "5", "--out", str(out)])
    lines = out.read_text().splitlines()
    assert lines[0].endswith(f"defaults synthetic --draws 1 --seed 5 --out {out}")
    assert "seed 5 + i, 1 noise draws" in lines[1]
    assert "commit: " in lines[2]
    rows = read_table(out).rows
    assert {row["study"] for row in rows} == {"objective", "output", "intercept"}
    assert {row["cases"] for row in rows} == {"1"}
    defaults.main(["margin", "--out", str(out)])
    assert {row["study"] for row in read_table(out).rows} == {"margin"}
    assert all(float(row["loss"]) >= 0 for row in rows)


def test_the_confirmation_compares_the_same_splits_with_the_same_constant(capsys, monkeypatch):
    monkeypatch.setattr(defaults, "EPSILONS", (1.0,))
    defaults.main(["confirm", "--datasets", "breast-cancer", "--splits", "1", "--draws", "2"])
    rows = list(csv.DictReader(line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")))
    assert len(rows) == len(defaults.EPSILONS) * len(defaults.CONFIRMED)
    assert {row["fits"] for row in rows} == {"2"}
    lam = {(row["epsilon"], row["method"]): float(row["lam"]) for row in rows}
    assert lam["1.0", "rule"] > lam["1.0", "least"]
    scalings = {defaults.confirmed_estimator(m, 1.0, 0).intercept_scaling for m in defaults.CONFIRMED}
    assert scalings == {defaults.SCALING}


def test_the_committed_study_supports_the_defaults():
    table = {(row["study"], row["candidate"]): row for row in read_table(folder() / "defaults.csv").rows}
    loss = {key: float(row["loss"]) for key, row in table.items()}
    accuracy = {key: float(row["accuracy"]) for key, row in table.items()}
    for measure in (loss, accuracy):  # against λ as small as privacy allows, and against the published recipe
        assert measure["objective", "rule"] < 0.75 * measure["objective", "least"]
        assert measure["objective", "rule"] < 0.75 * measure["objective", "published"]
    assert loss["output", "c=0.5"] <= min(loss["output", "c=0.125"], loss["output", "c=2"])


def test_the_committed_study_supports_the_margin():
    table = {row["candidate"]: row for row in read_table(folder() / "defaults_margin.csv").rows}
    loss, accuracy = ({name: float(row[which]) for name, row in table.items()} for which in ("loss", "accuracy"))
    assert loss["rule"] == min(loss.values())
    assert accuracy["rule"] < 0.5 * accuracy["k=0"]


def test_the_committed_confirmation_has_adult_as_it_was_and_no_worse():
    confirmed = read_table(folder() / "defaults_confirmed.csv").rows
    rows = {(row["dataset"], row["epsilon"], row["method"]): row for row in confirmed}
    for (name, epsilon, method), row in rows.items():
        if method == "no-margin" and name in ("adult", "synthetic-l"):
            assert row["accuracy"] == rows[name, epsilon, "least"]["accuracy"]
