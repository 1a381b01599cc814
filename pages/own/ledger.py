"""What a session has released of its owner's tables, and what all of it costs together."""

from collections.abc import Sequence

import streamlit as st

from objpert_core.estimators.own_table import together
from objpert_core.learning import PrivacyCertificate
from objpert_core.learning.certificates.shown import neighbours_in_words
from pages.own import release
from pages.own.jobs import Made
from ui import page, sentences

RELEASES, SPENT = "own__releases", "own__spent"
LEDGER = (
    "Each press of Fit is a separate release. All releases count together, even if you corrected the table in "
    "between. This list ends with the session, so write it down. The total holds if you fixed the ε of every release "
    "beforehand. If earlier releases decide the next ε, you need a privacy filter (see Several releases)."
)


def total(certificates: Sequence[PrivacyCertificate], delta: float) -> float:
    """The ε of all these releases together at `delta`; 0.0 where there is none."""
    return float(together(certificates).epsilon(delta)) if certificates else 0.0


def totals(releases: Sequence[Made], delta: float, known: Sequence[float] = ()) -> list[float]:
    """What all releases up to each one cost together; `known` are the first of these numbers."""
    certificates = [release.whole(made) for made in releases]
    return [*known, *(total(certificates[:end], delta) for end in range(len(known) + 1, len(releases) + 1))]


def spent(releases: Sequence[Made], delta: float) -> list[float]:
    """`totals` of this session; computed once for a δ."""
    at, known = st.session_state.get(SPENT, (delta, []))
    every = totals(releases, delta, known if at == delta else [])
    st.session_state[SPENT] = delta, every
    return every


def answer(releases: Sequence[Made], epsilon: float) -> str:
    """What this session's releases cost together."""
    what = sentences.count(len(releases), "release").capitalize()
    verb, together = ("costs", "") if len(releases) == 1 else ("cost", " together")
    return f"{what} of your data {verb} ε = {sentences.epsilon(epsilon)}{together}."


def promise(releases: Sequence[Made], epsilon: float, delta: float) -> str:
    """The promise of a session's releases."""
    accountant = release.accountant(releases[0]) if len(releases) == 1 else "one composition of all releases"
    certificates = [made.model.privacy_ for made in releases]
    weakest = max(reversed(certificates), key=lambda certificate: certificate.rows_declared is False)
    return sentences.promise(epsilon, delta, accountant, adjacency=neighbours_in_words(weakest.adjacency))


def rows(releases: Sequence[Made], spent: Sequence[float], delta: float) -> list[dict[str, str]]:
    """The releases as texts, each with what all up to it cost together."""
    return [
        {
            "Release": str(number),
            "Target": made.ask.schema.target.column,
            "Features": f"{len(made.names):,}",
            "ε": sentences.epsilon(made.model.privacy_.epsilon),
            "δ": sentences.delta(made.model.privacy_.delta),
            f"ε of all releases so far, at δ = {sentences.delta(delta)}": sentences.epsilon(so_far),
            # the longest, and cut off first on a telephone
            "Neighbours": neighbours_in_words(made.model.privacy_.adjacency),
        }
        for number, (made, so_far) in enumerate(zip(releases, spent, strict=True), 1)
    ]


def show(releases: Sequence[Made], delta: float) -> None:
    """The list, and the button that begins another one."""
    st.header("The releases of this session", anchor=False)
    alt = "The releases of this session and their total cost."
    page.table(rows(releases, spent(releases, delta), delta), alt=alt, name="own_releases")
    st.caption(LEDGER)
    st.button("Start a new list for other people’s data", key="own_anew", on_click=anew, icon=":material/restart_alt:")


def anew() -> None:
    for key in (RELEASES, SPENT):
        st.session_state.pop(key, None)
