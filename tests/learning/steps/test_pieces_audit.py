"""A Monte-Carlo audit of pieces and the fit behind them: what counts and θ leave to be told of a row more.

As `test_standardisation_audit`, whose limits it takes. The data are those of T55, "Tight": rows of both classes that
share no piece, and one row more with the other class. The attacker knows all rows but that one, sees all that is
released, and computes the likelihood ratio.
"""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.learning import LogisticLoss
from objpert_core.learning.objective_perturbation import described, perturb_and_solve_draws
from objpert_core.learning.problem.rows import TableRows
from objpert_core.learning.steps.base import Some
from objpert_core.learning.steps.pieces import Column, Pieces, TableColumns
from tests.learning import test_standardisation_audit as audit
from tests.learning.taking import listening

OTHERS, CELLS = math.sqrt(10), math.sqrt(10 / 3)  # of μ² = 1 the counts take 0.1, 0.3 and 0.1, and the fit a half
PLAN = acc.PieceNoise(OTHERS, CELLS, OTHERS, unknown=1, numbers=1, listed=1)
FIT = acc.ApproximateMinima(acc.ObjectivePerturbation(math.sqrt(2), 4.0), tau=1e-4, sigma_out=0.01)  # λ = 2σ²
COLUMNS = TableColumns((Column(), Column(categories=2)), 3.0)
COPIES, MARGIN = 200, 6.0
X, Y = np.array([[3.0, 0.0], [-40.0, 1.0]]), np.array([-1.0, 1.0])
MORE, LABEL = X[:1], 1.0
DRAWS = 3_500
ASKED = audit.ASKED | {
    "loss": LogisticLoss(MARGIN), "row_norm": "clip", "public_rows": 60, "ranges": COLUMNS, "steps": (PLAN,),
}  # fmt: skip


def log_ratio(statistics, release):
    """The logarithm of the likelihood of both counts and θ with the row more over that without it."""
    total = 0.0
    for statistic, noisy in statistics:
        of_more, *of_rows = (statistic.of(Some(row[None], np.ones(1))) for row in (MORE[0], *X))
        moved, deviations = np.flatnonzero(of_more), np.concatenate([np.full(size, s) for s, size in statistic.noise])
        residual = (noisy - COPIES * sum(of_rows))[moved]
        total += audit._gaussian(residual / deviations[moved], 1 / deviations[moved], 1.0)
    coded = Pieces.read(release.published["pieces_"]).seen(TableRows(np.vstack([X, MORE])))
    *rows, of_more = coded.matrix[:] * coded.factors[:, None]
    return total + of_fit(np.array(rows), np.full(len(X), float(COPIES)), of_more, release.theta)


def of_fit(w, copies, of_more, theta):
    """The same of the fit, as in `audit._of_fit`, with another margin and mechanism."""
    right, right_of_more = (1 / (1 + np.exp(y * (one @ theta) - MARGIN)) for one, y in ((w, Y), (of_more, LABEL)))
    lam, sigma = FIT.objective.lam, FIT.objective.sigma
    linear = (copies * right * Y) @ w - lam * theta
    curvature = lam * np.eye(len(theta)) + (w.T * (copies * right * (1 - right))) @ w
    bend = right_of_more * (1 - right_of_more) * of_more @ np.linalg.solve(curvature, of_more)
    return audit._gaussian(linear, -LABEL * right_of_more * of_more, sigma) + math.log1p(bend)


@lru_cache(maxsize=4)
def audited(draws, quieter=1.0):
    """Log-likelihood ratios of releases without the row more, and with it; and the certificate's own mechanism.

    All by the real code, but that the noise of the counts is so many times the promised one.
    """

    def with_noise(statistic):
        return replace(statistic, noise=tuple((quieter * sigma, size) for sigma, size in statistic.noise))

    ratios = []
    with listening(acc.PieceNoise, with_noise) as heard:
        for with_more in (False, True):
            rows = np.vstack([np.repeat(X, COPIES, axis=0), MORE[:with_more]])
            targets = np.append(np.repeat(Y, COPIES), [LABEL] * with_more)
            heard.clear()
            state = np.random.RandomState(int(with_more))
            releases = perturb_and_solve_draws(*described(TableRows(rows), targets, FIT, **ASKED), FIT, [state] * draws)
            seen = zip(heard[::2], heard[1::2], releases, strict=True)
            ratios.append(np.array([log_ratio(both, release) for *both, release in seen]))
    certificate = releases[0].certificate
    return ratios, certificate.accounted(certificate.rebuild())


@pytest.mark.no_cover
@pytest.mark.slow
def test_pieces_and_fit_keep_their_promise_and_one_that_leaves_out_a_count_is_refuted():
    ratios, promised = audited(DRAWS)
    assert audit.excess(ratios, promised) <= 0
    drift = float(np.mean(ratios[1]) - np.mean(ratios[0]))  # μ² where the losses are normal
    assert drift == pytest.approx(1.0, abs=0.05)
    magnitudes, _, categories = PLAN.mechanisms()
    left_out = acc.composed_fit(FIT, (magnitudes, categories))
    assert 0.7 < left_out.epsilon(0.05) / promised.epsilon(0.05) < 0.8
    print(audit.excess(ratios, promised), audit.excess(ratios, left_out), drift)
    assert audit.excess(ratios, left_out) > 0


@pytest.mark.no_cover
@pytest.mark.slow
def test_the_audit_convicts_counts_with_half_the_noise():
    ratios, promised = audited(800, quieter=0.5)
    assert audit.excess(ratios, promised) > 0
