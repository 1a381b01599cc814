"""The README's blocks that quote data/results/figure2_*.csv: a table of methods, and the verdict on the claim.

python -m benchmarks.readme_tables          # writes them anew between their markers
"""

import re
from pathlib import Path

from objpert_core.experiments import results, tables
from objpert_core.experiments.methods import DISHONEST, METHODS, TIGHT_DISHONEST

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
}


def blocks() -> dict[str, str]:
    """Marker's name → what stands between the markers."""
    return {"figure2": _table(), "verdict": _verdicts()}


def _table() -> str:
    points = {
        (dataset, point.method, point.epsilon): point
        for dataset in DATA
        for point in tables.summary(results.load(dataset))
    }
    paper = {(number.dataset, number.method, number.epsilon): number.accuracy for number in tables.PAPER}
    heads = [f"{name}, ε = {target:g}" for name in DATA.values() for target in TARGETS]
    lines = ["| | " + " | ".join(heads) + " | seconds |", "|---" * (len(heads) + 2) + "|"]
    for method in METHODS:
        cells = []
        for dataset in DATA:
            for target in TARGETS:
                at = float("inf") if method == "non-private" else target
                point = points.get((dataset, method, at))
                cell = "–" if point is None else tables.accuracy_text(point.accuracy)
                printed = paper.get((dataset, method, target))
                cells.append(cell + (f" (paper {100 * printed:.2f})" if printed else ""))
        timed = points.get(("adult", method, float("inf") if method == "non-private" else 1.0))
        seconds = "–" if timed is None else f"{timed.seconds.mean:.2g}"
        lines.append(f"| {LABELS[method]} | " + " | ".join(cells) + f" | {seconds} |")
    return "\n".join(lines)


def _verdicts() -> str:
    lines = []
    for dataset in results.stored():
        stored = results.load(dataset)
        trials = max((run.trial for run in stored.runs), default=0) + 1
        found = tables.claims(stored, rivals=DISHONEST)
        if found:
            lines.append(f"* **{dataset}** ({trials} {'trial' if trials == 1 else 'trials'}). {tables.verdict(found)}")
        if luck := tables.claims(stored, TIGHT_DISHONEST):
            lines.append(f"  The same luck for both: {tables.verdict(luck)}")
    return "\n".join(lines)


def filled(text: str) -> str:
    """`text` with every block computed anew."""
    for name, block in blocks().items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text, count = re.subn(pattern, lambda found, b=block: f"{found[1]}{b}\n{found[2]}", text, flags=re.DOTALL)
        assert count == 1, name
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
