"""The words of the page "Will it generalise?": pure functions from numbers to sentences, tables and Python."""

from __future__ import annotations

import math

from objpert_core.experiments.population.methods import LABELS, POPULATIONS, PUBLISHED, RADII, Setting
from objpert_core.experiments.population.stored import Stored
from objpert_core.experiments.summary import Interval
from objpert_core.theory.population_risk import DescentParts
from pages.population.numbers import Cell, Promise, Risks, bound
from pages.population.numbers import accounted as accounted_epsilon
from ui import sentences
from ui.jobs import JobView

TIGHT = "objective-tight"
VIEWS = {
    "methods": "Methods side by side",
    "rows": "Against the number of rows",
    "gap": "Generalisation gap",
    "passes": "Steps and stability",
    "map": "Who wins where",
    "leak": "Is it private as published?",
}
_LEARNT = {"logistic": "logistic regression", "absolute": "the absolute loss", "hard": "the linear loss"}
_INSIDE = {
    "sgd": "published SGD",
    "objective": "published objective perturbation",
    "gd": "noisy gradient descent",
    "phased": "phased ERM",
    "objective-bound": "objective perturbation with Λ of the bound",
    "objective-least": "objective perturbation with the least Λ",
    TIGHT: "tight objective perturbation",
    "zero": "θ = 0",
}
PARTS = {"optimisation": "what is still to go", "noise": "the noise of privacy", "stability": "stability"}


def _risk(value: float) -> str:
    return sentences.number(value, 3) if value >= 1e-3 else sentences.scientific(value)


def _times(value: float) -> str:
    return f"{round(value):,}" if value >= 10 else sentences.number(value, 2)


def _first_large(text: str) -> str:
    return text[0].upper() + text[1:]


def answer(risks: Risks) -> str:
    """Which private method is best, and how far behind the others are."""
    best = risks.best
    if best == "zero":
        return f"Here no private method beats θ = 0, whose excess risk is {_risk(risks.zero)}."
    least = risks.excess[best].mean
    others = [name for name in PUBLISHED if name in risks.excess and name != best]
    if best != TIGHT and TIGHT in risks.excess:
        times = _times(risks.excess[TIGHT].mean / least)
        return f"{_first_large(_INSIDE[best])}: excess risk {_risk(least)}; {_INSIDE[TIGHT]} {times} times that."
    told = [f"{_INSIDE[name]} {_times(risks.excess[name].mean / least)}" for name in others]
    behind = f"; {' and '.join(told)} times that" if told else ""
    return f"{_first_large(_INSIDE[best])}: excess risk {_risk(least)}{behind}."


def setting_line(setting: Setting) -> str:
    """What was learnt, from what, and how privately."""
    return (
        f"{POPULATIONS[setting.population]}, n = {setting.n:,}, d = {setting.d:,}, M = {setting.radius:g}. "
        f"ε = {sentences.epsilon(setting.epsilon)}, δ = 1/n² = {sentences.delta(setting.delta)}; one row is replaced."
    )


def accounted(risks: Risks) -> str:
    """Who accounts for privacy, and where the numbers come from."""
    drawn = "Drawn now" if risks.live else "Stored"
    return (
        f"{drawn}: {sentences.count(risks.trials, 'draw')} of rows and noise, mean and 95 % interval. The published "
        "two have their printed noise, private or not; all others are certified by the accountant at (ε, δ)."
    )


def rows_answer(found: Stored, setting: Setting) -> str:
    """How fast excess risk falls: the slopes fitted from n = 1,000 on."""
    tight, published = (found.slope(setting.d, setting.epsilon, name) for name in (TIGHT, "sgd"))
    if math.isnan(tight) or math.isnan(published):
        return f"Not enough is stored for d = {setting.d:,} and ε = {setting.epsilon:g}."
    return (
        f"Ten times the rows divide tight objective perturbation’s excess risk by {_times(10**-tight)}, "
        f"published SGD’s by {_times(10**-published)}."
    )


def passes_answer(setting: Setting, steps: int, here: DescentParts, least: tuple[int, float]) -> str:
    """How far this T is from the best, and what is the largest part."""
    largest = max(PARTS, key=lambda name: getattr(here, name))
    times = here.total / least[1]
    if times < 1.1:
        return f"T = {steps:,} is about the best; the largest part of the bound is {PARTS[largest]}."
    return f"At T = {steps:,} the bound is {_times(times)} times its least; the largest part is {PARTS[largest]}."


def gap_answer(found: Stored, setting: Setting) -> str:
    """How much training hides."""
    told = []
    for name in (TIGHT, "sgd"):
        point = found.point(setting.n, setting.d, setting.epsilon, name)
        if point is None:
            return f"No gap is stored for n = {setting.n:,}, d = {setting.d:,}."
        told.append(f"{_risk(abs(point.gap.mean))} of {_INSIDE[name]}’s")
    return f"Training loss hides {told[0]} risk, and {told[1]}."


def map_answer(cells: list[Cell]) -> str:
    """How many settings each wins."""
    own = sum(cell.winner == TIGHT and cell.clear for cell in cells)
    zero = sum(cell.winner == "zero" for cell in cells)
    return (
        f"Tight objective perturbation wins {own} of {sentences.count(len(cells), 'setting')} clearly; "
        f"θ = 0 is best in {zero}."
    )


def leak_answer(promise: Promise) -> str:
    """By how much one step misses its δ."""
    times = promise.attained / promise.target
    if times <= 1:
        return "On these rows one published step keeps its δ; elsewhere it does not."
    return f"One step as published has δ = {sentences.scientific(promise.attained)}, {_times(times)} times its target."


def leak_line(setting: Setting, promise: Promise) -> str:
    """What is claimed, and by whom."""
    return (
        f"Algorithm 1 with T = 1, n = {setting.n:,}, ε = {sentences.epsilon(setting.epsilon)}; claimed δ = "
        f"{sentences.delta(promise.target)}, where one row is replaced. From below: exact, on data that attain it. The "
        f"accountant proves δ ≤ {sentences.delta(promise.proved)}. Theorem 3.2 has T = {promise.steps:,} at this d."
    )


def progress(view: JobView[Risks], draws: int) -> tuple[float, str]:
    """How far a live run is."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    done = 0 if view.latest is None else view.latest.trials
    words = "Stopping …" if view.stopping else f"Drawing rows and noise: {done} of {draws}"
    return done / draws, words


def too_many(most: int) -> str:
    """Why nothing is drawn."""
    return (
        f"This setting is not stored, and the page draws at most {most:,} rows: take fewer rows, or a stored setting."
    )


def not_stored(found: Stored, setting: Setting) -> str | None:
    """What a view of stored results shows instead of what was asked for; None where that is stored."""
    wanted = []
    if setting.d not in found.dimensions:
        wanted.append(f"d = {', '.join(f'{d:,}' for d in found.dimensions)}")
    if setting.epsilon not in found.epsilons:
        wanted.append(f"ε = {', '.join(f'{e:g}' for e in found.epsilons)}")
    if setting.radius != RADII[setting.population]:
        wanted.append(f"M = {RADII[setting.population]:g}")
    return f"Stored for {sentences.listing(wanted)}: the nearest is shown." if wanted else None


def table(risks: Risks) -> list[dict[str, str]]:
    """The methods as texts, the best first."""
    tight = risks.excess.get(TIGHT)
    rows = []
    order = sorted(risks.excess.items(), key=lambda item: item[1].mean)
    for name, found in order:
        proved, printed = (bound(name, risks.setting, published=published) for published in (False, True))
        ratio = "–" if tight is None or tight.mean <= 0 else f"{found.mean / tight.mean:.3g}"
        rows.append(
            {
                "Method": LABELS[name],
                "Excess risk": _with_interval(found),
                "Over tight": ratio,
                "ε by the accountant": _promised(name, risks.setting),
                "Proved bound": "–" if proved is None else sentences.number(proved, 3, up=True),
                "Printed bound": "–" if printed is None else sentences.number(printed, 3, up=True),
                "Gap to training": sentences.minus(f"{risks.gap[name].mean:.2g}"),
            }
        )
    zero = {"Method": LABELS["zero"], "Excess risk": _risk(risks.zero), "Over tight": "–", "ε by the accountant": "0"}
    if tight is not None and tight.mean > 0:
        zero["Over tight"] = f"{risks.zero / tight.mean:.3g}"
    return [*rows, zero | {"Proved bound": "–", "Printed bound": "–", "Gap to training": "–"}]


def _promised(name: str, setting: Setting) -> str:
    """The ε that a method has by the accountant; a published one that misses its target says so."""
    if name == "no-privacy":
        return "∞"
    if name not in PUBLISHED:
        return sentences.epsilon(setting.epsilon)
    found = accounted_epsilon(name, setting)
    if found is None:
        return "not stored"
    return sentences.epsilon(found) + (" > target" if found > setting.epsilon else "")


def _with_interval(found: Interval) -> str:
    return f"{_risk(found.mean)} ± {found.half_width:.1g}" if found.known else _risk(found.mean)


def alt(risks: Risks) -> str:
    """Alt text of the first chart."""
    told = [f"{LABELS[name]} {_risk(found.mean)}" for name, found in risks.excess.items()]
    return (
        f"Excess population risk of {_LEARNT[risks.setting.population]} by method, a logarithmic axis: "
        f"{'; '.join(told)}; θ = 0 {_risk(risks.zero)}. Bars above are proved bounds."
    )


def rows_alt(found: Stored, setting: Setting, *, gap: bool = False) -> str:
    """Alt text of the charts against n."""
    what = "Generalisation gap" if gap else "Excess population risk"
    slopes = {name: found.slope(setting.d, setting.epsilon, name) for name in found.methods}
    told = [f"{LABELS[name]} n^{slope:.2f}" for name, slope in slopes.items() if not math.isnan(slope)]
    fall = "" if gap else f" It falls as follows: {'; '.join(told)}."
    return f"{what} against the number of rows, both logarithmic, d = {setting.d}, ε = {setting.epsilon:g}.{fall}"


def passes_alt(steps: int, here: DescentParts) -> str:
    """Alt text of the parts against T."""
    told = [f"{name} {_risk(getattr(here, key))}" for key, name in PARTS.items()]
    what = "The bound on noisy gradient descent against the number of steps, both logarithmic."
    return f"{what} At T = {steps:,}: {'; '.join(told)}."


def map_alt(cells: list[Cell]) -> str:
    """Alt text of the map."""
    wins: dict[str, int] = {}
    for cell in cells:
        wins[cell.winner] = wins.get(cell.winner, 0) + 1
    told = [f"{LABELS[name]} {count}" for name, count in sorted(wins.items(), key=lambda item: -item[1])]
    return f"The best private method at each number of rows and parameters. Settings won: {'; '.join(told)}."


def leak_alt(promise: Promise) -> str:
    """Alt text of the chart of δ."""
    return (
        "δ of one published step over its target, against the number of rows, both logarithmic: from below and from "
        f"above. At this n: {_times(promise.attained / promise.target)} and {_times(promise.proved / promise.target)}."
    )


def map_rows(found: Stored, cells: list[Cell]) -> list[dict[str, str]]:
    """The map as a table: a row for each d."""
    by = {(cell.n, cell.d): cell for cell in cells}
    rows = []
    for d in found.dimensions:
        row = {"d": f"{d:,}"}
        for n in found.rows:
            cell = by.get((n, d))
            name = "–" if cell is None else _INSIDE[cell.winner] + ("" if cell.clear else " (not clearly)")
            row[f"n = {n:,}"] = name
        rows.append(row)
    return rows


def made_by(found: Stored) -> str:
    """How the stored results were made."""
    session = found.results.sessions[-1] if found.results.sessions else {}
    return (
        f"Stored results of `{session.get('command', 'unknown')}`, commit {session.get('commit', 'unknown')}, "
        f"{session.get('versions', 'versions unknown')}. Seeds follow from setting and trial."
    )


def snippet(risks: Risks) -> str:
    """The mean excess risk of the best method shown; defines ``mean``."""
    setting, best = risks.setting, risks.best if risks.best != "zero" else TIGHT
    made = f"Setting({setting.population!r}, {setting.n}, {setting.d}, {setting.epsilon!r}, {setting.radius!r})"
    return f"""from objpert_core.experiments.population.methods import Setting
from objpert_core.experiments.population.sweep import Piece

setting = {made}
fits = [Piece(setting, ({best!r},), trial)()[0] for trial in range({risks.trials})]
mean = sum(fit.excess for fit in fits) / len(fits)
print(mean, setting.zero)
"""


def passes_snippet(setting: Setting, steps: int) -> str:
    """The parts of the bound at this T; defines ``parts``."""
    curved = setting.loss.smoothness if math.isfinite(setting.loss.smoothness) else 0.0
    told = f"{setting.n}, {setting.d}, {setting.epsilon!r}, {setting.delta!r}, {steps}"
    return f"""from objpert_core.theory.population_risk import descent_parts

parts = descent_parts({told}, radius={setting.radius!r}, smoothness={curved!r})
print(parts.optimisation, parts.noise, parts.stability, parts.total)
"""


def leak_snippet(setting: Setting) -> str:
    """δ of one step, from below and from above; defines ``attained``."""
    return f"""from objpert_core.accounting.calibration.population import published_sgd_mechanism

n, epsilon = {setting.n}, {setting.epsilon!r}
step = published_sgd_mechanism(n, {setting.d}, epsilon, 1 / n**2, strict=False, steps=1)
attained = step.attained_delta(epsilon)
print(attained * n**2, step.delta(epsilon) * n**2)  # in units of the target
"""
