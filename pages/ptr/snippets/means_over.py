from objpert_core.experiments.ptr import stored

found, setting = stored.load(EXPERIMENT), SETTING
means = {
    method: max(
        found.interval(**setting, method=method, lam=one).mean
        for one in found.cells(OVER)
        if found.values(**setting, method=method, lam=one)
    )
    for method in METHODS
}
print(means)
