"""Python that gives the numbers of the tuning page, from the same parameters the page used."""

from __future__ import annotations

from objpert_core._literals import call
from pages.tuning.numbers import Setting


def tuning(setting: Setting, settings: int) -> str:
    """ε of choosing among `settings` settings under the four ways; defines ``ways`` and the probabilities ``pmf``."""
    base, delta, law = setting.base, setting.delta, setting.law
    accountant = {"accountant": "rdp" if setting.renyi else "pld"}
    run = {"sample_rate": base.sample_rate, "steps": base.steps}
    if base.kind == "dpsgd" and base.epsilon is not None:
        made = call("acc.calibrate_dpsgd", {"epsilon": base.epsilon, "delta": delta} | run | accountant)
    elif base.kind == "dpsgd":
        made = call("acc.DPSGD", {"noise_multiplier": base.noise_multiplier} | run)
    elif base.epsilon is not None:
        target = {"epsilon": base.epsilon, "delta": delta} | (accountant if setting.renyi else {})
        made = call("acc.calibrate_objective_perturbation", target)
    else:
        made = call("acc.ObjectivePerturbation", {"sigma": base.sigma, "lam": base.lam})
    one_run, composed = made, "acc.repeat(acc.symmetrised(one_run), settings)"
    if setting.renyi:
        one_run, composed = f"acc.via_rdp({made})", "acc.via_rdp(acc.repeat(table, settings))"
    if settings == 1:
        composed = "one_run"
    return f"""import numpy as np

import objpert_core.accounting as acc

settings, more, delta, eta = {settings!r}, {law.more!r}, {delta!r}, {law.eta!r}
one_run = {one_run}
table = acc.tabulated(one_run)  # the same curves looked up: valid, quick, and at most 0.1 % above

# K so that Pr[K > settings] = more; eta=None is Poisson
selection = acc.PrivateSelection(table, acc.mean_runs(settings, more, eta), eta)
geometric_mean = acc.mean_runs(settings, more, eta=1)
ways = {{
    "free": one_run.epsilon(delta),
    "composed": {composed}.epsilon(delta),
    "liu_talwar": acc.liu_talwar_epsilon(table, delta, geometric_mean),
    "selection": selection.epsilon(delta),
}}
for way, epsilon in ways.items():
    print(way, epsilon)
pmf = selection.pmf(np.arange(2 * settings + 1))
print("mean of K:", selection.mean_runs, " Pr[K = 0]:", pmf[0])
"""
