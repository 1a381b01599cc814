"""Two noisy sums and then some fits, with no theory: every density explicit, δ by sums on a lattice.

The worst pair of docs/theorems.md, T45 and T46: many copies of a row with the other label, and one row more. That row
moves Σu and Σ|z| by vectors of norm 1, and the loss of each fit by one that stays on its straight part. Given the two
sums all rows are one row w of norm R after the map, so a fit is one-dimensional along it.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from objpert_core.accounting import (
    Gaussian,
    Mechanism,
    ObjectivePerturbation,
    calibrate_gaussian,
    compose,
    group,
    repeat,
    replace_one,
    symmetrised,
)
from objpert_core.accounting.objective.one_vs_rest import one_vs_rest
from tests.accounting.one_dimensional import Release, logistic, pair
from tests.second_opinion.definition import Lattice
from tests.second_opinion.gaussian import shifted

RADIUS = math.sqrt(1.09)
CENTER, SCALE = 20.0, 30.0  # noise of the sums, for sensitivity 1
FIT = ObjectivePerturbation(sigma=8.0, lam=128.0, lipschitz=RADIUS)  # λ = 2σ²
RATIO = math.hypot(1 / CENTER, 1 / SCALE)  # of both sums together
COPIES = 10.0**7
DELTA = 1e-5


def delta_from_below(epsilon: float, lengths: list[float], direction: str) -> float:
    """δ of both sums and of a fit for each length of its rows, on the worst pair; losses are rounded down."""
    parts = [(*shifted(RATIO).atoms(), 1)]
    for length in lengths:
        without = Release.of(logistic(3.0), FIT.sigma, FIT.lam, [(length, -1.0, COPIES)])
        sides = without.with_row(length, 1.0), without
        parts.append((*pair(*sides if direction == "remove" else sides[::-1]).atoms(), 1))
    return math.exp(Lattice.of(parts, up=False).log_delta(epsilon))


def promised(*kept: str, fits: int = 1) -> Mechanism:
    """The composition of the parts that are kept."""
    parts = {"center": Gaussian(CENTER), "scale": Gaussian(SCALE), "fit": repeat(symmetrised(FIT), fits)}
    return compose(*(parts[name] for name in kept))


@pytest.mark.thorough
@pytest.mark.parametrize("fits", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_the_composition_of_both_sums_and_every_fit_is_attained(fits, direction):
    mechanism = promised("center", "scale", "fit", fits=fits)
    epsilon = mechanism.epsilon(DELTA)
    truth = delta_from_below(epsilon, [RADIUS] * fits, direction)
    assert 0.97 * DELTA < truth <= DELTA


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_row_is_at_its_worst_in_the_fits_of_all_classes_at_once(direction):
    """Copies of (−x, c) and one (x, c) more: fit c sees the label +1 alone, the others −1, and rows half as long."""
    classes, weight = 3, 0.5
    mechanism = compose(Gaussian(CENTER), Gaussian(SCALE), one_vs_rest(FIT, classes, weight))
    lengths = [RADIUS, *[weight * RADIUS] * (classes - 1)]
    epsilon = mechanism.epsilon(DELTA)
    assert 0.97 * DELTA < delta_from_below(epsilon, lengths, direction) <= DELTA
    too_cheap = compose(Gaussian(CENTER), Gaussian(SCALE), one_vs_rest(FIT, classes - 1, weight)).epsilon(DELTA)
    assert delta_from_below(too_cheap, lengths, direction) > 1.4 * DELTA


def test_the_table_of_fits_under_one_promise_is_computed():
    text = (Path(__file__).parents[2] / "docs/theorems.md").read_text(encoding="utf-8").split("## T46.")[1]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    named = {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}
    noise = calibrate_gaussian(1.0, DELTA).sigma
    for column, count in enumerate(map(int, named["K"])):
        shares = {"composed, w = 1": count, "composed, w = 1/√(K − 1)": 2}
        each = {name: Gaussian(noise * math.sqrt(fits)).epsilon(DELTA) for name, fits in shares.items()}
        for name, truth in (each | {"ε/K": 1 / count}).items():
            assert 0 <= truth - float(named[name][column]) < 1e-3


def test_the_numbers_of_the_theorems_are_computed():
    whole = Gaussian(1 / math.sqrt(1 / CENTER**2 + 1 / SCALE**2 + RADIUS**2 / FIT.sigma**2))
    together = promised("center", "scale", "fit")
    assert whole.epsilon(DELTA) <= together.epsilon(DELTA) < whole.epsilon(DELTA) * (1 + 2e-6)
    assert together.epsilon(DELTA) == pytest.approx(0.50562, abs=5e-6)
    assert FIT.epsilon(DELTA) == pytest.approx(0.45530, abs=5e-6)
    assert promised("center", "fit").epsilon(DELTA) == pytest.approx(0.49059, abs=5e-6)
    assert promised("scale", "fit").epsilon(DELTA) == pytest.approx(0.47126, abs=5e-6)
    assert group(together, 3).epsilon(DELTA) == pytest.approx(Gaussian(whole.sigma / 3).epsilon(DELTA), rel=1e-6)


def test_a_replaced_row_moves_the_second_sum_by_the_root_of_two_and_not_by_two():
    """Two rows of the positive orthant: at right angles they are farthest apart."""
    rng = np.random.default_rng(0)
    rows = np.abs(rng.standard_normal((2, 5000, 3)) * 10.0 ** rng.uniform(-6, 0, (2, 5000, 3)))
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    apart = np.linalg.norm(rows[0] - rows[1], axis=-1)
    assert apart.max() <= math.sqrt(2) * (1 + 1e-12)
    assert apart.max() > 0.99 * math.sqrt(2)
    one = {"adjacency": "replace one row"}
    exact = compose(Gaussian(CENTER, 2.0, **one), Gaussian(SCALE, math.sqrt(2), **one), replace_one(symmetrised(FIT)))
    assert exact.epsilon(DELTA) == pytest.approx(1.06332, abs=5e-6)
    assert exact.epsilon(DELTA) < replace_one(promised("center", "scale", "fit")).epsilon(DELTA)
