"""Live training: the same logistic regression without privacy and under two calibrations, on one data set."""

import uuid

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.compare import MAX_REPEATS, PUBLISHED, TIGHT, TIGHT_BOUNDS, Comparison, Settings
from ui import page, raw_files, sentences, training
from ui import training_tables as tables
from ui import training_text as text
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Number,
    Preset,
    SelectSlider,
    Toggle,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
)
from ui.jobs import QueueFullError, shared_runner
from ui.training_jobs import Request, Run

POLL_SECONDS = 0.5

DATA = Choice(
    "training_data",
    "Data set",
    datasets.default_name(),
    options=datasets.names(),
    help="adult and gisette are the real UCI files; the names with -synthetic and -like are labelled stand-ins.",
)
EPSILON = SelectSlider(
    "training_epsilon",
    "Privacy budget ε",
    1.0,
    log_values(0.01, 100, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS),
    help="Of each private model: adding or removing one row changes what is released by a factor of e^ε at most.",
)
DELTA = SelectSlider(
    "training_delta",
    "Failure probability δ",
    1e-5,
    powers_of_ten(-12, -2),
    help="Keep it well below one over the number of rows.",
)
BOUND = Choice(
    "training_bound",
    "Bound behind “tight”",
    "logistic",
    options=TIGHT_BOUNDS,
    help="logistic: our theorem for the logistic loss. monotone: any loss whose derivative keeps its sign. glm: the "
    "published theorem, but accounted by its hockey-stick divergence instead of Rényi.",
)
REPEATS = Number(
    "training_repeats",
    "Noise draws",
    10,
    help=f"How often each private method is trained, 1 to {MAX_REPEATS}. More draws, narrower intervals; the server is "
    "shared, hence the limit.",
    low=1,
    high=MAX_REPEATS,
)
SPLIT_SEED = Number("training_split", "Split seed", 0, help="Which fifth of the rows is held out.", low=0, high=9999)
SEED = Number(
    "training_seed", "First noise seed", 0, help="Draw i uses this seed plus i, for both methods.", low=0, high=9999
)
SCALING = SelectSlider(
    "training_scaling",
    "Intercept scaling s",
    0.3,
    (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0),
    help="The constant appended to every row for “tight”: the row norm R = √(1 + s²) and with it the noise grow with "
    "s. “published” keeps the paper's s = 1.",
)
VIEW = Choice(
    "training_view",
    "Look closer",
    "ROC",
    options=("ROC", "ROC corner", "coefficients", "gradient norm", "certificate"),
    horizontal=True,
)
CLOSE_UP = Toggle(
    "training_closeup", "Close-up", False, help="Leave the majority class out of the picture to see the methods apart."
)

CONTROLS = (DATA, EPSILON, DELTA, BOUND, REPEATS, SPLIT_SEED, SEED, SCALING, CLOSE_UP, VIEW)


def table_2(epsilon: float) -> Preset:
    values = {DATA: datasets.default_name(), EPSILON: epsilon, DELTA: 1e-5, BOUND: "logistic", REPEATS: 10}
    values |= {SPLIT_SEED: 0, SEED: 0, SCALING: 0.3}
    return Preset(
        text.preset_name(epsilon, datasets.default_name()),
        values,
        f"Redberg et al. (2023), Table 2: Adult, δ = 1e-5, 10 trials. Runs {datasets.default_name()}.",
    )


PRESETS = tuple(table_2(epsilon) for epsilon in text.PAPER_TABLE_2)


def owner() -> str:
    return st.session_state.setdefault("training__owner", uuid.uuid4().hex)


def start(request: Request) -> None:
    """Queue the training; a run of this session that is still under way is stopped by it."""
    old: Run | None = st.session_state.get("training__run")
    before = old.job.view().latest if old else None
    if before is None or not before.of(TIGHT):
        before = old.previous if old else None
    try:
        job = shared_runner().submit(owner(), request.work)
    except QueueFullError as error:
        st.error(str(error), icon=":material/hourglass_disabled:")
        return
    st.session_state["training__run"] = Run(request, job, st.session_state.pop("training__guess", None), before)


def panel() -> tuple[Request, bool]:
    """The controls; returns what they ask for and whether Run was pressed."""
    name = DATA.show()
    st.caption(text.first_sentence(datasets.describe(name)))
    ready = datasets.available(name)
    if not ready:
        raw_files.offer(name, owner())
    epsilon, delta = EPSILON.show(), DELTA.show()
    bound, repeats = BOUND.show(), REPEATS.show()
    with st.expander("Seeds and intercept"):
        split_seed, seed, scaling = SPLIT_SEED.show(), SEED.show(), SCALING.show()
        st.caption(
            "Seeds make the page repeatable, for teaching. Whoever knows a noise seed can subtract the noise, so each "
            "certificate here is marked reproducible; a model for release is trained without one."
        )
    pressed = st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        key="training_run",
        disabled=not ready,
        help=None if ready else f"The files of {name} are missing or damaged.",
        width="stretch",
    )
    st.caption("Reloading the page or closing its tab stops a run and clears its results.")
    copy_link(CONTROLS)
    settings = Settings(epsilon, delta, bound, int(repeats), scaling, int(seed))
    return Request(name, int(split_seed), settings), pressed


def results(asked: Request, polling: bool) -> None:
    """The latest run, as far as it is."""
    run: Run | None = st.session_state.get("training__run")
    if run is None:
        st.info(
            f"Choose, guess, press Run: {asked.settings.fits} logistic regressions are trained on "
            f"{text.name_line(asked.name, datasets.describe(asked.name))}, one "
            f"without privacy and {sentences.count(asked.settings.repeats, 'noise draw')} each of two private ones.",
            icon=":material/play_circle:",
        )
        predict(asked)
        view_controls()
        return
    view = run.job.view()
    if polling and not view.active:
        st.rerun()  # the whole page once more, without the timer
    if view.active:
        share, words = text.progress(view)
        bar, stop = st.columns([4, 1], vertical_alignment="bottom")
        bar.progress(share, words)
        stop.button("Stop", key="training_stop", icon=":material/stop:", on_click=run.job.stop, width="stretch")
    elif words := text.outcome(view):
        (st.error if view.state == "failed" else st.info)(words, icon=":material/info:")
    moved = text.differences(run.request, asked)
    if moved:
        st.warning(moved, icon=":material/sync_problem:")
        if not view.active:
            predict(asked)
    comparison = view.latest
    if comparison is not None and comparison.fits:
        show(comparison, run, stale=moved is not None, finished=not view.active)
    else:
        view_controls()


def view_controls() -> None:
    """The controls of pictures that are not there yet: a control that is not drawn loses its place in the address."""
    st.caption("To look at once models are fitted:")
    VIEW.show()
    CLOSE_UP.show()


def predict(asked: Request) -> None:
    """Asks for a guess before Run; what it is compared with is not there yet."""
    question = (
        f"Before you press Run: how much accuracy will ε = {sentences.epsilon(asked.settings.epsilon)} cost? "
        "(Judged by the “tight” models: their mean accuracy against the model without privacy.)"
    )
    st.radio(question, text.GUESSES, index=None, key="training__guess", horizontal=True)


def show(comparison: Comparison, run: Run, *, stale: bool, finished: bool) -> None:
    st.markdown(f"**Data:** {text.data_line(comparison.data)}")
    page.answer(text.headline(comparison, finished=finished), *text.details(comparison))
    if finished and run.guess and (right := text.verdict(comparison)):
        (st.success if right == run.guess else st.info)(
            f"You guessed “{run.guess}”; for the tight models it is “{right}”.", icon=":material/psychology_alt:"
        )
    if comparison.data.stand_in_for:
        st.info(datasets.describe(comparison.data.name), icon=":material/info:")
    picture = training.accuracy(comparison, run.previous, close_up=CLOSE_UP.show(), stale=stale)
    name = f"training_{comparison.data.name}"
    page.chart(picture.figure, key="training_accuracy", alt=picture.alt, filename=name)
    notes = (text.paper(comparison), text.caveats(comparison))
    st.caption(" ".join(note for note in notes if note))
    page.table(tables.table(comparison), alt=picture.alt)
    page.downloads(picture.numbers, picture.figure, filename=name, title=picture.alt)
    look_closer(comparison, run, stale)
    with st.expander("About the data", icon=":material/database:"):
        st.markdown(f"{datasets.describe(comparison.data.name)}\n\n{comparison.data.citation}")
    if comparison.of(TIGHT):
        shown = comparison.settings
        draws = len(comparison.of(TIGHT))
        settings = Settings(shown.epsilon, shown.delta, shown.bound, draws, shown.intercept_scaling, shown.seed)
        page.reproduce(
            tables.snippet(comparison.data.name, comparison.data.split_seed, settings, comparison.data.columns),
            note="Prints the data set and the accuracies: without privacy, published, tight.",
        )


def look_closer(comparison: Comparison, run: Run, stale: bool) -> None:
    view = VIEW.show()
    if view == "certificate":
        certificates(comparison)
        return
    if view.startswith("ROC"):
        picture = training.roc(comparison, run.previous, corner=view != "ROC", stale=stale)
    elif view == "coefficients":
        picture = training.coefficients(comparison, stale=stale)
        st.caption(
            "The largest coefficients of the model without privacy, and the private ones beside them: mean over the "
            "draws, line from the least to the greatest. Which are largest was looked up without privacy, as "
            "everything on this page: it teaches. What may be released is one private model with its certificate."
        )
    else:
        picture = training.gradient_norms(comparison, stale=stale)
        st.caption(
            "The proof needs the gradient's norm at the solution to be at most τ; the solver goes on until it is, and "
            "a fit that cannot reach it is not released. The path depends on the data: do not publish it."
        )
    kind = view.replace(" ", "_").lower()
    name = f"training_{kind}_{comparison.data.name}"
    page.chart(picture.figure, key=f"training_{kind}_chart", alt=picture.alt, filename=name)
    page.downloads(picture.numbers, picture.figure, filename=name, title=picture.alt)


def certificates(comparison: Comparison) -> None:
    st.caption(
        "What may be published with a model. These fits were seeded, so each certificate says reproducible: for a "
        "release, train once without a seed. Each fit spends its own ε; fits on the same people add up."
    )
    for column, method in zip(st.columns(2), (PUBLISHED, TIGHT), strict=True):
        fits = comparison.of(method)
        if not fits or fits[0].privacy is None:
            continue
        public = fits[0].privacy.public()
        with column:
            st.markdown(f"**{text.LABELS[method]}**, noise seed {fits[0].seed}, on {comparison.data.label}")
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


page.title(
    "What does privacy cost in accuracy?",
    "The same logistic regression three times: without privacy, with the published calibration of objective "
    "perturbation, and with our tight one. Same promise for both private ones, (ε, δ), add or remove one row.",
)
preset_buttons(PRESETS, prefix="training")
if note := text.preset_note(datasets.default_name(), bool(datasets.damage("adult"))):
    st.caption(note)
controls, picture = st.columns([1, 2.6], gap="medium")
with controls, page.errors():
    asked, pressed = panel()
with picture, page.errors():
    if pressed:
        start(asked)
    latest: Run | None = st.session_state.get("training__run")
    active = latest is not None and latest.job.view().active
    st.fragment(results, run_every=POLL_SECONDS if active else None)(asked, active)

page.explain(
    page.text("training"),
    reference="Redberg, Koskela and Wang (2023), Algorithm 1, Theorem 4.1, Section 5 and Table 2; the tight logistic "
    "bound is this project's own theorem (see the README).",
)
