"""Writes oracle_values.json: 40-digit values of every bound over wide random grids, for the fast tests to compare with.

`python -m tests.accounting.oracle_table` takes about a quarter of an hour; the slow tests recompute a sample of it.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp, mpf

from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation
from tests.accounting import oracles

TABLE = Path(__file__).with_name("oracle_values.json")
Row = dict[str, Any]


def mechanism(row: Row) -> ObjectivePerturbation | ApproximateMinima:
    objective = ObjectivePerturbation(
        row["sigma"], row["lam"], row["lipschitz"], row["smoothness"], row["bound"], row.get("dimension")
    )
    return ApproximateMinima(objective, row["tau"], row["sigma_out"]) if "tau" in row else objective


def exact(row: Row) -> mpf:
    """The oracle's δ at ε = row["at"], or Rényi divergence at α = row["at"]."""
    bound, at = row["bound"], row["at"]
    sigma, lam, size, beta = (mpf(row[name]) for name in ("sigma", "lam", "lipschitz", "smoothness"))
    a, kappa = size / sigma, size**2 / lam
    shift = mp.log1p(beta / lam) if bound == "monotone" else -mp.log1p(-beta / lam) if lam > beta else mp.inf
    a_out = 2 * mpf(row["tau"]) / lam / mpf(row["sigma_out"]) if "tau" in row else mpf(0)
    if row["what"] == "rdp":
        alpha = mpf(at)
        value = {
            "logistic": lambda: oracles.TightLaw(a, kappa).rdp(at),
            "monotone": lambda: oracles.positive_gaussian_rdp(at, a, shift),
            "glm": lambda: oracles.half_normal_rdp(at, a, shift),
            "non-glm": lambda: oracles.non_glm_rdp(at, a, shift, row["dimension"]),
        }[bound]()
        return value + alpha * a_out**2 / 2
    if not a_out:
        return {
            "logistic": lambda: oracles.TightLaw(a, kappa).delta(at),
            "monotone": lambda: oracles.positive_gaussian_delta(at, a, shift),
            "glm": lambda: oracles.half_normal_delta(at, a, shift),
            "kifer2012": lambda: oracles.kifer_delta(at, sigma, lam, beta, size),
        }[bound]()
    crossing = (mpf(at) - shift) / a - a / 2
    if bound == "logistic":
        return oracles.TightLaw(a, kappa).delta_with_gaussian(at, a_out)
    if bound == "monotone":
        return oracles.with_gaussian(
            lambda v: shift + max(mpf(0), a * (a / 2 + v)), at, a, a_out, corners=[-a / 2, crossing]
        )
    return 2 * oracles.with_gaussian(lambda v: shift + a * (a / 2 + v), at, a, a_out, corners=[crossing], low=0)


def _draw(rng: np.random.Generator, output: bool) -> tuple[Row, ObjectivePerturbation]:
    """Parameters over the whole promised range, with the seams λ = 2σ² and λ = β more often than chance has them."""
    sigma, lam = 10 ** rng.uniform(-3, 6), 10 ** rng.uniform(-6, 9)
    if output or rng.random() < 0.3:
        sigma, lam = 10 ** rng.uniform(-1, 2.5), 10 ** rng.uniform(-2, 3)
    size = float(rng.choice([1.0, 2**0.5, 0.1, 10.0]))
    if rng.random() < 0.15:
        lam = 2 * sigma**2 * (1 + float(rng.choice([-1, 1])) * 10 ** rng.uniform(-12, -0.5))
    beta = size**2 / 4 * float(rng.choice([1.0, 1.0, 0.01, 4.0]))
    row: Row = {"sigma": sigma, "lam": lam, "lipschitz": size, "smoothness": beta}
    if output:
        tau = 10 ** rng.uniform(-8, -1)
        row |= {"tau": tau, "sigma_out": 2 * tau / lam / (size / sigma * 10 ** rng.uniform(-6, 1))}
    return row, ObjectivePerturbation(sigma, lam, size, beta)


def _epsilon(rng: np.random.Generator, row: Row) -> float | None:
    """An ε in [0, 1000] with 1e-280 < δ < 1; the package only suggests where to look."""
    kind = rng.random()
    if kind < 0.1:
        return 0.0
    if kind < 0.3:
        return float(10 ** rng.uniform(-6, 2.84))
    if kind < 0.4 and row["bound"] == "logistic":
        threshold = row["lipschitz"] ** 2 * (1 / row["lam"] - 0.5 / row["sigma"] ** 2)
        return threshold * float(rng.choice([0.3, 0.9, 0.999, 1.0, 1.001])) if threshold > 0 else None
    if row["bound"] == "kifer2012":
        least = 2 * row["smoothness"] / row["lam"]
        return least * float(rng.choice([0.9, 1.001, 3.0])) + row["lipschitz"] / row["sigma"] * float(
            rng.uniform(5, 50)
        )
    log_delta = -float(rng.choice([rng.uniform(0.01, 30), rng.uniform(30, 640)]))
    value = mechanism(row).epsilon(math.exp(log_delta))
    return float(value)


def main(seconds: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, rows = time.time(), []
    plan = [("delta", "logistic", False)] * 4 + [("delta", b, False) for b in ("monotone", "glm", "kifer2012")] * 2
    plan += [("rdp", b, False) for b in ("logistic", "logistic", "monotone", "glm", "non-glm", "non-glm", "non-glm")]
    plan += [("delta", b, True) for b in ("logistic", "logistic", "monotone", "glm")] + [("rdp", "glm", True)]
    step = 0
    while time.time() - start < seconds:
        what, bound, output = plan[step % len(plan)]
        step += 1
        row, _ = _draw(rng, output)
        row |= {"what": what, "bound": bound}
        if bound in ("glm", "non-glm") and row["lam"] <= row["smoothness"]:
            row["lam"] = row["smoothness"] * (1 + float(10 ** rng.uniform(-6, 2)))
        if bound == "non-glm":
            row["dimension"] = int(rng.choice([1, 2, 3, 20, 500]))
        if what == "rdp":
            row["at"] = float(rng.choice([1.0, 1 + 10 ** rng.uniform(-9, 0), 1 + 10 ** rng.uniform(0, 6)]))
            if bound == "non-glm" and (row["at"] - 1) * row["lipschitz"] / row["sigma"] > 1e4:
                continue  # the hypergeometric oracle takes too long there
        else:
            epsilon = _epsilon(rng, row)
            if epsilon is None or not epsilon <= 1000:
                continue
            row["at"] = epsilon
        value = exact(row)
        if value < mpf(10) ** -280:
            continue
        rows.append({**row, "value": mp.nstr(value, 20)})
    rows.sort(key=lambda row: (row["what"], row["bound"], "tau" in row))
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 900.0, 20230)
