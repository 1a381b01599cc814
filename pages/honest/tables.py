"""The table of the page "Honest or not", and the Python that gives its numbers."""

from __future__ import annotations

from dataclasses import asdict

from objpert_core._literals import call
from objpert_core.experiments.studies.tuning_runs import FIXED_RATE, Settings, TuningRuns
from pages.honest.words import WAYS
from ui import sentences
from ui.words import given, plus_minus, times


def table(result: TuningRuns) -> list[dict[str, str]]:
    """One row a quantity, one column a way to come by a learning rate."""
    promised = sentences.epsilon(result.settings.epsilon)
    unpaid, paid = sentences.number(result.one.noise_multiplier), sentences.number(result.paid.noise_multiplier)
    unpaid_rates = times([draw.rates[draw.chosen] for draw in result.draws])
    paid_rates = times([draw.runs[draw.released] for draw in result.draws if draw.released is not None])
    counts = ", ".join(str(len(draw.runs)) for draw in result.draws)
    rows = {
        "right on fresh rows": [_mean(result, way) for way in ("fresh", "honest", "fixed")],
        "right, say those who chose": [_mean(result, "judges"), "noisy, not for looking", "nobody chose"],
        "ε promised": [f"{promised} for one run", promised, promised],
        "ε with the choice": [sentences.epsilon(result.true_epsilon), promised, promised],
        "noise multiplier": [unpaid, paid, unpaid],
        "runs": [str(len(result.settings.learning_rates)), f"K = {counts}", "1"],
        "learning rates chosen": [unpaid_rates, paid_rates, f"{FIXED_RATE:g}"],
    }
    return [
        {result.data.label: name, "unpaid": cells[0], "paid": cells[1], "fixed in advance": cells[2]}
        for name, cells in rows.items()
    ]


def _mean(result: TuningRuns, way: str) -> str:
    return plus_minus(given(result.mean(way)))


def snippet(result: TuningRuns) -> str:
    """Python that prints the mean accuracies and every draw's K; defines ``last``."""
    settings = asdict(result.settings) | {"draws": len(result.draws)}
    default = asdict(Settings())
    given = {name: value for name, value in settings.items() if value != default[name]}
    load = call("load", {"name": result.data.name, "split_seed": result.data.split_seed})
    return f"""from objpert_core.datasets import load
from objpert_core.experiments.studies.tuning_runs import Settings, tuning_runs

*_, last = tuning_runs({load}, {call("Settings", given)})
for way in {tuple(WAYS)!r}:
    print(way, last.mean(way).mean)
print("K:", [len(draw.runs) for draw in last.draws], " epsilon of the unpaid noise, choice paid:", last.true_epsilon)
"""
