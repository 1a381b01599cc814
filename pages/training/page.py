"""Live training: the same task without privacy and by any of the private learners, on one data set."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.estimators import PrivacyCertificate
from objpert_core.experiments import waterfall
from objpert_core.experiments.compare import METHODS, Comparison, Settings
from objpert_core.experiments.learners import COMPARABLE, DP_SGD, NON_PRIVATE, SGD
from pages.training import charts, controls, tables
from pages.training import words as text
from pages.training.jobs import Meter, Request, able_to_learn, together
from ui import live, page, style
from ui import waterfall as steps
from ui.controls import preset_buttons
from ui.runs import Runs
from ui.words import GRIDS, data_line

RUNS: Runs[Comparison] = Runs("training")
DATA = controls.data()
ALL = (DATA, *controls.CONTROLS)


Shown = tuple[page.Picture, Comparison, Comparison | None, bool]
# What the stage shows: the picture, its models, those of the setting before, and whether the controls moved on


def explore() -> None:
    """Presets, picture and panel in one fragment, which polls while a long method is trained."""
    presets, shown = controls.presets(DATA), None
    preset_buttons(presets, prefix="training")
    left, right = page.columns()
    with right:
        asked = panel(presets)
    with left, page.errors():
        shown = stage(asked)
    if shown is None or style.embedded():
        page.keep(controls.VIEW)
    else:
        below(*shown)


def stage(asked: Request) -> Shown | None:
    """The answer and its picture; None where there is none, or none before a guess."""
    if (made := found(asked)) is None:
        nothing_yet(asked)
        return None
    comparison, stale = made
    before = before_this(asked, comparison)
    if not guessed(asked, comparison):
        return None
    why = text.judged(guess_at(asked), comparison) or text.why(before, comparison)
    page.answer(text.headline(comparison), promise=text.promise(comparison), why=why)
    ghost = before if controls.GHOST.value() else None
    picture = charts.accuracy(comparison, ghost, close_up=controls.CLOSE_UP.value(), stale=stale)
    page.show(picture, key="training_accuracy")
    return picture, comparison, ghost, stale


def beside(comparison: Comparison, before: Comparison | None, stale: bool) -> None:
    """What else moves with ε; a phone shows these two pictures further down only, by "Look closer"."""
    left, right = st.columns(2)
    with left:
        if text.has_curves(comparison):
            page.show(charts.roc(comparison, before, small=True, stale=stale), key="training_roc_beside")
        else:
            st.caption(text.NO_CURVES)
    with right:
        page.show(charts.coefficients(comparison, before, small=True, stale=stale), key="training_coefficients_beside")


def panel(presets: Any) -> Request:
    """The controls; returns what they ask for."""
    epsilon, place = controls.EPSILON.show(), st.container()  # Run, progress and Stop are in sight at any height
    name, place_of_draws = DATA.show(), st.container()
    with st.popover("Compare methods", icon=":material/compare_arrows:", width="stretch"):
        methods = controls.LEARNED.show()
    controls.PREDICT.show()
    publishable = controls.PUBLISHABLE.show()
    begin_with_few(methods)
    with place_of_draws:
        repeats = one_draw() if publishable else controls.REPEATS.show()
    with page.tools(ALL, presets, name="training"):
        delta, bound, split_seed, seed, scaling, solver = (control.show() for control in controls.MODEL)
        controls.CLOSE_UP.show()
        controls.GHOST.show()
        sgd = descent() if not set(SGD).isdisjoint(methods) else {}
    able = able_to_learn(name, methods)
    settings = Settings(epsilon, delta, bound, repeats, scaling, seed, able or METHODS, solver=solver)
    asked = Request(name, split_seed, replace(settings, **sgd, publishable=publishable))
    if not methods:
        st.warning("Choose at least one method.", icon=":material/checklist:")
    elif len(able) < len(methods):
        st.caption(text.two_classes_only([method for method in methods if method not in able], name))
    with place:
        if live.ready(name):
            run(asked.later)
    return asked


def one_draw() -> int:
    """The number of draws where a score is to be published: each one more would cost its own ε."""
    page.keep(controls.REPEATS)
    return 1


def begin_with_few(methods: Sequence[str]) -> None:
    """Few draws where a DP-SGD has just been chosen, and as many as usual where the last one was left out."""
    key, slow = "training__slow", not set(SGD).isdisjoint(methods)
    before = st.session_state.get(key, slow)  # a link is taken at its word
    usual, few = controls.REPEATS.default, controls.FEW_DRAWS
    if slow != before and controls.REPEATS.value() == (usual if slow else few):
        st.session_state[controls.REPEATS.key] = controls.REPEATS.stored(few if slow else usual)
    st.session_state[key] = slow


def descent() -> dict[str, Any]:
    """DP-SGD's parameters; drawn only where a DP-SGD is among the methods."""
    batch, epochs, rates, runs = (control.show() for control in controls.DESCENT)
    st.caption(text.schedule(epochs, GRIDS[rates], float(runs)))
    return {"batch_size": batch, "epochs": epochs, "learning_rates": GRIDS[rates], "mean_runs": float(runs)}


def run(later: Request | None) -> None:
    """Run for what takes long, with its progress and Stop; a run of what was chosen before ends when nothing does."""
    seen = RUNS.seen()
    if later is None:
        if seen is not None and seen.view.active:
            seen.run.job.stop()
        return
    if seen is None or seen.run.request != later or seen.view.state in ("stopped", "failed"):
        pressed = live.run_button("training", ready=True, why_not=text.invitation(later))
        if pressed and live.start(RUNS, later, Meter(), lambda found: bool(found.fits)):
            st.rerun()
        st.caption(text.estimate(later))
    under_way = seen is not None and seen.view.active
    if seen is not None and (moved := text.differences(seen.run.request, later, under_way=under_way)):
        st.caption(moved)
    RUNS.look(lambda seen: text.progress(seen.view, seen.run.meter), text.outcome, narrow=True)


def found(asked: Request) -> tuple[Comparison, bool] | None:
    """What there is to show, and whether the controls have moved on; None where everything waits for Run."""
    if not datasets.available(asked.name):
        return None
    seen, later = RUNS.seen(), asked.later
    ran = seen.latest if seen is not None and later is not None else None
    fresh = seen is not None and seen.run.request == later
    if asked.at_once:
        with st.spinner("Training …"):
            parts = live.at_once(*asked.at_once)
        return together(asked.settings, [*parts, ran] if ran is not None and fresh else parts), False
    return (ran, not fresh) if ran is not None and ran.fits else None


def before_this(asked: Request, comparison: Comparison) -> Comparison | None:
    """What this session saw before this setting, for the ghosts and the reason."""
    held, key = st.session_state.get("training__shown"), "training__shown"
    before = None if held is None else held[2] if held[0] == asked else held[1]
    st.session_state[key] = asked, comparison, before
    return before


def nothing_yet(asked: Request) -> None:
    """Where nothing has been trained: what to press."""
    later = asked.later
    if not datasets.available(asked.name):
        st.info(asked.unready, icon=":material/inventory_2:")
    elif later is not None and not RUNS.active:
        st.info(text.invitation(later), icon=":material/play_circle:")


def guess_at(asked: Request) -> str | None:
    """What was guessed for this setting."""
    held = st.session_state.get("training__guess")
    return held[1] if held is not None and held[0] == asked and controls.PREDICT.value() else None


def guessed(asked: Request, comparison: Comparison) -> bool:
    """Whether the picture may be seen; where a guess is wanted first, its buttons stand in the picture's place."""
    comparable = comparison.settings.main is not None and NON_PRIVATE in asked.settings.methods
    if not controls.PREDICT.value() or guess_at(asked) or not comparable:
        return True
    place = st.container()
    with place:
        page.answer(text.question(asked))
        with st.container(horizontal=True):
            for number, guess in enumerate(text.GUESSES):
                st.button(guess, key=f"training_guess_{number}", on_click=remember, args=(asked, guess))
    return False


def remember(asked: Request, guess: str) -> None:
    st.session_state["training__guess"] = asked, guess


def below(picture: page.Picture, comparison: Comparison, before: Comparison | None, stale: bool) -> None:
    """What stands under the stage: what it rests on, and the other pictures of the same models."""
    if not style.on_phone():
        beside(comparison, before, stale)
    data, descended = comparison.data, any(comparison.of(method) for method in SGD)
    notes = (text.which_dp_sgd(comparison.settings) if descended else "", text.paper(comparison))
    st.caption(" ".join(filter(None, (f"{data_line(data)}", text.caveats(comparison), *notes))))
    page.evidence(picture, tables.table(comparison), name=f"training_{data.name}")
    look_closer(comparison, before, stale)
    with st.expander("About the data", icon=":material/database:"):
        st.markdown(f"{datasets.describe(data.name)}\n\n{data.citation}")
    if settings := tables.reproducible(comparison):
        order = ", ".join(text.LABELS[name] for name in settings.methods)
        code, note = tables.snippet(data, settings), f"Prints the data set and the accuracies: {order}."
        if settings.publishable:
            printed = text.LABELS[tables.printed_method(settings)]
            code, note = tables.publishable_snippet(data, settings), text.PRINTS_WHAT_MAY_BE_PUBLISHED.format(printed)
        page.reproduce(code, note=note)


def look_closer(comparison: Comparison, before: Comparison | None, stale: bool) -> None:
    view, classes = controls.VIEW.show(), len(comparison.data.classes)
    if view == "certificate":
        certificates(comparison, before)
        return
    if view == controls.ORIGIN:
        origin(comparison)
        return
    if view == "coefficients":
        picture = charts.coefficients(comparison, before, stale=stale)
        st.caption(text.ABOUT_IMAGES if classes > 2 else text.ABOUT_COEFFICIENTS)
    elif view == "gradient norm":
        picture = charts.gradient_norms(comparison, stale=stale)
        st.caption(text.ABOUT_GRADIENTS)
    elif not text.has_curves(comparison):
        st.caption(text.NO_CURVES)
        return
    else:
        picture = charts.roc(comparison, before, corner=view != "ROC", stale=stale)
        if classes > 2:
            st.caption(text.ABOUT_ROC.format(classes))
    kind = view.replace(" ", "_").lower()
    page.show(picture, key=f"training_{kind}_chart")
    page.evidence(picture, name=f"training_{kind}_{comparison.data.name}")


def origin(comparison: Comparison) -> None:
    """Where the accuracy comes from: the learners between the published one and the default, refitted here and now."""
    data = comparison.data
    settings = replace(comparison.settings, methods=tuple(waterfall.CHAIN), publishable=False)
    chain = Request(data.name, data.split_seed, settings).at_once
    if len(chain) < len(waterfall.CHAIN):
        st.info(text.NO_STEPS, icon=":material/info:")
        return
    with page.errors(), st.spinner("Training …"):
        found = waterfall.of_comparison(together(settings, live.at_once(*chain)))
        if found is None:
            return
        others = [method for method in comparison.settings.methods if method not in waterfall.CHAIN]
        reached = {method: comparison.accuracy(method) for method in others}
        levels = [steps.Level(m, text.LABELS[m], share.mean) for m, share in reached.items() if share]
        picture = steps.picture(found, levels)
        st.markdown(f"**{steps.answer(found)}**")
        page.show(picture, key="training_origin_chart")
        st.caption(steps.caption(found, "noise seed"))
        code = tables.chain_snippet(data, settings)
        page.evidence(picture, steps.table(found), name=f"training_origin_{data.name}", code=code)


def certificates(comparison: Comparison, before: Comparison | None) -> None:
    st.caption(text.ABOUT_CERTIFICATES)
    alt = "The certificate now, and at the setting before."
    page.table(tables.certificates(comparison, before), alt=alt, name="training_certificates")
    fitted = [method for method in comparison.settings.private if comparison.of(method)]
    for place, method in enumerate(fitted):
        if place % 2 == 0:
            pair = st.columns(2)
        first = comparison.of(method)[0]
        assert first.privacy is not None
        public = first.privacy.public()
        with pair[place % 2]:
            st.markdown(f"**{text.LABELS[method]}**, noise seed {first.seed}, on {comparison.data.label}")
            page.verbatim(repr(public))
            if COMPARABLE[method].standardised and COMPARABLE[method].kind == DP_SGD:
                st.caption(text.ABOUT_MAPPED)
            name = f"certificate_{method}_{comparison.data.name}.json"
            page.download("Certificate as JSON", partial(_encoded, public), name, "verified_user")


def _encoded(public: PrivacyCertificate) -> bytes:
    return public.to_json().encode()


page.begin("training", "The same task, learned without privacy and by private learners, each at the same (ε, δ).")
RUNS.follow(explore)
if note := text.preset_note(datasets.default_name()):
    st.caption(note)
st.caption(text.NOT_HERE)
page.see_also("losses", "regression, other losses")
page.see_also("accuracy", "the strongest DP-SGD, ten splits")
page.about("training")
