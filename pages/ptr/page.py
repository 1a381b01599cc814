"""Propose-test-release, generalised (Redberg, Zhu and Wang 2023): what kind data save, and what asking them costs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from objpert_core.experiments.ptr import glm, pca, regression, voting
from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.pate import LABELS as LABELLED
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.stored import Stored
from objpert_core.experiments.ptr.teachers import Proposal, Teachers
from pages.ptr import gamma, line, line_charts, pate, snippets, stored_charts, stored_numbers, vote
from pages.ptr import panel as ctl
from pages.ptr import stored_words as kept
from pages.ptr.stored_numbers import Curve, Look
from ui import controls as c
from ui import page


def on_a_line() -> None:
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
    before = c.previous("ptr_line", replace(shown, seed=0), ctl.GHOST.value())  # a new draw keeps the ghost
    page.answer(line.answer(shown))
    st.caption(line.line(shown))
    picture = page.Picture(line_charts.points(shown, before), line.alt(shown), partial(line.frame, shown))
    page.show(picture, key="ptr_chart")
    page.chart(line_charts.epsilons(shown), key="ptr_epsilons_chart", alt=line.epsilons_alt(shown))
    test = line_charts.noisy_distance(shown)
    if test is None:
        st.info(line.distance_alt(shown), icon=":material/info:")
    else:
        page.chart(test, key="ptr_test_chart", alt=line.distance_alt(shown))
    page.evidence(picture, line.rows(shown), name="ptr", code=snippets.points(shown))


def ballot() -> None:
    shown = vote.Shown(Ballot(ctl.EPSILON.value(), ctl.DELTA.value(), ctl.NOISE.value()), ctl.GAP.value())
    before = c.previous("ptr_vote", shown, ctl.GHOST.value())
    page.answer(vote.answer(shown))
    st.caption(vote.line(shown))
    picture = page.Picture(vote.chart(shown, before), vote.alt(shown), partial(vote.frame, shown))
    page.show(picture, key="ptr_vote_chart")
    page.evidence(picture, vote.rows(shown), name="ptr_vote", code=snippets.vote(shown))


def teachers() -> None:
    asked = Proposal(
        Teachers(ctl.FIRST.value(), ctl.SECOND.value(), ctl.NUMBER.value(), ctl.SIGMA.value()),
        ctl.LABELS.value(),
        ctl.TEST.value(),
    )
    before = c.previous("ptr_pate", asked, ctl.GHOST.value())
    page.answer(pate.answer(asked))
    st.caption(pate.line(asked))
    picture = page.Picture(pate.chart(asked, before), pate.alt(asked), partial(pate.frame, asked))
    page.show(picture, key="ptr_pate_chart")
    page.chart(pate.costs(asked), key="ptr_costs_chart", alt=pate.costs_alt(asked))
    page.chart(pate.votes(asked), key="ptr_votes_chart", alt=pate.votes_alt(asked))
    page.evidence(picture, pate.rows(asked), name="ptr_pate", code=snippets.pate(asked))


def precision() -> None:
    shown = gamma.Draw(ctl.LAM.value(), ctl.EIGENVALUE.value(), ctl.EPSILON.value(), ctl.DELTA.value())
    before = c.previous("ptr_gamma", shown, ctl.GHOST.value())
    page.answer(gamma.answer(shown))
    st.caption(gamma.line(shown))
    picture = page.Picture(gamma.chart(shown, before), gamma.alt(shown), partial(gamma.frame, shown))
    page.show(picture, key="ptr_gamma_chart")
    page.evidence(picture, gamma.rows(shown), name="ptr_gamma", code=snippets.gamma(shown))


def stored(name: str, draw: Callable[[Stored], None]) -> None:
    """A picture of stored results; a word about them where there are none."""
    found = stored_numbers.file_of(name)
    if found is None:
        st.info(kept.nothing_stored(name), icon=":material/info:")
        return
    draw(found)
    st.caption(kept.made(found))


def kept_picture(told: str, under: str, shown: tuple[Curve, ...], at: float, look: Look) -> None:
    """Answer, caption, chart and table of curves that are read off at one place."""
    page.answer(told)
    st.caption(under)
    figure = stored_charts.lines(shown, at, look)
    picture = page.Picture(figure, kept.alt(told, shown, look.y), partial(stored_numbers.frame, shown, look.column))
    page.show(picture, key=f"ptr_{look.name}_chart")
    listed = kept.rows(shown, at, look.y, percent=look.percent)
    code = snippets.stored(look, at, shown)
    page.evidence(picture, listed, name=f"ptr_{look.name}", code=code, note=snippets.STORED)


def votes(found: Stored) -> None:
    panel = ctl.PANEL.value()
    if panel == "b":
        look = Look("voting", "epsilon", "ε of Laplace noise that errs as often", "ε at δ", setting={"panel": "b"})
        shown = stored_numbers.curves(found, look, voting.LABELS["b"])
        at = stored_numbers.nearest(shown, ctl.EQUAL.value())
        kept_picture(kept.equal_error_answer(shown, at), kept.equal_error_line(at), shown, at, look)
        return
    noise = float(panel)
    setting = {"panel": "a", "epsilon": noise}
    look = Look(
        "voting", "gap", "gap: votes ahead (secret)", "ε of the noise", setting=setting, log_x=False, log_y=False
    )
    shown = stored_numbers.curves(found, look, voting.LABELS["a"])
    gap = ctl.WIDE_GAP if panel == "10" else ctl.NARROW_GAP
    at = stored_numbers.nearest(shown, gap.value())
    kept_picture(kept.gap_answer(shown, at), kept.gap_line(noise), shown, at, look)


def regressions(found: Stored) -> None:
    table = ctl.TABLE.value()
    look = Look("regression", "epsilon", "privacy budget ε", "mean squared test error", setting={"dataset": table})
    shown = stored_numbers.curves(found, look, regression.LABELS)
    if not shown:
        st.info(kept.nothing_stored("regression"), icon=":material/info:")
        return
    at = stored_numbers.nearest(shown, ctl.STORED.value())
    refused = found.interval("refused", dataset=table, method="ptr-split", epsilon=at)
    told = kept.regression_answer(shown, at)
    kept_picture(told, kept.regression_line(table, at, refused.mean if refused else 0.0), shown, at, look)


def labelling(found: Stored) -> None:
    source = ctl.SOURCE.value()
    look = Look("pate", "sigma", "noise σ on each count", "ε of all labels", setting={"source": source})
    shown = stored_numbers.curves(found, look, LABELLED)
    at = stored_numbers.nearest(shown, (ctl.DIGITS if source == "digits" else ctl.COUNTED).value())
    right = found.values("right", source=source, sigma=at, method="exact")[0]
    kept_picture(kept.teachers_answer(shown, at), kept.teachers_line(source, right), shown, at, look)


def curvature(found: Stored) -> None:
    look = Look("glm", "epsilon", "privacy budget ε", "test accuracy", log_y=False, percent=True, over="lam")
    shown = stored_numbers.curves(found, look, glm.LABELS)
    at = stored_numbers.nearest(shown, ctl.STORED.value())
    kept_picture(kept.glm_answer(shown, at), kept.glm_line(at), shown, at, look)


def directions(found: Stored) -> None:
    spread = ctl.SPREAD.value()
    look = Look("pca", "n", "rows n", "sin² of the angle to the data’s own direction", setting={"spread": spread})
    shown = stored_numbers.curves(found, look, pca.LABELS)
    at = stored_numbers.nearest(shown, ctl.ROWS.value())
    kept_picture(kept.pca_answer(shown, at), kept.pca_line(spread), shown, at, look)


def paying() -> None:
    name = ctl.PAYS.value()
    stored(name, {"glm": curvature, "pca": directions}[name])


DRAWN: Mapping[str, Callable[[], None]] = {
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
    with left, page.errors():
        DRAWN[view]()


page.begin(
    "ptr",
    "Most data need less noise than the worst data do. Propose little noise, test privately whether these data allow "
    "it, release only then.",
)
ctl.POINTS.mend()
explore()
page.predict(page.Prediction.of("ptr"), key="ptr__try")
page.about("ptr")
