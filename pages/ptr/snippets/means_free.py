from objpert_core.experiments.ptr import stored

found, setting = stored.load(EXPERIMENT), SETTING
means = {method: found.interval(**setting, method=method).mean for method in METHODS}
for method in FREE:
    means[method] = found.interval(**setting | {COLUMN: float("inf")}, method=method).mean
print(means)
