"""Live training: the same task without privacy and by any of the private learners, on one data set."""

from dataclasses import replace
from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.compare import METHODS, Comparison, Settings
from objpert_core.experiments.learners import NON_PRIVATE, SGD
from pages.training import charts, controls, tables
from pages.training import words as text
from pages.training.jobs import Meter, Request
from ui import live, page, sentences, share
from ui.controls import preset_buttons
from ui.runs import Runs, Seen
from ui.words import GRIDS, data_line, first_sentence

RUNS: Runs[Comparison] = Runs("training")
DATA = controls.data()


def panel() -> tuple[Request, bool]:
    """The controls; returns what they ask for and whether Run was pressed."""
    name = DATA.show()
    st.caption(first_sentence(datasets.describe(name)))
    ready = live.ready(name)
    methods = controls.LEARNED.show()
    if not methods:
        st.warning("Choose at least one method.", icon=":material/checklist:")
    epsilon, delta = controls.EPSILON.show(), controls.DELTA.show()
    bound, repeats = controls.BOUND.show(), controls.REPEATS.show()
    with st.expander("Seeds, intercept and solver"):
        split_seed, seed, scaling = controls.SPLIT_SEED.show(), controls.SEED.show(), controls.SCALING.show()
        solver = controls.SOLVER.show()
        st.caption(text.ABOUT_SOLVER)
        st.caption(text.ABOUT_SEEDS)
    settings = Settings(epsilon, delta, bound, repeats, scaling, seed, methods or METHODS, solver=solver)
    if not set(SGD).isdisjoint(methods):
        settings = replace(settings, **descent())
    why_not = None if ready else f"The files of {name} are missing or damaged."
    pressed = live.run_button("training", ready=bool(ready and methods), why_not=why_not)
    st.caption("Reloading the page or closing its tab stops a run and clears its results.")
    share.button((DATA, *controls.CONTROLS))
    return Request(name, split_seed, settings), pressed


def descent() -> dict[str, Any]:
    """DP-SGD's parameters; drawn only where a DP-SGD is among the methods."""
    with st.expander("DP-SGD", expanded=True):
        batch, epochs = controls.BATCH.show(), controls.EPOCHS.show()
        rates, runs = GRIDS[controls.RATES.show()], float(controls.MEAN_RUNS.show())
        st.caption(text.schedule(epochs, rates, runs))
    return {"batch_size": batch, "epochs": epochs, "learning_rates": rates, "mean_runs": runs}


def results(asked: Request) -> None:
    words = text.invitation(asked, datasets.describe(asked.name), ready=datasets.available(asked.name))
    unseen = (controls.VIEW, controls.CLOSE_UP)
    live.results(
        RUNS, asked, text, invitation=words, worth=lambda found: found.fits, show=show, ask=guess, unseen=unseen
    )


def guess(asked: Request) -> None:
    """Asks for a guess before Run; what it is compared with is not there yet."""
    main = asked.settings.main
    if main is None or NON_PRIVATE not in asked.settings.methods or not datasets.available(asked.name):
        return  # nothing will be compared with anything
    question = (
        f"Before you press Run: how much accuracy will ε = {sentences.epsilon(asked.settings.epsilon)} cost? "
        f"(Judged by the “{text.LABELS[main]}” models: their mean accuracy against the model without privacy.)"
    )
    st.radio(question, text.GUESSES, index=None, key="training__guess", horizontal=True)


def show(seen: Seen[Comparison], comparison: Comparison, stale: bool) -> None:
    before, finished, data = seen.run.previous, not seen.view.active, comparison.data
    st.markdown(f"**Data:** {data_line(data)}")
    page.answer(text.headline(comparison, finished=finished), *text.details(comparison))
    guessed = seen.run.guess
    if finished and guessed and (right := text.verdict(comparison)):
        main = text.LABELS[comparison.settings.main or ""]
        words = f"You guessed “{guessed}”; for the {main} models it is “{right}”."
        (st.success if right == guessed else st.info)(words, icon=":material/psychology_alt:")
    if data.stand_in_for:
        st.info(datasets.describe(data.name), icon=":material/info:")
    picture = charts.accuracy(comparison, before, close_up=controls.CLOSE_UP.show(), stale=stale)
    page.show(picture, key="training_accuracy")
    st.caption(" ".join(filter(None, (text.paper(comparison), text.caveats(comparison)))))
    page.evidence(picture, tables.table(comparison), name=f"training_{data.name}")
    look_closer(comparison, before, stale)
    with st.expander("About the data", icon=":material/database:"):
        st.markdown(f"{datasets.describe(data.name)}\n\n{data.citation}")
    if settings := tables.reproducible(comparison):
        order = ", ".join(text.LABELS[name] for name in settings.methods)
        code = tables.snippet(data.name, data.split_seed, settings, data.columns)
        page.reproduce(code, note=f"Prints the data set and the accuracies: {order}.")


def look_closer(comparison: Comparison, before: Comparison | None, stale: bool) -> None:
    view = controls.VIEW.show()
    if view == "certificate":
        certificates(comparison)
        return
    if view == "coefficients":
        picture = charts.coefficients(comparison, stale=stale)
        st.caption(text.ABOUT_COEFFICIENTS)
    elif view == "gradient norm":
        picture = charts.gradient_norms(comparison, stale=stale)
        st.caption(text.ABOUT_GRADIENTS)
    else:
        picture = charts.roc(comparison, before, corner=view != "ROC", stale=stale)
    kind = view.replace(" ", "_").lower()
    page.show(picture, key=f"training_{kind}_chart")
    page.evidence(picture, name=f"training_{kind}_{comparison.data.name}")


def certificates(comparison: Comparison) -> None:
    st.caption(text.ABOUT_CERTIFICATES)
    fitted = [method for method in comparison.settings.private if comparison.of(method)]
    for place, method in enumerate(fitted):
        if place % 2 == 0:
            pair = st.columns(2)
        first = comparison.of(method)[0]
        assert first.privacy is not None
        public = first.privacy.public()
        with pair[place % 2]:
            st.markdown(f"**{text.LABELS[method]}**, noise seed {first.seed}, on {comparison.data.label}")
            st.code(repr(public), language=None, wrap_lines=True)
            st.download_button(
                "Certificate as JSON",
                public.to_json(),
                f"certificate_{method}_{comparison.data.name}.json",
                "application/json",
                key=f"training_certificate_{method}",
                on_click="ignore",
                icon=":material/verified_user:",
            )


page.begin(
    "training",
    "The same task, learned without privacy and by private learners of your choice: Algorithm 1 published and tight, "
    "and its rivals, each calibrated to the same (ε, δ) for adding or removing one row.",
)
preset_buttons(controls.presets(DATA), prefix="training")
if note := text.preset_note(datasets.default_name(), bool(datasets.damage("adult"))):
    st.caption(note)
left, right = page.columns()
with right, page.errors():
    asked, pressed = panel()
with left, page.errors():
    if pressed:
        guessed = st.session_state.get("training__guess")
        if live.start(RUNS, asked, Meter(), text.worth, guess=guessed):
            st.session_state.pop("training__guess", None)
    RUNS.follow(results, asked)

st.caption(text.NOT_HERE)
page.see_also("losses", "regression, other losses")
page.see_also("accuracy", "the strongest DP-SGD, ten splits")
page.about("training")
