"""A Monte-Carlo audit of private ranges and the fit behind them: what both histograms and θ leave to be told of a row.

As `test_standardisation_audit`, whose limits and whose likelihood of a fit it takes. The attacker knows all rows but
whether there is one more, sees all that is released, and computes the likelihood ratio, written out anew from T1, T47.
"""

import math
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.learning.objective_perturbation import described, perturb_and_solve_draws
from objpert_core.learning.steps import ranges
from tests.learning import test_standardisation_audit as audit
from tests.learning.taking import listening

COLUMNS = 2
PLAN = acc.RangeNoise(math.sqrt(6), math.sqrt(6), COLUMNS)  # a third of μ² = 1 for each, and for the fit
WITHIN = acc.RangeNoise(None, math.sqrt(3), COLUMNS)  # two thirds for one histogram alone, within these limits
LIMITS = ranges.Ranges(np.array([0.0, -100.0]), np.array([10.0, 100.0]))
X = np.repeat([[3.0, -40.0]], 400, axis=0)  # one row more of the other label is the worst there is
MORE = np.array([[3.0, -40.0]])
DRAWS = 1_500
AT_ONCE = 2_500  # draws whose counts are in memory together
FIT = audit.FIT
ASKED = audit.ASKED | {"steps": (PLAN,)}
AT = 0.05  # δ at which ε is compared


@lru_cache(maxsize=8)
def audited(halved=None, draws=DRAWS, plan=PLAN):
    """Log-likelihood ratios of releases without the row more, and with it; and the certificate's own mechanism.

    All by the real code. `halved` names a noise that is half of what is promised. Without a histogram of magnitudes the
    limits are public.
    """
    noise = {"magnitudes": plan.magnitudes, "quantiles": plan.quantiles}
    if halved is not None:
        noise[halved] /= 2
    ratios, known = [], LIMITS if plan.magnitudes is None else None
    per = len(plan.mechanisms())  # histograms of each draw
    by_place, by_magnitude = ranges._by_place, ranges._by_magnitude

    def with_noise(statistic):
        ((_, size),) = statistic.noise
        own = noise["magnitudes" if size // COLUMNS > 100 else "quantiles"]
        return replace(statistic, noise=((own, size),))

    with listening(acc.RangeNoise, with_noise) as heard:
        for with_more in (False, True):
            rows = np.vstack([X, MORE]) if with_more else X
            targets = np.append(np.full(len(X), -1.0), [1.0] * with_more)
            state, found = np.random.RandomState(int(with_more)), []
            for start in range(0, draws, AT_ONCE):
                heard.clear()
                states = [state] * min(AT_ONCE, draws - start)
                problem, terms = described(rows, targets, FIT, **ASKED | {"steps": (plan,)})
                releases = perturb_and_solve_draws(replace(problem, declared=known), terms, FIT, states)
                for place, one in enumerate(releases):
                    total = 0.0
                    seen = heard[place * per : (place + 1) * per]
                    within = known
                    if known is None:
                        counts = seen[0][1].reshape(COLUMNS, -1)
                        ends = ranges.of_magnitudes(counts, PLAN.magnitudes, ASKED["public_rows"])
                        within = ranges.Ranges(*ends)
                    last = partial(by_place, within=within, bins=len(seen[-1][1]) // COLUMNS)
                    counted = [by_magnitude] * (per - 1) + [last]
                    for (statistic, noisy), count in zip(seen, counted, strict=True):
                        of_more = count(MORE).ravel()
                        total += audit._gaussian(noisy - count(X).ravel(), of_more, statistic.noise[0][0])
                    (z,) = ranges.Ranges(*one.published["feature_ranges_"]).apply(MORE)
                    unit = audit._units(z)
                    total += audit._of_fit(unit[None], np.array([-1.0]), np.array([float(len(X))]), unit, 1, one.theta)
                    found.append(total)
            ratios.append(np.array(found))
    certificate = releases[0].certificate
    return ratios, certificate.accounted(certificate.rebuild())


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("plan", [PLAN, WITHIN], ids=["both histograms", "within limits"])
@pytest.mark.parametrize(
    ("draws", "share"), [(DRAWS, 0.5), pytest.param(50_000, 0.9, id="many draws", marks=pytest.mark.exhaustive)]
)
def test_ranges_and_fit_keep_their_promise_and_use_nearly_all_of_it(draws, share, plan):
    ratios, promised = audited(draws=draws, plan=plan)
    at_share = audit.found_at(ratios, share * promised.epsilon(AT))
    print(at_share, promised.epsilon(AT), [float(np.mean(one)) for one in ratios])
    assert audit.excess(ratios, promised) <= 0
    assert at_share >= AT  # for certain: ε is at least this share of what is promised
    drift = float(np.mean(ratios[1]) - np.mean(ratios[0]))  # μ² where the losses are normal
    estimated = acc.Gaussian(1 / math.sqrt(drift)).epsilon(AT)
    assert estimated >= 0.9 * promised.epsilon(AT)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(("halved", "plan"), [("magnitudes", PLAN), ("quantiles", PLAN), ("quantiles", WITHIN)])
def test_the_audit_convicts_half_the_noise(halved, plan):
    ratios, promised = audited(halved, 600, plan)
    assert audit.excess(ratios, promised) > 0
