"""What paying for the choice of a learning rate costs: the accuracy of every draw, paid and unpaid."""

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import datasets
from objpert_core.experiments.studies.tuning_runs import FIXED_RATE, Settings, TuningRuns
from pages.tuning.result import ResultPicture
from ui import draws, page, sentences, snippets, style
from ui.figures import axis, figure
from ui.snippets import Verbatim
from ui.words import FEWEST, SHOWS, accuracy, between, given, plus_minus, points, signed, times, unclear

WAYS = {
    "judges": "unpaid, on its judges",
    "fresh": "unpaid, on fresh rows",
    "honest": "paid, on fresh rows",
    "fixed": "fixed rate, on fresh rows",
}
ROLE = {"judges": "dpsgd-dishonest-rdp", "fresh": "dpsgd-dishonest-pld", "honest": "dpsgd-honest", "fixed": "tight"}
_FIELDS = {
    "epsilon": "ε",
    "delta": "δ",
    "judges": "judges",
    "mean_runs": "μ",
    "batch_size": "batch",
    "epochs": "epochs",
    "accountant": "accountant",
}


@dataclass(frozen=True)
class Accuracies(ResultPicture):
    """Every draw's accuracy for each way to get a learning rate; `before` is the result of the run before."""

    before: TuningRuns | None = None

    @property
    def ghost(self) -> TuningRuns | None:
        """The result before where it is drawn, too: it has to be about the same data."""
        before = self.before
        return before if before is not None and before.data.name == self.result.data.name else None

    def show(self, left: DeltaGenerator) -> None:
        """Draw the answer and the chart into `left`, and what stands below the stage."""
        settings, data = self.result.settings, self.result.data
        promise = sentences.promise(settings.epsilon, settings.delta, self.accountant())
        picture = page.Picture(self.chart(), self.alt(), self.frame)
        with left:
            page.answer(self.answer(), promise=promise, why=self.moved())
            page.show(picture, key="honest_accuracy")
        if style.embedded():
            return
        st.caption(self.caption())
        if data.stand_in_for:
            st.info(datasets.describe(data.name), icon=":material/info:")
        st.markdown(self.price())
        page.evidence(picture, self.table(), name=f"honest_{data.name}")

    def answer(self) -> str:
        """What paying costs; only after the first draw."""
        lost = given(self.result.difference("fresh", "honest"))
        paid, free = (accuracy(given(self.result.mean(way)).mean) for way in ("honest", "fresh"))
        told, size = lost.count >= FEWEST, points(100 * lost.mean)
        if told and unclear(lost):
            verdict = "the cost of paying for the choice is within the noise"
        elif abs(100 * lost.mean) < SHOWS:
            verdict = "paying for the choice costs no visible accuracy"
        elif lost.mean < 0:
            verdict = f"paying for the choice gains {size}"
        else:
            verdict = f"paying for the choice costs {size}"
        shares = f"{paid} right instead of {free}".replace(" %", "\u00a0%")
        if not told:  # one more draw may move it by points
            shares += f" ({sentences.count(lost.count, 'draw')})"
        return f"At ε = {sentences.epsilon(self.result.settings.epsilon)} {verdict}: {shares}."

    def accountant(self) -> str:
        """What the paid model's promise rests on."""
        curves = "Rényi curves" if self.result.settings.accountant == "rdp" else "privacy losses"
        return f"private selection over {curves}"

    def moved(self) -> str:
        """What was changed since the run before on the same data, and what that did to the price of paying."""
        if self.ghost is None or not (changes := sentences.changed(self.ghost.settings, self.result.settings, _FIELDS)):
            return ""
        then, now = (100 * given(result.difference("fresh", "honest")).mean for result in (self.ghost, self.result))
        price = sentences.course("the price", then, now, lambda value: sentences.minus(f"{value:.1f} points"))
        return f"{sentences.shift(changes)}: {price}."

    def price(self) -> str:
        """What the unpaid ε really is, and what paying takes."""
        result, settings = self.result, self.result.settings
        unpaid, paid = result.one.noise_multiplier, result.paid.noise_multiplier
        return (
            f"The unpaid model reports the ε of one run, {sentences.epsilon(settings.epsilon)}. The same noise costs "
            f"ε = {sentences.epsilon(result.true_epsilon)} once the choice among {len(settings.learning_rates)} rates "
            f"is paid for (μ = {settings.mean_runs:g} runs on average). To stay within the promise, paid tuning needs "
            f"a noise multiplier of {sentences.number(paid)} instead of {sentences.number(unpaid)}. A rate fixed in "
            f"advance, {FIXED_RATE:g}, costs no extra privacy."
        )

    def caption(self) -> str:
        """Which rows, how many draws, and what the dots and lines are."""
        result, data, several = self.result, self.result.data, len(self.result.draws) >= FEWEST
        rows = f"{data.train_rows:,} training rows, {data.test_rows:,} test rows, {data.columns} columns"
        drawn = sentences.count(len(result.draws), "noise draw").capitalize()
        lost = given(result.difference("fresh", "honest"))
        gap = f" What paying costs: {signed(lost.mean)} points, {between(lost)}." if several else ""
        bars = "; the line is the mean’s 95 % interval" if several else ""
        before = " The faint hollow marks are the means of the run before." if self.ghost is not None else ""
        return (
            f"{data.label}: {rows}. {drawn}: a faint dot each, the large mark is their mean{bars}.{before}{gap} "
            f"The unpaid model was chosen on {result.judges} of the {data.test_rows:,} test rows; the other "
            f"{data.test_rows - result.judges:,} are fresh. The promise of “unpaid” does not cover the choice."
        )

    def alt(self) -> str:
        means = {label: mean.mean for way, label in WAYS.items() if (mean := self.result.mean(way))}
        parts = ", ".join(f"{label} {accuracy(value)}" for label, value in means.items())
        drawn = sentences.count(len(self.result.draws), "draw")
        return f"Accuracy on {self.result.data.label} over {drawn}: {parts}."

    def table(self) -> list[dict[str, str]]:
        """One row a quantity, one column a way to come by a learning rate."""
        result = self.result
        means = {way: plus_minus(given(result.mean(way))) for way in WAYS}
        promised = sentences.epsilon(result.settings.epsilon)
        unpaid, paid = sentences.number(result.one.noise_multiplier), sentences.number(result.paid.noise_multiplier)
        unpaid_rates = times([draw.rates[draw.chosen] for draw in result.draws])
        paid_rates = times([draw.runs[draw.released] for draw in result.draws if draw.released is not None])
        counts = ", ".join(str(len(draw.runs)) for draw in result.draws)
        rows = {
            "right on fresh rows": [means[way] for way in ("fresh", "honest", "fixed")],
            "right on the rows that chose": [means["judges"], "noisy and secret", "no rows chose"],
            "ε promised": [f"{promised} for one run", promised, promised],
            "ε with the choice": [sentences.epsilon(result.true_epsilon), promised, promised],
            "noise multiplier": [unpaid, paid, unpaid],
            "runs": [str(len(result.settings.learning_rates)), f"K = {counts}", "1"],
            "learning rates chosen": [unpaid_rates, paid_rates, f"{FIXED_RATE:g}"],
        }
        return [
            {result.data.label: name, "unpaid": cells[0], "paid": cells[1], "fixed in advance": cells[2]}
            for name, cells in rows.items()
        ]

    def frame(self) -> pd.DataFrame:
        """A row for each draw."""
        return pd.DataFrame(
            [
                self.about()
                | {"noise_seed": draw.seed, **{way: draw.of(way) for way in WAYS}}
                | {"unpaid_learning_rate": draw.rates[draw.chosen], "K": len(draw.runs)}
                | {"paid_learning_rate": None if draw.released is None else draw.runs[draw.released]}
                for draw in self.result.draws
            ]
        )

    def code(self) -> str:
        """Python that prints the mean accuracies and every draw's K; defines ``last``."""
        settings = asdict(self.result.settings) | {"draws": len(self.result.draws)}
        default = asdict(Settings())
        changed = ", ".join(f"{name}={value!r}" for name, value in settings.items() if value != default[name])
        blanks = {"data": self.result.data.name, "split_seed": self.result.data.split_seed, "ways": tuple(WAYS)}
        return snippets.filled("tuning", "trained", {**blanks, "changed": Verbatim(changed)})

    def chart(self) -> Any:
        """Every draw as a faint dot and the mean with its 95 % interval, for each way to get a learning rate."""
        traces: list[dict[str, Any]] = []
        labels, seeds = [], [draw.seed for draw in self.result.draws]
        for place, (way, label) in enumerate(WAYS.items()):
            mean, former = self.result.mean(way), self.ghost.mean(way) if self.ghost is not None else None
            values = [draw.of(way) for draw in self.result.draws]
            traces += draws.spread(label, place, ROLE[way], mean, values, seeds, former)
            labels.append(f"{label.replace(', ', ',<br>')}<br>{accuracy(given(mean).mean)}")
        xaxis = draws.places("", labels, (-0.5, len(labels) - 0.5))
        yaxis = axis("share of right answers", draws.view(traces), tickformat=".1%")
        return figure(draws.faint(traces, self.stale), xaxis, yaxis, legend=False)
