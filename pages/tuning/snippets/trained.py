from objpert_core.datasets import load
from objpert_core.experiments.studies.tuning_runs import Settings, tuning_runs

*_, last = tuning_runs(load(name=DATA, split_seed=SPLIT_SEED), Settings(CHANGED))
for way in WAYS:
    print(way, last.mean(way).mean)
print("K:", [len(draw.runs) for draw in last.draws], " epsilon of the unpaid noise, choice paid:", last.true_epsilon)
