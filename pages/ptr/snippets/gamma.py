from objpert_core.accounting import PosteriorSampling, posterior_precision, published_posterior_precision

epsilon, delta, leverage = EPSILON, DELTA, LEVERAGE
printed = published_posterior_precision(epsilon, delta, leverage)
exact = posterior_precision(epsilon, delta, leverage)
true_delta = PosteriorSampling(leverage, printed).delta(epsilon) if printed else None
print(printed, exact, true_delta)
