# %% solvers
from objpert_core.experiments.studies.solver_costs import Case
from objpert_core.learning import solve

case = Case(n=ROWS, lam=LAM, sigma=SIGMA, columns=COLUMNS, seed=SEED)
objective = case.objective()
limits = LIMITS
results = {name: solve(objective, tau=TAU, solver=name, max_iter=limit) for name, limit in limits.items()}
for name, result in results.items():
    print(name, result.gradient_evaluations, result.gradient_norm, result.converged)
