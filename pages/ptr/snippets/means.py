from objpert_core.experiments.ptr import stored

found, setting = stored.load(EXPERIMENT), SETTING
means = {method: found.interval(**setting, method=method).mean for method in METHODS}
print(means)
