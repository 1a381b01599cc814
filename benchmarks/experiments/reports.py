"""Stored results as tables: every point, the claim about DP-SGD, and the paper's Tables 1 and 2 beside ours."""

from __future__ import annotations

import math

from objpert_core.experiments.learners import DPSGD_AGAIN, LEARNERS, TIGHT
from objpert_core.experiments.methods import EXPLANATIONS, METHODS
from objpert_core.experiments.paper import ACCURACIES, COLUMNS, PAPER
from objpert_core.experiments.results import Results
from objpert_core.experiments.tables import VARIANTS, accuracy_text, claims, summary, variant, verdict
from objpert_core.tables import to_text, write

_REPORT = "{}: test accuracy in % with its 95 % interval, median seconds of a fit with its tuning"
_PAPER = "{}: test accuracy in % (ours: mean ± 95 % interval; median seconds of a fit with its tuning)"
_CLAIMS = "tight − the best dishonest DP-SGD, in points of accuracy, paired by split; rival's median time ÷ tight's"


def report_rows(results: Results) -> list[dict[str, str]]:
    """A row for every method and ε that was run: accuracy in per cent, seconds, models, MB."""
    return [
        {
            "method": point.method,
            "ε": "–" if math.isinf(point.epsilon) else f"{point.epsilon:g}",
            "trials": str(point.accuracy.count),
            "accuracy": accuracy_text(point.accuracy),
            "seconds": f"{point.seconds.median:.3g}",
            "models": f"{point.runs:.3g}",
            "MB": "" if point.peak_mb is None else f"{point.peak_mb:.1f}",
        }
        for point in summary(results)
    ]


def claim_rows(results: Results) -> list[dict[str, str]]:
    """A row for every ε at which "tight" and a dishonest DP-SGD have trials in common; differences in points."""
    return [
        {
            "ε": f"{claim.epsilon:g}",
            "difference": f"{100 * claim.difference.mean:+.2f}",
            "95 % interval": f"[{100 * claim.difference.low:+.2f}, {100 * claim.difference.high:+.2f}]"
            if claim.difference.known
            else "",
            "tight is": claim.verdict,
            "rival": claim.rival,
            "its time ÷ ours": f"{claim.speedup.median:.3g}",
        }
        for claim in claims(results)
    ]


def paper_rows(results: Results) -> list[dict[str, str]]:
    """The paper's table for this data set (1 or 2) with ours beside it; `ValueError` if the paper prints none."""
    if results.dataset not in ACCURACIES:
        raise ValueError(f"the paper has tables for {', '.join(ACCURACIES)}, got results for {results.dataset!r}")
    points = {(point.method, point.epsilon): point for point in summary(results)}
    wanted = [*COLUMNS.items()]
    wanted += [(method, "") for method in METHODS if method not in COLUMNS and LEARNERS[method].private]
    printed = {(number.method, number.epsilon): number for number in PAPER if number.dataset == results.dataset}
    rows = []
    for epsilon in ACCURACIES[results.dataset]:
        for method, column in wanted:
            number = printed.get((method, epsilon))
            point = points.get((method, epsilon))
            rows.append(
                {
                    "ε": f"{epsilon:g}",
                    "method": method,
                    "the paper": "" if number is None else f"{column} {100 * number.accuracy:.2f}",
                    "ours": "not run" if point is None else accuracy_text(point.accuracy),
                    "seconds": "" if point is None else f"{point.seconds.median:.3g}",
                }
            )
    return rows


def report(results: Results, form: str = "text") -> str:
    """Every point and, as text, every claim, in one of `objpert_core.tables.FORMATS`; no last line feed."""
    return _with_claims(results, report_rows(results), _REPORT.format(results.dataset), form)


def paper_table(results: Results, form: str = "text") -> str:
    """`paper_rows` in one of `objpert_core.tables.FORMATS`."""
    return _with_claims(results, paper_rows(results), _PAPER.format(results.dataset), form)


def _with_claims(results: Results, rows: list[dict[str, str]], caption: str, form: str) -> str:
    table = write(rows, form, caption=caption)
    return "\n".join([table, *_claim_lines(results)]) if form == "text" else table.removesuffix("\n")


def _claim_lines(results: Results) -> list[str]:
    found = claims(results)
    rows = to_text(claim_rows(results), caption=f"{_CLAIMS}:")
    lines = [*rows.splitlines(), verdict(found)]
    told = [found]
    for others in (*(variant(results, words) for words in VARIANTS), claims(results, TIGHT, (DPSGD_AGAIN,))):
        if others and others not in told:  # as they would be where nobody ran what makes the difference
            told.append(others)
            named = [name for name in (others[0].method, others[0].rival) if name in EXPLANATIONS]
            lines += ["", verdict(others), *(f"  ({name}: {EXPLANATIONS[name]})" for name in named)]
    return lines
