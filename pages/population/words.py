"""The words of the page "Will it generalise?": pure functions from numbers to sentences, tables and Python."""

from __future__ import annotations

import math

import pandas as pd

from objpert_core.experiments.population.methods import CONTENDERS, LABELS, POPULATIONS, PUBLISHED, RADII, Setting
from objpert_core.experiments.population.stored import ExcessRisks
from objpert_core.experiments.summary import Interval
from objpert_core.theory.population_risk import DescentParts
from pages.population.numbers import Cell, Promise, Risks, bound, nearest, parts
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
GAPS = "A mean that cannot be told from 0 is left out."
PARTS = {"optimisation": "too few steps", "noise": "the noise of privacy", "stability": "too many looks at the rows"}


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
    rivals = (TIGHT,) if best != TIGHT else PUBLISHED
    ratios = {name: risks.excess[name].mean / least for name in rivals if name in risks.excess}
    begun = f"{_first_large(_INSIDE[best])}: excess risk {_risk(least)}"
    if best != TIGHT and ratios.get(TIGHT, 0.0) < 1.05:
        return f"{begun}; tight objective perturbation is about as good."
    told = [f"{_INSIDE[name]} {_times(ratio)}" for name, ratio in ratios.items()]
    return f"{begun}; {' and '.join(told)} times that." if told else f"{begun}."


def so_far(sentence: str) -> str:
    """The answer of a run that is under way."""
    return f"So far: {sentence[0].lower()}{sentence[1:]}"


def setting_line(setting: Setting) -> str:
    """What was learnt, and from what."""
    text = f"{POPULATIONS[setting.population]}, n = {setting.n:,}, d = {setting.d:,}, M = {setting.radius:g}"
    return text.replace(" = ", "\u00a0=\u00a0")


def promise(setting: Setting) -> str:
    """The promise of all methods but those that are as published."""
    accountant = "privacy profiles, but for the two as published"
    return sentences.promise(setting.epsilon, setting.delta, accountant, adjacency=REPLACED)


REPLACED = "one row replaced"
_FIELDS = {"n": "n", "epsilon": "ε", "d": "d", "radius": "M"}
_REASONS = {  # more of it, less of it
    "n": ("the noise stays, more rows make the signal louder", "the noise stays, fewer rows say less"),
    "ε": ("less noise is needed", "more noise is needed"),
    "d": ("there is noise in every parameter", "there is noise in fewer parameters"),
    "M": ("there is more room to go astray", "there is less room to go astray"),
}


def moved(before: Risks | None, now: Risks) -> str:
    """What was changed since `before`, what that did to the least excess risk, and why; empty where nothing was."""
    changes = [] if before is None else sentences.changed(before.setting, now.setting, _FIELDS)
    if before is None or not changes or before.setting.population != now.setting.population:
        return ""
    then, here = (risks.zero if risks.best == "zero" else risks.excess[risks.best].mean for risks in (before, now))
    course = sentences.course("the least excess risk", then, here, _risk)
    (name, old, new), *more = changes
    reason = "" if more or "stays" in course else f": {_REASONS[name][new < old]}"
    return f"{sentences.shift(changes)}: {course}{reason}."


def steps_moved(before: tuple[Setting, int] | None, now: tuple[Setting, int]) -> str:
    """What was changed since `before`, and what that did to the bound; empty where nothing was."""
    if before is None or before == now:
        return ""
    changes = sentences.changed(before[0], now[0], _FIELDS)
    changes += [("T", before[1], now[1])] if before[1] != now[1] else []
    course = sentences.course("the bound", parts(*before).total, parts(*now).total, _bound)
    return f"{sentences.shift(changes)}: {course}." if changes else ""


def drawn(risks: Risks) -> str:
    """Where the numbers come from; after `setting_line`."""
    how = "drawn now" if risks.live else "stored"
    return f"; {sentences.count(risks.trials, 'draw')}, {how}, 95\u00a0% intervals."


CERTIFIED = (
    "The published two have their printed noise, private or not: the table has the ε that the accountant finds. All "
    "others meet the target."
)


def rows_answer(found: ExcessRisks, setting: Setting) -> str:
    """How fast excess risk falls: the slopes fitted from n = 1,000 on."""
    tight, published = (found.slope(setting.d, setting.epsilon, name) for name in (TIGHT, "sgd"))
    if math.isnan(tight) or math.isnan(published):
        return f"Not enough is stored for d = {setting.d:,} and ε = {setting.epsilon:g}."
    return (
        f"Ten times the rows divide tight objective perturbation’s excess risk by {_times(10**-tight)}, "
        f"published SGD’s by {_times(10**-published)}."
    )


def bound_answer(setting: Setting, excess: float, proved: float) -> str:
    """What Theorem 3.2's algorithm is proved to lose, and what it loses."""
    return f"Published SGD is proved to lose at most {_bound(proved)} at n = {setting.n:,}; it loses {_risk(excess)}."


def passes_answer(setting: Setting, steps: int, here: DescentParts, least: tuple[int, float]) -> str:
    """How far this T is from the best, and on which side."""
    times = here.total / least[1]
    if times < 1.1:
        return f"T = {steps:,} is about the best number of steps."
    why = "few" if steps < least[0] else "many"
    return f"At T = {steps:,} the bound is {_times(times)} times its least: too {why} steps. T = {least[0]:,} is best."


def gap_answer(found: ExcessRisks, setting: Setting) -> str:
    """How much better a model looks on its own rows."""
    point = found.point(setting.n, setting.d, setting.epsilon, TIGHT)
    if point is None:
        return f"No gap is stored for n = {setting.n:,}, d = {setting.d:,}."
    if point.gap.low <= 0 <= point.gap.high:
        return f"At n = {setting.n:,} the gap of tight objective perturbation cannot be told from 0."
    better = "better" if point.gap.mean > 0 else "worse"
    gap = _pair(abs(point.gap.mean), point.gap.half_width)
    return f"On its own rows tight objective perturbation looks {gap} {better} than it is."


def map_answer(cells: list[Cell]) -> str:
    """How many settings each wins."""
    own = sum(cell.winner == TIGHT and cell.clear for cell in cells)
    zero = sum(cell.winner == "zero" for cell in cells)
    return (
        f"Tight objective perturbation wins {own} of {sentences.count(len(cells), 'setting')} clearly; "
        f"in {zero} nothing beats θ = 0."
    )


def leak_answer(promise: Promise) -> str:
    """By how much one step misses its δ."""
    times = promise.attained / promise.target
    claimed = f"One step as published claims δ = {sentences.delta(promise.target)}"
    if times <= 1:
        return f"{claimed}, and here nothing shows that it has more."
    return f"{claimed} and has {sentences.scientific(promise.attained)}, {_times(times)} times that."


def leak_line(setting: Setting, promise: Promise) -> str:
    """What is claimed, and by whom."""
    return (
        f"Algorithm 1 with T = 1, n = {setting.n:,}; Theorem 3.1 claims δ = {sentences.delta(promise.target)}. "
        f"Theorem 3.2 has T = {promise.steps:,} at this d."
    )


def leak_promise(setting: Setting, promise: Promise) -> str:
    """What one step keeps for sure."""
    return sentences.promise(setting.epsilon, promise.proved, "sampling with replacement", adjacency=REPLACED)


def progress(view: JobView[Risks], draws: int) -> tuple[float, str]:
    """How far a live run is."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    done, fitted, every = 0.0, 0, 1
    if view.latest is not None:
        counts = [found.count for found in view.latest.excess.values()]
        every = len(view.latest.setting.methods)
        done, fitted = sum(counts) / every, sum(counts) % every
    words = "Stopping …" if view.stopping else f"Draw {int(done) + 1} of {draws}: {fitted} of {every} methods fitted"
    return min(done / draws, 1.0), words


STOPPED = "Stopped before the first fit."


def too_many(most: int) -> str:
    """Why nothing is drawn."""
    return (
        f"This setting is not stored, and the page draws at most {most:,} rows: take fewer rows, or a stored setting."
    )


def not_stored(found: ExcessRisks, setting: Setting) -> str | None:
    """What a view of stored results shows instead of what was asked for; None where that is stored."""
    asked, given = [], []
    pairs: list[tuple[str, float, float]] = [
        ("d", setting.d, nearest(found.dimensions, setting.d)),
        ("ε", setting.epsilon, nearest(found.epsilons, setting.epsilon)),
        ("M", setting.radius, RADII[setting.population]),
    ]
    for name, wanted, shown in pairs:
        if wanted != shown:
            asked.append(f"{name} = {wanted:g}")
            given.append(f"{name} = {shown:g}")
    return f"Not stored for {sentences.listing(asked)}; shown: {sentences.listing(given)}." if asked else None


def nothing_stored(setting: Setting) -> str:
    """What a picture of stored results says where there are none."""
    return (
        f"This picture needs stored results, and there are none for {_LEARNT[setting.population]} yet. "
        f"“{VIEWS['methods']}” draws rows now."
    )


def parts_table(here: DescentParts, least: tuple[int, float]) -> list[dict[str, str]]:
    """The parts of the bound at this T, and its least."""
    rows = [{"Part": _first_large(name), "Bound": _bound(getattr(here, key))} for key, name in PARTS.items()]
    rows.append({"Part": "Their sum", "Bound": _bound(here.total)})
    return [*rows, {"Part": f"The least sum, at T = {least[0]:,}", "Bound": _bound(least[1])}]


def leak_rows(frame: pd.DataFrame) -> list[dict[str, str]]:
    """δ over what is claimed, for every n."""
    return [
        {
            "n": f"{n:,}",
            "Exactly, on data made for it": _times(attained),
            "Proved for all data": _times(proved),
        }
        for n, attained, proved in zip(frame["n"], frame["attained"], frame["proved"], strict=True)
    ]


def table(risks: Risks, *, every: bool = False) -> list[dict[str, str]]:
    """The methods as texts, the best first; `every` as for the chart."""
    tight = risks.excess.get(TIGHT)
    rows = []
    shown = [item for item in risks.excess.items() if every or item[0] in (*CONTENDERS, "no-privacy")]
    order = sorted(shown, key=lambda item: item[1].mean)
    for name, found in order:
        proved, printed = (bound(name, risks.setting, published=published) for published in (False, True))
        ratio = "–" if tight is None or tight.mean <= 0 else f"{found.mean / tight.mean:.3g}"
        rows.append(
            {
                "Method": LABELS[name],
                "Excess risk": _with_interval(found),
                "Over tight": ratio,
                "ε by the accountant": _promised(name, risks.setting),
                "Proved bound": "–" if proved is None else _bound(proved),
                "Printed in the paper": "–" if printed is None else _bound(printed),
                "Gap to training": sentences.minus(_risk(risks.gap[name].mean)),
            }
        )
    zero = {"Method": LABELS["zero"], "Excess risk": _risk(risks.zero), "Over tight": "–", "ε by the accountant": "0"}
    if tight is not None and tight.mean > 0:
        zero["Over tight"] = f"{risks.zero / tight.mean:.3g}"
    return [*rows, zero | {"Proved bound": "–", "Printed in the paper": "–", "Gap to training": "–"}]


def _promised(name: str, setting: Setting) -> str:
    """The ε that a method has by the accountant; a published one that misses its target says so."""
    if name == "no-privacy":
        return "∞"
    if name not in PUBLISHED:
        return sentences.epsilon(setting.epsilon)
    found = accounted_epsilon(name, setting)
    if found is None:
        return "not checked"
    return sentences.epsilon(found) + (" > target" if found > setting.epsilon else "")


def _with_interval(found: Interval) -> str:
    return _pair(found.mean, found.half_width) if found.known else _risk(found.mean)


def _bound(value: float) -> str:
    return sentences.number(value, 3, up=True)


def _pair(mean: float, half: float) -> str:
    """A mean and half its interval, with one power of ten for both: '(4.9 ± 0.8)×10⁻⁴'."""
    if half < 1e-6 * abs(mean):
        return _risk(mean)
    if abs(mean) >= 1e-3:
        return f"{sentences.number(mean, 3)} ± {sentences.number(half, 1)}"
    power = math.floor(math.log10(max(abs(mean), half)))
    scaled = f"({sentences.minus(f'{mean / 10**power:.2f}')} ± {half / 10**power:.2f})"
    return f"{scaled}×{sentences.scientific(10.0**power)}"


def alt(risks: Risks) -> str:
    """Alt text of the first chart."""
    told = [f"{LABELS[name]} {_risk(found.mean)}" for name, found in risks.excess.items()]
    return (
        f"{answer(risks)} Excess population risk of {_LEARNT[risks.setting.population]}, a logarithmic axis: "
        f"{'; '.join(told)}; θ = 0 {_risk(risks.zero)}. Ticks to the right are proved bounds."
    )


def rows_alt(found: ExcessRisks, setting: Setting, *, gap: bool = False) -> str:
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


_SHORT = {
    "sgd": "SGD",
    "objective": "published",
    "gd": "descent",
    "phased": "phased",
    TIGHT: "tight",
    "zero": "θ = 0",
}


def rows_table(found: ExcessRisks, setting: Setting, what: str = "excess") -> list[dict[str, str]]:
    """The means against n as texts."""
    rows = []
    for name in found.methods:
        row = {"Method": LABELS[name]}
        for n in found.rows:
            point = found.point(n, setting.d, setting.epsilon, name)
            row[f"n = {n:,}"] = "–" if point is None else sentences.minus(_risk(getattr(point, what).mean))
        rows.append(row)
    return rows


def map_rows(found: ExcessRisks, cells: list[Cell]) -> list[dict[str, str]]:
    """The map as a table: a row for each d."""
    by = {(cell.n, cell.d): cell for cell in cells}
    rows = []
    for d in found.dimensions:
        row = {"d": f"{d:,}"}
        for n in found.rows:
            cell = by.get((n, d))
            row[f"n = {n:,}"] = "–" if cell is None else _SHORT[cell.winner] + ("" if cell.clear else "?")
        rows.append(row)
    return rows


def made_by(found: ExcessRisks) -> str:
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


def rows_snippet(found: ExcessRisks, setting: Setting, what: str = "excess") -> str:
    """The stored means of the tight method; defines ``means``."""
    return f"""from objpert_core.experiments.population import stored

found = stored.load({found.population!r})  # in a checkout; the file names its command, seeds and commit
n, points = found.curve({setting.d}, {setting.epsilon!r}, {TIGHT!r})
means = [point.{what}.mean for point in points]
print(dict(zip(n, means)))
"""


def map_snippet(found: ExcessRisks, epsilon: float) -> str:
    """Who wins where; defines ``winners``."""
    return f"""from objpert_core.experiments.population import stored

found = stored.load({found.population!r})  # in a checkout; the file names its command, seeds and commit
winners = {{(n, d): found.winner(n, d, {epsilon!r}) for n in found.rows for d in found.dimensions}}
print(winners)
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
    return f"""from objpert_core.accounting.population.published import published_sgd_mechanism

n, epsilon = {setting.n}, {setting.epsilon!r}
step = published_sgd_mechanism(n, {setting.d}, epsilon, 1 / n**2, strict=False, steps=1)
attained = step.attained_delta(epsilon)
print(attained * n**2, step.delta(epsilon) * n**2)  # in units of the target
"""
