"""Propose-test-release, generalised (Redberg, Zhu and Wang 2023): what kind data save, and what asking them costs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.ptr import glm, pca, regression, voting
from objpert_core.experiments.ptr import pate as teachers_study
from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.pate import LABELS as LABELLED
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.teachers import Proposal, Teachers
from objpert_core.experiments.results import Results
from pages.ptr import gamma, line, line_charts, pate, snippets, stored_charts, stored_numbers, vote
from pages.ptr import panel as ctl
from pages.ptr import stored_words as kept
from pages.ptr.stored_numbers import Curve, Look
from ui import controls as c
from ui import page, sentences, style

T = TypeVar("T")


def stage(left: DeltaGenerator, picture: page.Picture, key: str, told: str, promise: str, why: str = "") -> bool:
    """The answer and its chart; whether there is more to draw, which a slide has not."""
    with left:
        page.answer(told, promise=promise, why=why)
        page.show(picture, key=key)
    return not style.embedded()


def further(picture: page.Picture, name: str) -> None:
    """A further chart with its files."""
    page.show(picture, key=f"{name}_chart")
    page.evidence(picture, name=name)


def on_a_line(left: DeltaGenerator) -> None:
    half = ctl.EPSILON.value() / 2  # for the test, and for what follows it
    data = Points(
        ctl.POINTS.points(),
        ctl.PEOPLE.value(),
        ctl.BETA.value(),
        half,
        ctl.DELTA.value(),
        ctl.PUBLISH.value(),
    )
    shown = line.Shown(data, ctl.SEED.value(), ctl.FALLBACK.value())
    before = c.previous("ptr_line", replace(shown, seed=0))  # a new draw keeps the ghost
    picture = page.Picture(line_charts.points(shown, ghost(before)), line.alt(shown), partial(line.frame, shown))
    if not stage(left, picture, "ptr_chart", line.answer(shown), line.promise(shown), line.moved(before, shown)):
        return
    st.caption(line.happened(shown, shown.outcome))
    page.evidence(picture, line.rows(shown), name="ptr", code=snippets.points(shown))
    bars, test = st.columns(2, gap="medium")
    with bars:
        figure = line_charts.epsilons(shown)
        further(page.Picture(figure, line.epsilons_alt(shown), partial(line.epsilons_frame, shown)), "ptr_epsilons")
    with test:
        law = line_charts.noisy_distance(shown)
        if law is None:
            st.info(line.distance_alt(shown), icon=":material/info:")
        else:
            further(page.Picture(law, line.distance_alt(shown), partial(line.test_frame, shown)), "ptr_test")


def ghost(before: T) -> T | None:
    """The setting before, where it is to be seen."""
    return before if ctl.GHOST.value() else None


def ballot(left: DeltaGenerator) -> None:
    shown = vote.Shown(Ballot(ctl.EPSILON.value(), ctl.DELTA.value(), ctl.NOISE.value()), ctl.GAP.value())
    before = c.previous("ptr_vote", shown)
    picture = page.Picture(vote.chart(shown, ghost(before)), vote.alt(shown), partial(vote.frame, shown))
    if not stage(left, picture, "ptr_vote_chart", vote.answer(shown), vote.promise(shown), vote.moved(before, shown)):
        return
    st.caption(vote.note(shown))
    page.evidence(picture, vote.rows(shown), name="ptr_vote", code=snippets.vote(shown))
    own = page.Picture(vote.epsilons(shown), vote.epsilons_alt(shown), partial(vote.epsilons_frame, shown))
    further(own, "ptr_vote_epsilons")


def teachers(left: DeltaGenerator) -> None:
    asked = Proposal(
        Teachers(ctl.FIRST.value(), ctl.SECOND.value(), ctl.NUMBER.value(), ctl.SIGMA.value()),
        ctl.LABELS.value(),
        ctl.TEST.value(),
    )
    before = c.previous("ptr_pate", asked)
    picture = page.Picture(pate.chart(asked, ghost(before)), pate.alt(asked), partial(pate.frame, asked))
    if not stage(left, picture, "ptr_pate_chart", pate.answer(asked), pate.promise(asked), pate.moved(before, asked)):
        return
    st.caption(pate.note(asked))
    page.evidence(picture, pate.rows(asked), name="ptr_pate", code=snippets.pate(asked))
    costs, votes = st.columns(2, gap="medium")
    with costs:
        further(page.Picture(pate.costs(asked), pate.costs_alt(asked), partial(pate.costs_frame, asked)), "ptr_costs")
    with votes:
        further(page.Picture(pate.votes(asked), pate.votes_alt(asked), partial(pate.votes_frame, asked)), "ptr_votes")


def precision(left: DeltaGenerator) -> None:
    shown = gamma.Draw(ctl.LAM.value(), ctl.EIGENVALUE.value(), ctl.EPSILON.value(), ctl.DELTA.value())
    before = c.previous("ptr_gamma", shown)
    numbers = partial(gamma.frame, shown)
    picture = page.Picture(gamma.chart(shown, ghost(before)), gamma.alt(shown), numbers)
    if not stage(
        left, picture, "ptr_gamma_chart", gamma.answer(shown), gamma.promise(shown), gamma.moved(before, shown)
    ):
        return
    st.caption(gamma.note(shown))
    page.evidence(picture, gamma.rows(shown), name="ptr_gamma", code=snippets.gamma(shown))
    further(page.Picture(gamma.gammas(shown, ghost(before)), gamma.gammas_alt(shown), numbers), "ptr_gammas")


def stored(name: str, draw: Callable[[DeltaGenerator, Results], None], left: DeltaGenerator) -> None:
    """A picture of stored results; a word about them where there are none."""
    found = stored_numbers.file_of(name)
    if found is None:
        st.info(kept.nothing_stored(name), icon=":material/info:")
        return
    draw(left, found)
    if not style.embedded():
        st.caption(kept.made(found))


def kept_picture(
    left: DeltaGenerator, told: str, promise: str, note: str, shown: tuple[Curve, ...], at: float, look: Look
) -> None:
    """Answer, chart, caption and table of curves that are read off at one place."""
    figure = stored_charts.lines(shown, at, look, every=ctl.EVERY.value())
    picture = page.Picture(figure, kept.alt(told, shown, look.y), partial(stored_numbers.frame, shown, look.column))
    if not stage(left, picture, f"ptr_{look.name}_chart", told, promise):
        return
    st.caption(note)
    listed = kept.rows(shown, at, look.y, percent=look.percent)
    code = snippets.stored(look, at, shown)
    page.evidence(picture, listed, name=f"ptr_{look.name}", code=code, note=snippets.STORED)


def votes(left: DeltaGenerator, found: Results) -> None:
    panel = ctl.PANEL.value()
    if panel == "b":
        look = Look("voting", "epsilon", "ε of Laplace noise that errs as often", "ε at δ", setting={"panel": "b"})
        shown = stored_numbers.curves(found, look, voting.LABELS["b"])
        at = stored_numbers.nearest(shown, ctl.EQUAL.value())
        promise = kept.promise(None, voting.DELTA, kept.VOTER)
        kept_picture(left, kept.equal_error_answer(shown, at), promise, kept.equal_error_note(at), shown, at, look)
        return
    noise = float(panel)
    setting = {"panel": "a", "epsilon": noise}
    look = Look(
        "voting", "gap", "gap: votes ahead (secret)", "ε of the noise", setting=setting, log_x=False, log_y=False
    )
    shown = stored_numbers.curves(found, look, voting.LABELS["a"])
    gap = ctl.WIDE_GAP if panel == "10" else ctl.NARROW_GAP
    at = stored_numbers.nearest(shown, gap.value())
    promise = kept.promise(noise, voting.DELTA, kept.VOTER)
    kept_picture(left, kept.gap_answer(shown, at), promise, kept.GAP_NOTE, shown, at, look)


def regressions(left: DeltaGenerator, found: Results) -> None:
    table = ctl.TABLE.value()
    look = Look("regression", "epsilon", "privacy budget ε", "mean squared test error", setting={"dataset": table})
    shown = stored_numbers.curves(found, look, regression.LABELS)
    if not shown:
        st.info(kept.nothing_stored("regression"), icon=":material/info:")
        return
    at = stored_numbers.nearest(shown, ctl.STORED.value())
    refused = found.interval("refused", dataset=table, method="ptr-split", epsilon=at)
    note = kept.regression_note(table, refused.mean if refused else 0.0)
    promise = kept.promise(at, regression.DELTA, sentences.ADJACENCY)
    kept_picture(left, kept.regression_answer(shown, at), promise, note, shown, at, look)


def labelling(left: DeltaGenerator, found: Results) -> None:
    source = ctl.SOURCE.value()
    look = Look("pate", "sigma", "noise σ on each count", "ε of all labels", setting={"source": source})
    shown = stored_numbers.curves(found, look, LABELLED)
    at = stored_numbers.nearest(shown, (ctl.DIGITS if source == "digits" else ctl.COUNTED).value())
    right = found.values("right", source=source, sigma=at, method="exact")[0]
    promise, note = kept.promise(None, teachers_study.DELTA, kept.TEACHER), kept.teachers_note(source, right)
    kept_picture(left, kept.teachers_answer(shown, at), promise, note, shown, at, look)


def curvature(left: DeltaGenerator, found: Results) -> None:
    look = Look("glm", "epsilon", "privacy budget ε", "test accuracy", log_y=False, percent=True, over="lam")
    shown = stored_numbers.curves(found, look, glm.LABELS)
    at = stored_numbers.nearest(shown, ctl.STORED.value())
    promise = kept.promise(at, glm.DELTA, sentences.ADJACENCY)
    kept_picture(left, kept.glm_answer(shown, at), promise, kept.GLM_NOTE, shown, at, look)


def directions(left: DeltaGenerator, found: Results) -> None:
    spread = ctl.SPREAD.value()
    look = Look("pca", "n", "rows n", "sin² of the angle to the data’s own direction", setting={"spread": spread})
    shown = stored_numbers.curves(found, look, pca.LABELS)
    at = stored_numbers.nearest(shown, ctl.ROWS.value())
    promise = kept.promise(pca.EPSILON, pca.DELTA, sentences.ADJACENCY)
    kept_picture(left, kept.pca_answer(shown, at), promise, kept.pca_note(spread), shown, at, look)


def paying(left: DeltaGenerator) -> None:
    name = ctl.PAYS.value()
    stored(name, {"glm": curvature, "pca": directions}[name], left)


DRAWN: Mapping[str, Callable[[DeltaGenerator], None]] = {
    "line": on_a_line,
    "vote": ballot,
    "figure3": partial(stored, "voting", votes),
    "gamma": precision,
    "figure1": partial(stored, "regression", regressions),
    "pate": teachers,
    "figure2": partial(stored, "pate", labelling),
    "pays": paying,
}


@st.fragment
def explore() -> None:
    c.preset_buttons(ctl.PRESETS, prefix="ptr")
    left, right = page.columns()
    with right, page.errors():
        view = ctl.panel()
    with page.errors():
        DRAWN[view](left)


page.begin(
    "ptr",
    "Most data need less noise than the worst data do. Propose little noise, test privately whether it suffices, "
    "release only then.",
)
ctl.POINTS.mend()
explore()
page.predict(page.Prediction.of("ptr"), key="ptr__try")
page.about("ptr")
