"""Accounting next to dp-accounting, autodp and prv-accountant: accuracy, width of the bounds and time in one process.

    python3 -m venv ../venv-peers
    ../venv-peers/bin/pip install -r requirements.txt mpmath dp-accounting==0.6.0 autodp==0.2.3.1 prv-accountant==0.2.0
    ../venv-peers/bin/python -m benchmarks.accounting [--write data/results/accounting.csv] [--only renyi dpsgd …]

The peers have their own environment so that ours need not agree with theirs; those that cannot be imported are
reported as not installed. One thread; times are processor time, so that others on the machine do not count: medians
of several runs after one that warms up, our caches emptied before each. `ratio` is the library's time divided by ours
for the same question.

renyi     one step's Rényi curve at many orders; `error` is the largest relative error against mpmath at 50 digits,
          `valid` whether no value is too small (it is used as an upper bound)
dpsgd     ε at δ = 1e-5 of 8,520 DP-SGD steps at q = 0.0071; `width` is (upper − lower)/upper, `valid` whether the
          interval meets ours
fits      ε at δ = 1e-5 of 1,000 objective-perturbation fits. No library has the mechanism; its privacy loss law (ours)
          is handed to dp-accounting's and prv-accountant's general composition, and the time to evaluate it on
          dp-accounting's grid is not counted as theirs. `valid` as before
gaussian  k Gaussian mechanisms, which are one with σ/√k: `error` is that of the upper bound, `valid` whether the
          truth is inside. Ours is the closed form, so a rate of 1 − 2⁻⁵³ also sends the question through the FFT
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from mpmath import mpf
from threadpoolctl import threadpool_limits

from benchmarks import accounting_peers as peers
from benchmarks.accounting_truth import gaussian_epsilon, subsampled_gaussian_rdp
from benchmarks.shared import commit, empty_caches, markdown
from objpert_core import _provenance
from objpert_core.accounting import DPSGD, Gaussian, Mechanism, ObjectivePerturbation, repeat

DELTA = 1e-5
WHOLE = [float(order) for order in range(2, 257)]
FRACTIONAL = [1.05, 1.1, 1.25, 1.5, 1.75, 2.25, 2.5, 3.3, 4.7, 5.5, 7.7, 10.9, 16.5, 24.1, 32.7, 47.3, 59.3, 63.9]
SUBSAMPLED = ((0.0071, 1.0), (0.01, 4.0), (1e-4, 0.5), (0.4, 12.0))
SGD_RATE, SGD_STEPS, SGD_NOISE = 0.0071, 8520, (0.7, 1.0, 2.0)
FITS, FIT_SIGMA, FIT_LAM = 1000, 300.0, 1000.0
GAUSSIAN_SIGMA, GAUSSIAN_COUNTS = 100.0, (1, 10, 100, 1000, 10_000)
TARGET = 1e-3  # width of the bounds, relative to ε
FINE_INTERVALS = {"glm": 3e-6, "logistic": 1e-6}  # at which dp-accounting is as narrow, for the fits
NEARLY_ONE = 1 - 2.0**-53
ROUNDING = 1e-9  # relative: a bound that misses the truth by less is not called invalid
PRV_ERRORS = (0.1, 0.01)  # its default, and one that makes its interval narrow
MOST_RUNS, FEWEST_RUNS, PATIENCE = 7, 3, 0.5  # slower than PATIENCE seconds: the fewest


@dataclass
class Row:
    """One library's answer to one question; what does not apply is empty."""

    part: str
    case: str
    library: str
    call: str
    lower: Any = ""
    upper: Any = ""
    width: Any = ""
    error: Any = ""
    valid: Any = ""
    seconds: Any = ""
    runs: Any = ""
    ratio: Any = ""
    note: str = ""


def timed(run: Callable[..., Any], *arguments: Any) -> tuple[Any, float, int]:
    """(result, median seconds of processor time, runs) after one run that warms up."""
    times: list[float] = []
    runs = MOST_RUNS
    while len(times) <= runs:
        empty_caches()
        start = time.process_time()
        result = run(*arguments)
        times.append(time.process_time() - start)
        runs = MOST_RUNS if times[0] < PATIENCE else FEWEST_RUNS
    return result, statistics.median(times[1:]), runs


@dataclass
class Case:
    """One question put to everybody; the first who is asked is us."""

    part: str
    name: str
    rows: list[Row] = field(default_factory=list)

    def ask(self, library: str, call: str, run: Callable[..., Any], *arguments: Any) -> tuple[Row, Any]:
        """The timed row and the result; (row with a note, None) where the library is missing or fails."""
        row = Row(self.part, self.name, library, call)
        self.rows.append(row)
        if library in peers.PEERS and peers.version(library) is None:
            row.note = f"not installed: {peers.INSTALL}"
            return row, None
        try:
            result, row.seconds, row.runs = timed(run, *arguments)
        except Exception as error:  # a peer's failure is a result, ours is not
            if library not in peers.PEERS:
                raise
            row.note = f"{type(error).__name__}: {error}"
            return row, None
        row.ratio = row.seconds / self.rows[0].seconds
        return row, result

    def ask_bounds(self, library: str, call: str, run: Callable[..., Any], *arguments: Any) -> Row:
        """The same for an answer (lower, upper), either of which may be None."""
        row, bounds = self.ask(library, call, run, *arguments)
        if bounds is not None:
            low, high = bounds
            row.lower, row.upper = ("" if low is None else low), ("" if high is None else high)
            if low is not None and high is not None:
                row.width = (high - low) / high
        return row

    def compare_with_ours(self) -> None:
        """`valid`: whether an interval meets ours, where there is no truth to compare with."""
        ours = self.rows[0]
        for row in self.rows[1:]:
            if row.lower != "" or row.upper != "":
                above = row.upper == "" or ours.lower <= row.upper
                row.valid = bool(above and (row.lower == "" or row.lower <= ours.upper))


def our_curve(orders: Sequence[float], q: float, sigma: float) -> np.ndarray:
    return DPSGD(sigma, q, 1).rdp(np.array(orders))


def our_sgd(q: float, sigma: float, steps: int, *width: float) -> tuple[float, float]:
    return DPSGD(sigma, q, steps).epsilon_bounds(DELTA, *width)


def our_repeat(mechanism: Mechanism, k: int, *width: float) -> tuple[float, float]:
    return repeat(mechanism, k).epsilon_bounds(DELTA, *width)


def renyi() -> Iterator[Case]:
    for q, sigma in SUBSAMPLED:
        for orders, kind in ((WHOLE, "whole orders 2–256"), (FRACTIONAL, "fractional orders")):
            case = Case("renyi", f"q = {q:g}, σ = {sigma:g}, {len(orders)} {kind}")
            exact = subsampled_gaussian_rdp(orders, q, sigma)
            for library, (call, run) in {"objpert": ("DPSGD(σ, q, 1).rdp(orders)", our_curve), **peers.RDP}.items():
                row, values = case.ask(library, call, run, orders, q, sigma)
                if values is not None:
                    errors = [float(mpf(float(v)) / t - 1) for v, t in zip(values, exact, strict=True)]
                    row.error = max(errors, key=abs)
                    row.valid = min(errors) >= -ROUNDING
            yield case


def dpsgd() -> Iterator[Case]:
    for sigma in SGD_NOISE:
        case = Case("dpsgd", f"q = {SGD_RATE:g}, {SGD_STEPS} steps, noise multiplier {sigma:g}")
        what = (SGD_RATE, sigma, SGD_STEPS)
        case.ask_bounds("objpert", "DPSGD(…).epsilon_bounds(δ)", our_sgd, *what)
        call = f"DPSGD(…).epsilon_bounds(δ, relative_width={TARGET:g})"
        case.ask_bounds("objpert", call, our_sgd, *what, TARGET)
        call = "PLDAccountant() (pessimistic, interval 1e-4)"
        case.ask_bounds("dp-accounting", call, peers.dp_accounting_sgd_upper, *what, DELTA)
        call = "from_gaussian_mechanism, optimistic and pessimistic"
        case.ask_bounds("dp-accounting", call, peers.dp_accounting_gaussian, *what, DELTA)
        for error in PRV_ERRORS:
            call = f"PRVAccountant(eps_error={error:g}, delta_error=δ/1000)"
            row = case.ask_bounds("prv-accountant", call, peers.prv_sgd, *what, DELTA, error)
            row.note = row.note or "removal of a row only"
        case.ask_bounds("autodp", "NoisySGD_Mechanism (Rényi)", peers.autodp_sgd, *what, DELTA)
        case.compare_with_ours()
        yield case


def fits() -> Iterator[Case]:
    for bound in ("glm", "logistic"):
        fit = ObjectivePerturbation(FIT_SIGMA, FIT_LAM, bound=bound)
        shape = f"σ = {fit.sigma:g}, λ = {fit.lam:g}, β = {fit.smoothness:g}"
        case = Case("fits", f"{FITS} fits, bound {bound!r}, {shape}")
        case.ask_bounds("objpert", "repeat(m, k).epsilon_bounds(δ)", our_repeat, fit, FITS)
        call = f"repeat(m, k).epsilon_bounds(δ, relative_width={TARGET:g})"
        case.ask_bounds("objpert", call, our_repeat, fit, FITS, TARGET)
        call = "connect-the-dots from our profile (interval 1e-4, pessimistic), self_compose"
        case.ask_bounds("dp-accounting", call, peers.dp_accounting_fits_upper, peers.law_on_grid(fit), FITS, DELTA)
        call = "the same and from_two_probability_mass_functions of our law (optimistic)"
        case.ask_bounds("dp-accounting", call, peers.dp_accounting_fits, fit, peers.law_on_grid(fit), FITS, DELTA)
        call = f"the same at interval {FINE_INTERVALS[bound]:g}"
        grid = peers.law_on_grid(fit, FINE_INTERVALS[bound])
        case.ask_bounds("dp-accounting", call, peers.dp_accounting_fits, fit, grid, FITS, DELTA)
        call = "from_gaussian_mechanism of equal σ (optimistic and pessimistic), self_compose: for the time alone"
        row = case.ask_bounds("dp-accounting", call, peers.dp_accounting_gaussian, 1.0, fit.sigma, FITS, DELTA)
        row.lower = row.upper = row.width = ""
        for error in PRV_ERRORS:
            call = f"PRVAccountant of our law's distribution function (eps_error={error:g}, delta_error=δ/1000)"
            case.ask_bounds("prv-accountant", call, peers.prv_fits, fit, FITS, DELTA, error)
        case.compare_with_ours()
        yield case


def gaussian() -> Iterator[Case]:
    sigma = GAUSSIAN_SIGMA
    for k in GAUSSIAN_COUNTS:
        case = Case("gaussian", f"{k} Gaussian mechanisms, σ = {sigma:g}")
        case.ask_bounds("objpert", "DPSGD(σ, 1 − 2⁻⁵³, k).epsilon_bounds(δ)", our_sgd, NEARLY_ONE, sigma, k)
        case.ask_bounds("objpert", "repeat(Gaussian(σ), k).epsilon_bounds(δ)", our_repeat, Gaussian(sigma), k)
        call = "from_gaussian_mechanism, optimistic and pessimistic"
        case.ask_bounds("dp-accounting", call, peers.dp_accounting_gaussian, 1.0, sigma, k, DELTA)
        for error in PRV_ERRORS:
            call = f"PRVAccountant(eps_error={error:g}, delta_error=δ/1000)"
            case.ask_bounds("prv-accountant", call, peers.prv_gaussian, sigma, k, DELTA, error)
        truth = gaussian_epsilon(DELTA, sigma / k**0.5)
        for row in case.rows:
            if row.upper != "":
                row.error = float(mpf(row.upper) / truth - 1)
                row.valid = bool(row.lower <= truth * (1 + ROUNDING) and row.upper >= truth * (1 - ROUNDING))
        yield case


PARTS = {"renyi": renyi, "dpsgd": dpsgd, "fits": fits, "gaussian": gaussian}


def provenance() -> dict[str, str]:
    theirs = [f"{name} {peers.version(name) or 'not installed'}" for name in peers.PEERS]
    return {
        "command": "python -m benchmarks.accounting " + " ".join(sys.argv[1:]),
        "versions": ", ".join([_provenance.versions(np, scipy), *theirs]),
        "commit": commit(),
        "machine": f"{_provenance.machine()}, 1 thread used",
    }


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(case: Case) -> str:
    """One case as Markdown."""
    heads = ("lower", "upper", "width", "error", "valid", "seconds", "ratio", "note")
    rows = [[f"{row.library}: {row.call}", *(shown(getattr(row, head)) for head in heads)] for row in case.rows]
    return markdown(["", *heads], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    source = provenance()
    rows: list[Row] = []
    with threadpool_limits(1):
        for part in options.only:
            for case in PARTS[part]():
                print(f"\n**{case.part}: {case.name}**\n\n{table(case)}", flush=True)
                rows += case.rows
    print("\n" + "; ".join(f"{name}: {value}" for name, value in source.items()))
    if options.write:
        stored = [{name: f"{v:.9g}" if isinstance(v, float) else v for name, v in asdict(row).items()} for row in rows]
        _provenance.write_table(options.write, ({**row, **source} for row in stored))


if __name__ == "__main__":
    main()
