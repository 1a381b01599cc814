from functools import partial

import numpy as np
import pytest

from objpert_core._provenance import read_table
from objpert_core.accounting import recommended_standardisation
from objpert_core.experiments.results import folder
from objpert_core.experiments.studies import standardisation as study
from objpert_core.experiments.studies.shapes import SHAPES, Shape, gaussian
from objpert_core.learning.noise import noise_source
from objpert_core.learning.standardisation import release_map

RAW, RULES = study.CANDIDATES["raw"], study.CANDIDATES["rules"]


@pytest.fixture(scope="module")
def sample():
    return study.Sample.of(SHAPES["few columns, off centre"], seed=0)


# Candidates


def test_the_rules_are_what_the_estimators_take():
    assert RULES.plan is recommended_standardisation
    assert (RULES.margin, RULES.scaling, RULES.lam, RULES.fits) == (None, study.SCALING, 1.0, 1)


@pytest.mark.parametrize("name", study.CANDIDATES)
def test_every_candidate_fits_and_repeats_itself(sample, name):
    found = [sample.accuracy(1.0, study.CANDIDATES[name], draw=2) for _ in range(2)]
    assert found[0] == found[1]
    assert 0.5 < found[0] < 1


def test_prices_are_of_the_squared_noise_and_spare_steps_that_are_left_out():
    twice = study.CANDIDATES["centre at twice the price"].plan
    plan, dear = recommended_standardisation(1.0, 1e-5, 400, 50), twice(1.0, 1e-5, 400, 50)
    assert dear.center_noise == pytest.approx(plan.center_noise / 2**0.5)
    assert dear.scale_noise == plan.scale_noise
    assert twice(0.01, 1e-5, 100, 50) == recommended_standardisation(0.01, 1e-5, 100, 50)


def test_switched_one_by_one():
    full = study.CANDIDATES["both"].plan(1.0, 1e-5, 400, 50)
    center, scale = (study.CANDIDATES[name].plan(1.0, 1e-5, 400, 50) for name in ("centre", "scale"))
    assert (center.center_noise, center.scale_noise) == (full.center_noise, None)
    assert (scale.center_noise, scale.scale_noise) == (None, full.scale_noise)


def test_candidates_share_the_noise_of_what_they_have_in_common(sample):
    """A plan that takes nothing is the raw fit to the last digit, and one centre serves with and without scales."""
    assert sample.accuracy(0.01, RULES, draw=1) == sample.accuracy(0.01, RAW, draw=1)
    plans = [study.CANDIDATES[name].plan(1.0, 1e-5, *sample.train.shape) for name in ("centre", "both")]
    alone, both = (release_map(sample.train, plan, noise_source(5)) for plan in plans)
    np.testing.assert_array_equal(alone.center, both.center)


def test_much_epsilon_makes_good_fits_of_centred_rows():
    shape = Shape("long", 3000, 10, gaussian)
    assert study.Sample.of(shape, 0).accuracy(50.0, RULES, draw=0) > 0.92


def test_wide_rows_are_projected_to_fewer_columns_and_lose_their_own_mean():
    wide = study.Sample.of(Shape("wide", 60, 70, gaussian), 0)
    raw = wide.accuracy(1.0, RAW, draw=0)
    for name in ("projected to 60", "10 principal directions", "rows without their mean"):
        assert wide.accuracy(1.0, study.CANDIDATES[name], draw=0) != raw, name


# Gains


def test_gains_are_means_over_sets_with_their_error_and_their_worst():
    def score(shape, candidate, epsilon, *accuracies):
        return study.Score(shape, candidate, epsilon, accuracies)

    found = [
        score("pixels", "raw", 1.0, 0.5, 0.7),
        score("pixels", "both", 1.0, 0.8, 0.8),
        score("measurements", "raw", 1.0, 0.7),
        score("measurements", "both", 1.0, 0.6),
    ]
    rows = {(row["group"], row["candidate"], row["epsilon"]): row for row in study.gains(found)}
    row = rows["small", "both", 1.0]
    assert (row["sets"], row["accuracy"], row["gain"], row["standard_error"]) == (2, "70.00", "5.00", "15.00")
    assert (row["worst_gain"], row["worst_set"], row["worst_epsilon"]) == ("-10.00", "measurements", 1.0)
    assert rows["all", "both", "all"]["gain"] == "5.00"
    assert rows["all", "raw", "all"]["gain"] == "0.00"


# Command line and committed results


def test_the_commands_write_tables_with_their_origin(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "EPSILONS", (1.0,))
    monkeypatch.setattr(study, "CANDIDATES", {"raw": RAW, "rules": RULES})
    out = tmp_path / "found.csv"
    study.main(["synthetic", "--shapes", "few columns", "--out", str(out)])
    lines = out.read_text().splitlines()
    assert lines[0].endswith(f"standardisation synthetic --shapes few columns --out {out}")
    assert {row["candidate"] for row in read_table(out).rows} == {"raw", "rules"}
    monkeypatch.setattr(study, "confirm", partial(study.confirm, epsilons=study.CONFIRMED_AT[:1]))
    study.main(["confirm", "--datasets", "breast-cancer", "--splits", "2", "--out", str(out)])
    assert "splits 20 to 21" in out.read_text()
    assert [row["dataset"] for row in read_table(out).rows] == ["breast-cancer"]


def test_the_committed_study_supports_the_rules():
    rows = {(r["group"], r["candidate"], r["epsilon"]): r for r in read_table(folder() / "standardisation.csv").rows}
    gain = {key: float(row["gain"]) for key, row in rows.items()}
    names = {candidate for _, candidate, _ in gain}
    best = max(gain["all", name, "all"] for name in names)
    assert gain["all", "rules", "all"] > best - 0.2
    for epsilon in map(str, study.EPSILONS):  # never behind raw rows, but for noise
        for group in ("small", "wide", "long", "middling", "all"):
            row = rows[group, "rules", epsilon]
            assert float(row["gain"]) > -2 * float(row["standard_error"]) - 0.05, (group, epsilon)


@pytest.mark.parametrize("name", ["standardisation_confirmed.csv", "standardisation_confirmed_wide.csv"])
def test_the_committed_confirmation_gains_and_nowhere_loses_more_than_noise(name):
    rows = read_table(folder() / name).rows
    assert np.mean([float(row["gain"]) for row in rows]) > 0.5
    for row in rows:
        assert float(row["gain"]) > -3 * float(row["standard_error"]) - 0.1, (row["dataset"], row["epsilon"])
