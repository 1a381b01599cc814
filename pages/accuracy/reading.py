"""A stored file read at one ε: where it is from, how its numbers are written, where its accuracy comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import datasets
from objpert_core.experiments import results, waterfall
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import LEARNERS, NON_PRIVATE, TIGHT, UNPAID_STANDARDISED
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.summary import Interval
from objpert_core.experiments.tables import Claim, Point
from objpert_core.experiments.waterfall import Waterfall
from ui import figures, page, sentences, snippets, style
from ui import waterfall as steps
from ui.words import FEWEST, absent, accounted, ends, signed

LABELS: Mapping[str, str] = {method: LEARNERS[method].full_label for method in EVERY}
ROLE = {method: figures.of_learner(method) for method in EVERY}
BARS = FEWEST  # trials: with fewer, Student's t has bars that fill the plot
_TOO_SMALL = 0.005  # points; less prints as 0.00


def points(value: float) -> str:
    """A difference of accuracies in points, without its sign: '0.35 points'; what two decimals hide gets more."""
    size = abs(100 * value)
    return f"{sentences.number(size, 2) if 0 < size < _TOO_SMALL else f'{size:.2f}'} points"


def seconds(value: float) -> str:
    """A time: '0.263 s', '11.2 s', '340 s'."""
    return f"{sentences.number(value)} s" if value < 100 else f"{value:.0f} s"


def difference(found: Interval | None) -> str:
    """A table's cell: a difference in points with its interval."""
    if found is None:
        return "–"
    return whole(f"{signed(found.mean)}{f' ({ends(found)})' if found.known else ''}")


def whole(cell: str) -> str:
    """A cell that is not broken across lines: a telephone scrolls the table instead."""
    return cell.replace(" ", "\u00a0").replace("-", "\u2011")


def offer(label: str, reason: str, does: str, **look: Any) -> bool:
    """The button, disabled for a reason, beside what it does; whether it was pressed."""
    button, words = st.columns([1, 3], vertical_alignment="center")
    link = (
        f"“Share” above keeps these settings, too: anyone who opens its link can press “{label}” for the same numbers."
    )
    words.caption(f"{reason or does} {link}")
    return button.button(label, disabled=bool(reason), width="stretch", **look)


def cannot_run(dataset: str, expected: float | None = None, longest: float = 0.0) -> str:
    """Why a fit cannot be made here; empty if it can. `expected` is what stored trials took, in seconds."""
    if not datasets.available(dataset):
        return f"The files of {dataset} {absent(dataset)}. The page “Live training” says what to do."
    if expected is None or expected <= longest:
        return ""
    took = f"Stored trials of this point took {seconds(expected)} (median)"
    return f"{took}: too long for a shared server; the command line has no limit."


@dataclass(frozen=True)
class Reading:
    """A file of results, and where it is read."""

    stored: Stored
    epsilon: float

    @property
    def at(self) -> str:
        """The beginning of a sentence."""
        return f"At ε = {sentences.epsilon(self.epsilon)}"

    @property
    def claim(self) -> Claim | None:
        """Tight beside the best DP-SGD whose tuning is not paid for; None where not both have runs."""
        return self.stored.claims.get(self.epsilon)

    def point(self, method: str) -> Point | None:
        """What a method reached here; None where it has no run."""
        return self.stored.point(method, self.epsilon)

    def difference(self, first: str, second: str) -> Interval | None:
        """The first method's accuracy minus the second's, paired."""
        return self.stored.difference(first, second, self.epsilon)

    def same(self, other: "Reading") -> bool:
        """Whether another reading is of the same file at the same ε."""
        return other.stored is self.stored and other.epsilon == self.epsilon

    def promise(self) -> str:
        """What one private model by the tight bound promises, in one line."""
        if self.stored.delta is None:
            return ""
        runs = self.stored.runs(TIGHT, self.epsilon)
        noises = (runs[0].center_noise, runs[0].scale_noise) if runs else (None, None)
        return sentences.promise(self.epsilon, self.stored.delta, accounted(LEARNERS[TIGHT].accountant, *noises))

    def stand_in(self) -> str:
        """The warning that goes with a stand-in; empty for others."""
        warning = "these are not the real data. Compare the methods with each other, not with the paper’s numbers."
        return f"{self.stored.label}: {warning}" if self.stored.stand_in else ""


def draw(stored: Stored) -> None:
    """Draw the box, with the file itself."""
    with st.expander("Where these numbers are from", icon=":material/history:"):
        st.markdown("\n".join(f"* {line}" for line in provenance(stored)))
        page.table(configuration(stored), alt="How the runs were made.", name="accuracy_configuration")
        path = results.to_read(results.path_of(stored.key))
        page.download("Every run as CSV", path.read_bytes, path.name, "table_rows", key="accuracy_raw")


def provenance(stored: Stored) -> list[str]:
    """Where the stored runs are from: one line for each command that added rows, and the seeds."""
    lines = []
    splits = sorted({run.split_seed for run in stored.results.runs})
    for session in stored.results.sessions:
        commit = session.get("commit", "unknown")
        dirty = " with changes that were not committed" if commit.endswith("+") else ""
        lines.append(
            f"`{session.get('command', 'unknown command')}` at commit `{commit.rstrip('+')}`{dirty}, "
            f"{session.get('started', 'unknown time')}, on {session.get('machine', 'an unknown machine')}; "
            f"{session.get('versions', 'unknown versions')}."
            + (f" Note: {sentences.sentence(session['note'])}" if session.get("note") else "")
        )
    span = f"{splits[0]} to {splits[-1]}" if len(splits) > 1 else f"{splits[0]}" if splits else ""
    seeds = (
        f"Split seeds {span}, one for each trial, the same for all methods. The file has the noise seed of every "
        f"run. Anyone who knows a noise seed can subtract the noise, so these runs are measurements, not releases."
    )
    return [*lines, f"Package version {stored.results.version}. {seeds if splits else 'The file holds no run yet.'}"]


def configuration(stored: Stored) -> list[dict[str, str]]:
    """Every parameter that all runs of the file share, as rows of a table."""
    return [{"Parameter": name, "Value": _shown(value)} for name, value in stored.results.configuration.items()]


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


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
