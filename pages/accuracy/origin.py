"""Where the accuracy comes from, one step after the other."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments import waterfall
from objpert_core.experiments.learners import NON_PRIVATE, UNPAID_STANDARDISED
from objpert_core.experiments.waterfall import Waterfall
from pages.accuracy.reading import Reading
from ui import page, snippets, style
from ui import waterfall as steps


class Origin(Reading):
    """The steps from the published learner to ours, as far as all were run."""

    @property
    def chain(self) -> Waterfall | None:
        """What each step changes."""
        return waterfall.of_stored(self.stored, self.epsilon)

    def missing(self) -> str:
        """The answer where the steps were not all run."""
        return f"{self.at} not every step is stored on {self.stored.label}."

    def levels(self) -> list[steps.Level]:
        """Whom the steps are compared with."""
        names = {NON_PRIVATE: "no privacy", self.stored.rival(self.epsilon): "best unpaid DP-SGD"}
        names |= {UNPAID_STANDARDISED: "best on standardised rows"}
        points = {method: self.point(method) for method in names if method}
        return [steps.Level(method, names[method], point.accuracy.mean) for method, point in points.items() if point]

    def code(self) -> str:
        """Python that prints what each step changes; defines ``found``."""
        return snippets.filled("accuracy", "origin", {"key": self.stored.key, "epsilon": self.epsilon})

    def show(self, left: DeltaGenerator, before: Reading | None, *, ghost: bool) -> None:
        """Draw the picture into `left`, and what stands below it."""
        chain = self.chain
        if chain is None:
            with left:
                page.answer(self.missing())
            return
        then = waterfall.of_stored(before.stored, before.epsilon) if before else None
        picture = steps.picture(chain, self.levels(), then if ghost else None)
        with left:
            page.answer(steps.answer(chain), promise=self.promise(), why=steps.why(then, chain))
            page.show(picture, key="accuracy_waterfall")
        if style.embedded():
            return
        if remark := self.stand_in():
            st.info(remark, icon=":material/info:")
        st.caption(steps.caption(chain, "split"))
        page.evidence(picture, steps.table(chain), name=f"accuracy_steps_{self.stored.key}", code=self.code())
