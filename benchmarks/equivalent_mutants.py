"""Mutants that change nothing a test could see, each with the reason: somebody looked at them one by one."""

_NO_CHANGE = (
    (
        "objpert_core/accounting/convolution/plan.py",
        "left, right = _window(centred, steps, theta, rates, max(weight_at_mean - log_delta + _LOST_NATS, 0.0))",
        "left, right = _window(centred, steps, theta, rates, max(weight_at_mean - log_delta + _LOST_NATS, 1.0))",
        "how wide the window is; what it leaves out is measured",
    ),
    (
        "objpert_core/accounting/dp_sgd/allocation_sums.py",
        "_TIMES = np.geomspace(0.02, 50.0, 40)",
        "_TIMES = np.geomspace(0.02, 50.0, 39)",
        "rates to choose from; every rate gives a bound",
    ),
    (
        "objpert_core/learning/certificates/model.py",
        "scale is None or bool(np.all((scale > 0) & (scale <= SCALE_FLOOR**-0.5 * (1 + _SLACK))))",
        "scale is None or bool(np.all((scale > 0) & (scale < SCALE_FLOOR**-0.5 * (1 + _SLACK))))",
        "the slack is for rounding and ends nowhere in particular",
    ),
    (
        "objpert_core/learning/draws.py",
        "found = self._found_by_maps(first.objective(drawn[0], loss(first.rows)), maps, drawn, noise.tau)",
        "found = self._found_by_maps(first.objective(drawn[ 1], loss(first.rows)), maps, drawn, noise.tau)",
        "the linear term is left out, and what else differs ends the search before",
    ),
    (
        "objpert_core/accounting/distance.py",
        "_LOWER = np.linspace(0.0, 1.0, 13)  # panels for G < 0, in the bulk of v and again beyond it",
        "_LOWER = np.linspace(0.0, 1.0, 12)  # panels for G < 0, in the bulk of v and again beyond it",
        "moves a distance by 1e-12; the promise is 1e-7",
    ),
    (
        "objpert_core/learning/posterior/shares.py",
        "enough = leverage <= LARGEST_LEVERAGE and self._precision(leverage, 1.0) > 0",
        "enough = leverage < LARGEST_LEVERAGE and self._precision(leverage, 1.0) > 0",
        "one float of a noisy number, where both λ keep the share",
    ),
    (
        "objpert_core/learning/posterior/factor.py",
        "if 2 * max(np.abs(left)) >= max(np.abs(residual)):  # also where nothing is left",
        "if 1 * max(np.abs(left)) >= max(np.abs(residual)):  # also where nothing is left",
        "refines longer; the error is of what is left",
    ),
    (
        "objpert_core/learning/solvers/batched_newton.py",
        "return replace(first, linear=np.zeros(first.dimension)) if others else first",
        "return replace(first, linear=np.zeros(first.dimension)) if not others else first",
        "where a search begins; its end is checked",
    ),
    (
        "objpert_core/accounting/ptr/votes.py",
        "gaps = np.arange(first, last + 2)",
        "gaps = np.arange(first, last + 1)",
        "one gap more than errs: it promises 0",
    ),
    (
        "objpert_core/learning/solvers/second_order.py",
        "break",
        "continue",
        "gives up later: the same step until no iteration is left",
    ),
    (
        "objpert_core/learning/solvers/second_order.py",
        "length = 1.0",
        "length = 2.0",
        "where a search along a line begins",
    ),
    (
        "objpert_core/accounting/quadratic/wishart_published.py",
        "_SHARES, _LEVELS = 48, 40  # of ε₁ and of log δ₄ that are tried, three times over; of ε₁ at first more",
        "_SHARES, _LEVELS = 48, 39  # of ε₁ and of log δ₄ that are tried, three times over; of ε₁ at first more",
        "shares to choose from; every one is the published promise",
    ),
    (
        "objpert_core/accounting/mechanisms/composition.py",
        "matters = np.flatnonzero(~(sums.chernoff_bound(side, epsilon, float(high.min())) < low))",
        "matters = np.flatnonzero(~(sums.chernoff_bound(side, epsilon, float(high.min())) <= low))",
        "a side that equals what is known changes nothing",
    ),
    (
        "objpert_core/learning/draws.py",
        "first = self.fits[0].learning_from(maps[0], directions.learned(maps[0]))",
        "first = self.fits[ 1].learning_from(maps[0], directions.learned(maps[0]))",
        "the fits differ by their sources, and the search reads none",
    ),
    (
        "objpert_core/accounting/posterior/adaptive_sampling.py",
        "chord = low - at_low * (high - low) / (at_high - at_low)",
        "chord = low + at_low * (high - low) / (at_high - at_low)",
        "where to look next; halving alone arrives, too",
    ),
    (
        "objpert_core/accounting/convolution/plan.py",
        "if any(loss.log_certain() > -np.inf for loss, _ in steps):"
        "  # finite losses may then fall off but like e^{−θω}",
        "if any(loss.log_certain() > np.inf for loss, _ in steps):  # finite losses may then fall off but like e^{−θω}",
        "tilts to choose from; every tilt gives a bound",
    ),
    (
        "objpert_core/accounting/convolution/plan.py",
        "weight = np.exp(log_weight - logsumexp(log_weight))",
        "weight = np.exp(log_weight + logsumexp(log_weight))",
        "how wide the window is; what it leaves out is measured",
    ),
    (
        "objpert_core/learning/minimum.py",
        "_MUCH = 2**21  # numbers in the rows, from which on it pays to read them in single precision first",
        "_MUCH = 3**21  # numbers in the rows, from which on it pays to read them in single precision first",
        "when a search begins in single precision; its end is checked",
    ),
    (
        "objpert_core/learning/solvers/ball.py",
        "norm, room = _exact_norm(theta), gamma(4)",
        "norm, room = _exact_norm(theta), gamma( 3)",
        "room for one rounding more than there are",
    ),
    (
        "objpert_core/accounting/gaussian/gdp.py",
        "_FEWEST = 24",
        "_FEWEST = 23",
        "how many points; μ is on the safe side between them",
    ),
    (
        "objpert_core/accounting/objective/one_vs_rest.py",
        "up = 1 + 2.0**-50  # no rounding makes a bound smaller",
        "up = 1 + 2.0**- 51  # no rounding makes a bound smaller",
        "room for more roundings than there are",
    ),
    (
        "objpert_core/accounting/quadratic/calibration.py",
        "best + (above - best) // 3,",
        "best + (above - best) // 4,",
        "where to look next",
    ),
    (
        "objpert_core/accounting/dp_sgd/calibration.py",
        "",
        "def _calibrate_allocation(epsilon: float, delta: float, one: RandomAllocation) -> RandomAllocation:",
        "what is found is kept; without that it is found again",
    ),
    (
        "objpert_core/accounting/convolution/sums.py",
        "margin = np.where(log_delta > -np.inf, error * (1 - log_delta), 0.0)",
        "margin = np.where(log_delta > -np.inf, error * (1 - log_delta), 1.0)",
        "a margin of −∞ changes nothing",
    ),
    (
        "objpert_core/accounting/dp_sgd/sampled.py",
        "",
        "class SampledWithoutReplacement(_ByBatches):",
        "its base is a dataclass, and it has no field of its own",
    ),
    (
        "objpert_core/accounting/quadratic/mechanism.py",
        'object.__setattr__(self, "rank", 1)  # of no meaning: equal mechanisms compare equal',
        'object.__setattr__(self, "rank", 2)  # of no meaning: equal mechanisms compare equal',
        "of no meaning there",
    ),
    (
        "objpert_core/accounting/objective/ranges.py",
        "_NOISES = (1e-6, 1e15)  # the least and the largest for which counts and noise have one lattice in 64 bits",
        "_NOISES = (1e-6, 1000000000000001.0)  # the least and the largest for which counts and noise have"
        " one lattice in 64 bits",
        "a round number; 64 bits end beyond",
    ),
    (
        "objpert_core/accounting/convolution/fft.py",
        "thinned = [_Points(part, sign, -(-part.masses.size // _THINNED)) for part in parts]",
        "thinned = [_Points(part, sign, (-part.masses.size // _THINNED)) for part in parts]",
        "points to choose a rate by; every rate gives a bound",
    ),
    (
        "objpert_core/accounting/numerics/tradeoff.py",
        "_DENSE = 161",
        "_DENSE = 160",
        "how many points; the curve is on the safe side between them",
    ),
    (
        "objpert_core/learning/draws.py",
        "and fits <= _MOST_NUMBERS",
        "and fits < _MOST_NUMBERS",
        "a round number; it decides about memory and time",
    ),
    (
        "objpert_core/learning/solvers/first_order.py",
        "break",
        "continue",
        "goes on from below towards the same eigenvalue",
    ),
)
EQUIVALENT = {f"{path}: {before} → {after}": reason for path, before, after, reason in _NO_CHANGE}
"""A mutant's name → why no test can tell it from the original."""
