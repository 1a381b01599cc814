"""The README's blocks that quote stored results: methods of Figure 2, the verdict on the claim, other libraries.

python -m benchmarks.readme_tables          # writes them anew between their markers
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.learners import markdown
from objpert_core.experiments import results, tables
from objpert_core.experiments.methods import DISHONEST

README = Path(__file__).parents[1] / "README.md"
DATA, TARGETS = {"adult": "Adult", "synthetic-l": "Synthetic-L"}, (0.1, 1.0, 8.0)
LABELS = {
    "non-private": "no privacy (scikit-learn)",
    "dpsgd-dishonest-rdp": "DP-SGD, unpaid, Rényi",
    "dpsgd-dishonest-pld": "DP-SGD, unpaid, PLD",
    "dpsgd-dishonest-large": "DP-SGD, unpaid, PLD, batch 4096, fine grid",
    "dpsgd-honest": "DP-SGD, tuning paid for",
    "published": "Algorithm 1 as published",
    "tight": "**Algorithm 1, our bound and defaults**",
    "output": "output perturbation",
    "kifer2012": "Algorithm 1, bound of Kifer et al. 2012",
    "tight-no-margin": "for comparison: ours without the margin",
    "dpsgd-margin": "for comparison: the DP-SGD of batch 4096 with the margin",
}


def blocks() -> dict[str, str]:
    """Marker's name → what stands between the markers."""
    return {"figure2": _table(), "verdict": _verdicts(), "learners": _learners()}


def _table() -> str:
    points = {
        (dataset, point.method, point.epsilon): point
        for dataset in DATA
        for point in tables.summary(results.load(dataset))
    }
    paper = {(number.dataset, number.method, number.epsilon): number.accuracy for number in tables.PAPER}
    heads = [f"{name}, ε = {target:g}" for name in DATA.values() for target in TARGETS]
    lines = ["| | " + " | ".join(heads) + " | seconds |", "|---" * (len(heads) + 2) + "|"]
    for method in LABELS:
        cells = []
        for dataset in DATA:
            for target in TARGETS:
                at = float("inf") if method == "non-private" else target
                point = points.get((dataset, method, at))
                cell = "–" if point is None else tables.accuracy_text(point.accuracy)
                printed = paper.get((dataset, method, target))
                cells.append(cell + (f" (paper {100 * printed:.2f})" if printed else ""))
        timed = points.get(("adult", method, float("inf") if method == "non-private" else 1.0))
        seconds = "–" if timed is None else f"{timed.seconds.median:.2g}"
        lines.append(f"| {LABELS[method]} | " + " | ".join(cells) + f" | {seconds} |")
    return "\n".join(lines)


def _learners() -> str:
    with (README.parent / "data/results/learners.csv").open(encoding="utf-8") as file:
        return markdown([row for row in csv.DictReader(file) if row["dataset"] == "adult"]).strip()


def _verdicts() -> str:
    lines = [
        "| data set | trials | ours more accurate | not told apart | less accurate | its time ÷ ours "
        "| ours without the margin | the margin for both | the same luck for both | margin and luck for both |",
        "|---" * 10 + "|",
    ]
    for dataset in results.stored():
        stored = results.load(dataset)
        if not (found := tables.claims(stored, rivals=DISHONEST)):
            continue
        trials = max(run.trial for run in stored.runs) + 1
        ratios = [claim.speedup.median for claim in found]
        cells = [dataset, str(trials), *(_at(found, verdict) for verdict in _VERDICTS)]
        cells.append(f"{min(ratios):.2g} to {max(ratios):.2g}")
        for method, rivals in tables.VARIANTS:
            other = tables.claims(stored, method, rivals)
            cells.append(" / ".join(str(_count(other, verdict)) for verdict in _VERDICTS) if other else "–")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


_VERDICTS = ("ahead", "even", "behind")


def _is(claim: tables.Claim, verdict: str) -> bool:
    return verdict == {"unclear": "even"}.get(claim.verdict, claim.verdict)  # here a wide interval counts as any other


def _count(found: Sequence[tables.Claim], verdict: str) -> int:
    return sum(_is(claim, verdict) for claim in found)


def _at(found: Sequence[tables.Claim], verdict: str) -> str:
    targets = ", ".join(f"{claim.epsilon:g}" for claim in found if claim.verdict == verdict)
    return f"{_count(found, verdict)} of {len(found)}" + (f" (ε = {targets})" if verdict != "even" and targets else "")


def filled(text: str) -> str:
    """`text` with every block computed anew."""
    for name, block in blocks().items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text, count = re.subn(pattern, lambda found, b=block: f"{found[1]}{b}\n{found[2]}", text, flags=re.DOTALL)
        assert count == 1, name
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
