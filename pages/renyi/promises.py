"""What the curves promise: ε over δ, both mechanisms, both accountants, and random allocation on request."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from pages.renyi.controls import ALLOCATION, HOVER, NAMES, SHORT, Setting
from ui import figures, page, sentences

DELTAS = tuple(float(f"1e-{k}") for k in range(2, 13, 2))
WIDTH = 0.002  # DP-SGD's ε is bounded to within this share of itself
RESOLVED = 0.1  # random allocation's is shown where the bounds are at least as close as this share of it
LEAST_DELTA = 1e-13  # of a step: below that random allocation is not resolved


@dataclass(frozen=True)
class Promise:
    """What one mechanism promises at `DELTAS`: ε by its Rényi curve, and by its privacy loss distribution."""

    renyi: FloatArray
    exact: FloatArray
    least: FloatArray  # the numbers in `exact` are upper bounds; no smaller ones than these are true

    @property
    def resolved(self) -> FloatArray:
        """`exact`, and NaN where the bounds are too far apart to be worth a mark."""
        return np.where(self.exact - self.least <= RESOLVED * self.exact, self.exact, np.nan)

    def excess(self, known: NDArray[np.bool_]) -> str:
        """By how much of itself an ε of those `known` may be too large, rounded up."""
        share = float(((self.exact - self.least)[known] / self.exact[known]).max(initial=0.0))
        return sentences.percent(math.ceil(1000 * share) / 1000)


@lru_cache(maxsize=1000)
def promise(mechanism: acc.Mechanism) -> Promise:
    """ε at every δ of `DELTAS`, accounted both ways; inf where nothing is proved."""
    deltas = np.array(DELTAS)
    renyi = np.asarray(acc.via_rdp(mechanism).epsilon(deltas))
    if isinstance(mechanism, acc.DPSGD):
        least, exact = mechanism.epsilon_bounds(deltas, relative_width=WIDTH)
        return Promise(renyi, np.minimum(exact, renyi), least)  # both are proved
    if isinstance(mechanism, acc.RandomAllocation):
        least, exact = np.zeros(deltas.size), renyi.copy()
        told = deltas >= LEAST_DELTA * mechanism.steps * mechanism.epochs
        if told.any():
            least[told], above = mechanism.epsilon_bounds(deltas[told], relative_width=WIDTH)
            exact[told] = np.minimum(above, renyi[told])
        return Promise(renyi, exact, least)
    exact = np.asarray(mechanism.epsilon(deltas))
    return Promise(renyi, exact, exact)


@dataclass(frozen=True)
class Promises:
    """ε over δ of a setting; `delta` is marked, random allocation is `allocated` on request."""

    setting: Setting
    delta: float = 1e-5
    allocated: bool = False

    def promise(self, which: str) -> Promise:
        return promise(self.setting.mechanism(which))

    @property
    def allocation(self) -> Promise | None:
        """What random allocation promises, where it is asked for and the setting has whole epochs."""
        return self.promise("allocation") if self.allocated and self.setting.epochs else None

    def show(self) -> None:
        """Draw the chart, its captions, its table and its files."""
        title = f"ε over δ by Rényi and by privacy loss distributions, {self.setting}"
        picture = page.Picture(self.chart(), self.alt(), self.frame, title)
        page.show(picture, key="renyi_promises")
        st.caption(self.certified())
        if self.allocated:
            st.caption(self.about_allocation())
        with st.expander("The same numbers as a table", icon=":material/table_rows:"):
            page.table(self.table(), alt="ε at δ from 10⁻² to 10⁻¹², both mechanisms, accounted both ways")
        page.evidence(picture, shown=self.table(), name="renyi-epsilon")

    def alt(self) -> str:
        """Both ends of each curve, exact."""
        parts = []
        for which in ("objective", "dpsgd"):
            first, *_, last = map(sentences.epsilon, self.promise(which).exact)
            parts.append(f"{NAMES[which]} from {first} to {last}")
        if self.allocation:
            shown = [(delta, e) for delta, e in zip(DELTAS, self.allocation.resolved, strict=True) if e >= 0]
            if shown:
                (_, first), (delta, last) = shown[0], shown[-1]
                ends = f"from {sentences.epsilon(first)} to {sentences.epsilon(last)}"
                parts.append(f"{ALLOCATION} {ends} at δ = {sentences.delta(delta)}")
        return f"ε from δ = 10⁻² to 10⁻¹², by privacy loss distributions: {'; '.join(parts)}. By Rényi ε is larger."

    def certified(self) -> str:
        """How sharp DP-SGD's ε are."""
        run = self.promise("dpsgd")
        return (
            "DP-SGD’s ε come from its privacy loss distribution: upper bounds by a numerically validated "
            f"convolution. Here the true ε are at most {run.excess(run.exact > 0)} smaller "
            "(both ends are in the file)."
        )

    def about_allocation(self) -> str:
        """What random allocation would be here, from which δ on down it is not resolved, or why it is left out."""
        steps, epochs = self.setting.per_epoch, self.setting.epochs
        if not isinstance(steps, int):
            return (
                f"{ALLOCATION} is left out: an epoch would have 1/q = {steps:,.1f} steps, which is not a whole "
                "number. Take q = 0.01, 0.02 or 0.05."
            )
        if epochs is None:
            return (
                f"{ALLOCATION} is left out: {self.setting.steps:,.0f} steps are not a whole number of epochs of "
                f"1/q = {steps:,} steps."
            )
        allocation = self.promise("allocation")
        text = (
            f"{ALLOCATION}: in each of {epochs:,} {'epoch' if epochs == 1 else 'epochs'} every row is in one of "
            f"{steps:,} {'step' if steps == 1 else 'steps'}, drawn at random. "
            "The random draw helps the privacy loss distribution, but not the Rényi curve."
        )
        known = allocation.resolved > 0
        if known.any():
            text += f" These ε are upper bounds, too; the true ε are at most {allocation.excess(known)} smaller."
        if missing := [delta for delta, e in zip(DELTAS, allocation.resolved, strict=True) if math.isnan(e)]:
            text += f" From δ = {sentences.delta(max(missing))} on, the distribution is too fine to compute."
        return text

    def table(self) -> list[dict[str, str]]:
        """The numbers as texts, one row a δ."""
        fit, run = self.promise("objective"), self.promise("dpsgd")
        rows = [
            {
                "δ": sentences.delta(delta),
                "Objective perturbation, Rényi": sentences.proved(fit.renyi[i]),
                "… distribution": sentences.proved(fit.exact[i]),
                "DP-SGD, Rényi": sentences.proved(run.renyi[i]),
                "… distribution ": sentences.proved(run.exact[i]),
            }
            for i, delta in enumerate(DELTAS)
        ]
        if self.allocation:
            for row, epsilon in zip(rows, self.allocation.resolved, strict=True):
                row[f"{ALLOCATION}, distribution"] = sentences.proved(epsilon) if epsilon >= 0 else "not resolved"
        return rows

    def frame(self) -> pd.DataFrame:
        """One column for δ, and ε of each mechanism accounted both ways."""
        columns: dict[str, object] = {"delta": np.array(DELTAS)}
        for which in self.setting.names(self.allocated):
            own = self.promise(which)
            columns |= {f"{which}_renyi": own.renyi, f"{which}_pld": own.exact, f"{which}_pld_at_least": own.least}
        return pd.DataFrame(columns)

    def chart(self) -> Any:
        """The curves; random allocation's by its distribution only, as its Rényi curve has no amplification."""
        deltas = np.array(DELTAS)
        both = {which: self.promise(which) for which in ("objective", "dpsgd")}
        known = [curve[np.isfinite(curve)] for own in both.values() for curve in (own.renyi, own.exact)]
        top = 1.05 * max((float(curve.max()) for curve in known if curve.size), default=1.0)
        by_renyi, exact = [], []
        for which, own in both.items():
            name, look = SHORT[which], self.setting.role(which)
            thin = {"color": figures.look(look).color, "dash": "dot", "width": 1.5}
            values = figures.finite(own.renyi)
            by_renyi.append(
                figures.series(f"{name}, Rényi", deltas, values, look, mode="lines+markers", hover=HOVER, line=thin)
            )
            exact.append(figures.series(name, deltas, figures.finite(own.exact), look, hover=HOVER))
        if self.allocation:
            values = self.allocation.resolved
            top = max(top, 1.05 * float(np.nanmax(values, initial=0.0)))
            exact.append(figures.series(ALLOCATION, deltas, values, "allocation", hover=HOVER))
        traces = [figures.guide((self.delta, self.delta), (0, top)), *by_renyi, *exact]
        xaxis = figures.axis("slack δ: rarer events to the right", (1.4e-2, 7e-13), log=True)
        yaxis = figures.axis("privacy budget ε", (0.0, top))
        return figures.figure(traces, xaxis, yaxis, height=360)
