"""Bounds (Figure 1 of Redberg et al. 2023): one fit under every bound, as its profile or as an attacker's errors."""

import math
from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go
import streamlit as st

import objpert_core.accounting as acc
from pages.bounds import errors, neighbours, words
from ui import bounds as proofs
from ui import controls as c
from ui import figures, page, parameters, sentences, snippets, style, why

FIGURE_1_LEFT = proofs.Setting(sigma=5.0, lam=20.0, smoothness=1.0, lipschitz=1.0)  # Redberg et al. (2023), Figure 1
FIGURE_1_RIGHT = proofs.Setting(sigma=10.0, lam=5.0, smoothness=1.0, lipschitz=1.0)
BELOW_BETA = proofs.Setting(sigma=10.0, lam=0.9, smoothness=1.0, lipschitz=2.0)  # logistic loss, rows of norm 2
OURS = proofs.rounded_up(acc.calibrate_objective_perturbation(1.0, 1e-5))
RECIPE = proofs.rounded_up(acc.calibrate_published(1.0, 1e-5))

ROUNDED = "These lines print the numbers of the table before they are rounded to the safe side."
PROFILE, ERRORS = "Privacy profile", "Attacker’s errors"

TWICE = "The same proofs twice: δ against ε, or what somebody who looks for you in the data gets wrong."
SHOW = parameters.show("bounds", (PROFILE, ERRORS), TWICE)
MECHANISM = parameters.mechanism("bounds", FIGURE_1_LEFT, BELOW_BETA, OURS, RECIPE)
ROWS_HELP = (
    "What may differ between two data sets that must look alike: one row more or less, one row’s content, or all rows "
    "of one person, who has at most k of them."
)
NEIGHBOURS = c.Choice(
    "bounds_neighbours", "Neighbouring data sets", neighbours.ADDED, neighbours.CHOICES, help=ROWS_HELP
)
COUNTS = tuple(range(2, neighbours.MOST_ROWS + 1))
ROWS = c.SelectSlider("bounds_rows", "Rows of one person k", 2, COUNTS, format=str)
READ_DELTA = parameters.read_delta("bounds")
EPSILONS = c.log_values(0.01, 50, steps=parameters.FEW_STEPS)
READ_EPSILON = c.SelectSlider("bounds_epsilon", "Read δ at ε =", 0.5, EPSILONS)
RATES = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ACCUSED = "Share of the people who are not in the data that the attacker is willing to accuse."
READ_RATE = c.SelectSlider("bounds_accused", "Read misses at false accusations =", 0.05, RATES, help=ACCUSED)
EPS_MAX = parameters.view("bounds", "ε axis up to", 2.0, (0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0))
FLOOR = parameters.floor("bounds", (1e-100, 1e-50, 1e-20, 1e-15, 1e-10, 1e-8, 1e-6, 1e-4))
SPECIAL = parameters.special_bounds("bounds")
COVERED = "Columns of the table: the smallest μ-GDP and ρ-zCDP that cover the release. They take longest to compute."
COVERS = c.Toggle("bounds_covers", "Table with μ and ρ", False, help=COVERED)
GHOST = parameters.ghost("bounds")
CHANGED = {**why.NAMES, "neighbours": "neighbours:"}
CONTROLS = (
    SHOW,
    *MECHANISM,
    NEIGHBOURS,
    ROWS,
    READ_DELTA,
    READ_EPSILON,
    READ_RATE,
    EPS_MAX,
    FLOOR,
    *SPECIAL.values(),
    COVERS,
    GHOST,
)


def preset(
    name: str,
    setting: proofs.Setting,
    hint: str,
    *,
    epsilon: float = 0.5,
    view: float = 2.0,
    whose: str = neighbours.ADDED,
    rows: int = 2,
) -> c.Preset:
    at = {READ_DELTA: 1e-5, READ_EPSILON: epsilon, EPS_MAX: view, FLOOR: 1e-10, NEIGHBOURS: whose, ROWS: rows}
    return c.Preset(name, parameters.in_order(MECHANISM, setting) | at, hint)


PRESETS = (
    preset("Five proofs, one fit", FIGURE_1_LEFT, "Figure 1, left: σ = 5, β = 1, λ = 20, L = 1."),
    preset("Smaller λ, wider gap", FIGURE_1_RIGHT, "Figure 1, right: σ = 10, β = 1, λ = 5, L = 1."),
    preset(
        "Silent proofs",
        BELOW_BETA,
        "Logistic loss on rows of norm 2 (β = 1), λ = 0.9 below β: Theorems 3.1 and 3.2 prove nothing, the tight bound "
        "does.",
        epsilon=1.0,
        view=5.0,
    ),
    preset(
        "Ours at ε = 1",
        OURS,
        "What the package picks for the logistic loss on rows of norm 1 at ε = 1, δ = 10⁻⁵.",
        epsilon=1.0,
    ),
    preset(
        "Published at ε = 1",
        RECIPE,
        "What the paper’s recipe picks for the same promise: more noise and a larger λ.",
        epsilon=1.0,
    ),
    preset(
        "Replacing costs double",
        FIGURE_1_LEFT,
        "The first setting where neighbours differ in the content of a row: twice the distance.",
        epsilon=1.0,
        view=3.0,
        whose=neighbours.REPLACED,
    ),
    preset(
        "Four rows of one person",
        OURS,
        "Picked for ε = 1 and one row: what does it promise somebody who has four?",
        epsilon=3.0,
        view=10.0,
        whose=neighbours.SEVERAL,
        rows=4,
    ),
)


def draw(
    setting: proofs.Setting,
    bounds: Sequence[str],
    *,
    eps_max: float,
    floor: float,
    ghost: proofs.Setting | None = None,
    read: tuple[float, float] | None = None,
    height: int = 480,
) -> go.Figure:
    x, top, names = proofs.grid(eps_max), 2.0, {b: proofs.NAMES[b] for b in bounds}
    guides = []
    if read:
        guides = [figures.guide((0, eps_max), (read[1], read[1])), figures.guide((read[0], read[0]), (floor, top))]
    return figures.figure(
        figures.curves(
            names, x, lambda b, at: proofs.curve(b, at, eps_max), setting, ghost, between=guides, hover="δ ≈ %{y:.3g}"
        ),
        xaxis=figures.axis("privacy budget ε", (0.0, eps_max), hoverformat=".3g"),
        yaxis=figures.axis("slack δ", (floor, top), log=True),
        height=height,
    )


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="bounds")
    left, panel = page.columns()
    with panel:
        sigma, lam, smoothness, lipschitz = MECHANISM
        noise, regularisation = sigma.show(), lam.show()
        attacked = SHOW.show() == ERRORS
        read = READ_RATE.show() if attacked else READ_DELTA.show()
        whose = NEIGHBOURS.show()
        rows = ROWS.show() if whose == neighbours.SEVERAL else ROWS.default
        with page.tools(CONTROLS, PRESETS, name="bounds"):
            curvature, gradient = smoothness.show(), lipschitz.show()
            other = READ_DELTA.show() if attacked else READ_RATE.show(disabled=True)
            epsilon = READ_EPSILON.show(disabled=attacked)
            view = EPS_MAX.show(disabled=attacked), FLOOR.show(disabled=attacked)
            special = {bound for bound, control in SPECIAL.items() if control.show()}
            covers, ghosts = COVERS.show(disabled=attacked), GHOST.show()
        if whose != neighbours.SEVERAL:
            page.keep(ROWS)
    setting = neighbours.setting(noise, regularisation, curvature, gradient, whose, rows)
    before = c.previous("bounds", setting)
    ghost = before if ghosts else None
    bounds = [b for b in proofs.NAMES if b not in SPECIAL or b in special]
    with page.errors():
        if attacked:
            moved = why.moved(before, setting, other, names=CHANGED)
            tradeoff(left, setting, bounds, delta=other, rate=read, ghost=ghost, moved=moved)
        else:
            moved = why.moved(before, setting, read, names=CHANGED)
            then = c.previous("bounds_read", (setting, read))
            if then and then[0] == setting:
                moved = why.reread(setting, then[1], read)
            profile(
                left, setting, bounds, delta=read, epsilon=epsilon, view=view, covers=covers, ghost=ghost, moved=moved
            )


def profile(
    left: st.delta_generator.DeltaGenerator,
    setting: neighbours.Setting,
    bounds: Sequence[str],
    *,
    delta: float,
    epsilon: float,
    view: tuple[float, float],
    covers: bool,
    ghost: proofs.Setting | None,
    moved: str,
) -> None:
    found = proofs.readings(setting, bounds, delta, epsilon)
    eps = {reading.bound: reading.epsilon for reading in found}
    own = replace(setting, smoothness=setting.logistic_smoothness)
    eps_max, floor = view
    picture = page.Picture(
        draw(setting, bounds, eps_max=eps_max, floor=floor, ghost=ghost, read=(epsilon, delta)),
        sentences.bounds_alt({proofs.NAMES[b]: value for b, value in eps.items()}, delta) + words.alt_of(setting),
        lambda: proofs.frame(setting, bounds, eps_max).assign(neighbours=setting.neighbours),
        f"Privacy profile of objective perturbation, {setting}",
    )
    tight, published = eps["logistic"], min(eps[b] for b in proofs.PUBLISHED)
    at_own = min(proofs.epsilon_at(b, own, delta) for b in proofs.PUBLISHED)
    with left:
        page.answer(
            words.profile_answer(tight, at_own, setting),
            promise=sentences.promise(tight, delta, sentences.TIGHT, adjacency=setting.neighbours),
            why=moved,
        )
        page.show(picture, key="bounds_chart")
    if setting.usual:
        more = words.limits(tight, eps["lower"], proofs.gaussian_from(setting))
        if setting.smoothness != own.smoothness:
            more += f" {words.at_smoothness(published, setting.smoothness)}"
    else:
        one = proofs.epsilon_at("logistic", setting.one, delta)
        more = words.against_one(tight, one, eps["lower"], published, setting.smoothness)
    notes(setting, proofs.reasons(found), f"{sentences.bet(tight, delta)} {more}")
    code = snippets.bounds(**vars(setting), epsilon=epsilon, delta=delta)
    table = proofs.table_rows(found, delta, epsilon)
    if covers:
        table = [row | more for row, more in zip(table, neighbours.columns(setting, found), strict=True)]
    page.evidence(picture, table, name="bounds", code=code, note=ROUNDED)


def tradeoff(
    left: st.delta_generator.DeltaGenerator,
    setting: neighbours.Setting,
    bounds: Sequence[str],
    *,
    delta: float,
    rate: float,
    ghost: proofs.Setting | None,
    moved: str,
) -> None:
    found = errors.readings(setting, bounds, rate)
    by_bound, told = {reading.bound: reading for reading in found}, proofs.epsilon_at("logistic", setting, delta)
    own = replace(setting, smoothness=setting.logistic_smoothness)
    published, at_own = (max(errors.missed_at(b, s, rate) for b in proofs.PUBLISHED) for s in (setting, own))
    picture = page.Picture(
        errors.draw(setting, bounds, rate=rate, ghost=ghost),
        words.alt({proofs.NAMES[b]: reading.missed for b, reading in by_bound.items()}, rate) + words.alt_of(setting),
        lambda: errors.frame(setting, bounds).assign(neighbours=setting.neighbours),
        f"An attacker’s errors under objective perturbation, {setting}",
    )
    tight, lower = by_bound["logistic"], by_bound["lower"]
    with left:
        page.answer(
            words.answer(rate, tight.missed),
            promise=sentences.promise(told, delta, sentences.TIGHT, adjacency=setting.neighbours),
            why=moved,
        )
        page.show(picture, key="bounds_errors")
    compared = words.comparison(tight.missed, lower.missed, published, at_own, setting.smoothness, own.smoothness)
    notes(setting, proofs.reasons(found), f"{words.best_guess(tight.guess, setting)} {compared}".lstrip())
    code = snippets.errors(**vars(setting), rate=rate)
    page.evidence(picture, errors.table_rows(found, rate), name="bounds-errors", code=code, note=ROUNDED)


def notes(setting: neighbours.Setting, silent: list[tuple[str, str]], more: str) -> None:
    """What stands under the picture: which proofs are silent and why, and what the curves stand for."""
    if style.embedded():
        return
    if silent:
        st.info("  \n".join(f"**{who}.** {why}" for who, why in silent), icon=":material/info:")
    if not math.isclose(setting.smoothness, setting.logistic_smoothness):
        more += " " + sentences.logistic_curve(setting.smoothness, setting.logistic_smoothness, setting.lipschitz)
    if more:
        st.caption(more)


def revealed() -> None:
    bounds = [b for b in proofs.NAMES if b not in SPECIAL]
    eps = {proofs.NAMES[b]: proofs.epsilon_at(b, BELOW_BETA, 1e-5) for b in bounds}
    chart = draw(BELOW_BETA, bounds, eps_max=5.0, floor=1e-10, height=380)
    page.show(page.Picture(chart, sentences.bounds_alt(eps, 1e-5)), key="bounds_try_chart")


page.begin(
    "bounds",
    "Objective perturbation adds a random tilt bᵀθ and λ/2 ‖θ‖² to the training objective and releases its minimiser. "
    "Each curve is a proof about that same release.",
)
explore()
page.predict(page.Prediction.of("bounds", revealed), key="bounds__try")
page.about("bounds")
