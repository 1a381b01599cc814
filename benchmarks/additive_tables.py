"""The tables of additive models beside others, from what `benchmarks.additive` has stored."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t

from benchmarks.shared import crossed, each
from objpert_core import _provenance
from objpert_core.experiments import results

NAMES = {
    "adult": "Adult",
    "hi": "`HI`: who has insurance",
    "diamonds": "diamonds: above 2,500 dollars",
    "flights": "flights: late by 15 minutes",
    "wages": "`CPS1988`: above 600 dollars a week",
    "crashes": "`nassCDS`: who died",
    "price": "diamonds: log price (R²)",
    "hours": "`HI`: weekly hours (R²)",
}
ASKED = (0.1, 1.0, 4.0)
ASKED_OF_BANDS = (0.5, 1.0, 4.0)


def _stored(name: str) -> pd.DataFrame:
    found = pd.DataFrame(_provenance.read_table(results.folder() / f"{name}.csv").rows)
    numbers = [column for column in found if column not in ("table", "learner", "method")]
    return found.assign(**{column: pd.to_numeric(found[column], errors="coerce") for column in numbers})


def values() -> Iterator[tuple[str, str]]:
    """Name in docs/results.in.md → table or number."""
    peers, luck = _stored("additive_peers"), _stored("additive_luck")
    tables = {head: {"table": name} for name, head in NAMES.items()}
    for name, column, some in (("scores", "score", tables), ("accuracies", "accuracy", dict(list(tables.items())[:6]))):

        def cell(table: str, epsilon: float, column: str = column) -> str:
            of = peers[(peers.table == table) & (peers.epsilon == epsilon)].groupby("learner")[column].mean()
            shown = [of.get("additive"), of.get("linear"), of.get("dp-ebm"), _luckiest(luck, table, epsilon, column)]
            return " / ".join("–" if one is None or math.isnan(one) else f"{one:.3f}" for one in shown)

        yield f"additive {name}", crossed("", some, each("ε = {:g}", "epsilon", ASKED), cell)
    rivals = {"DP-EBM": "dp-ebm", "our linear default": "linear", "DP-EBM's time ÷ ours": None}
    columns = {head: {"rival": rival} for head, rival in rivals.items()}
    yield (
        "additive verdict",
        crossed("", tables, columns, lambda table, rival: _told(peers[peers.table == table], rival)),
    )
    behind = [
        f"{NAMES[table]} at ε = {epsilon:g} by {best - own:.3f}"
        for table in NAMES
        for epsilon in ASKED
        if (best := _luckiest(luck, table, epsilon, "score")) > (own := _ours(peers, table, epsilon))
    ]
    yield "additive behind", "; ".join(behind) + "." if behind else "nowhere."
    plain = _stored("additive_without").groupby(["table", "learner"]).score.mean()
    told = []
    for name, head in NAMES.items():
        found = {"EBM": plain.get((name, "ebm")), "a linear model": plain.get((name, "not private"))}
        told += (
            []
            if not any(one is not None for one in found.values())
            else [f"{head} {', '.join(f'{key} {one:.3f}' for key, one in found.items() if one is not None)}"]
        )
    yield "additive without", f"{'; '.join(told)} (EBM without interactions)."
    rules = _stored("additive_rules").groupby(["table", "epsilon", "learner"]).score.mean().unstack()
    regret = rules.max(axis=1) - rules["rule"]
    numbers = regret.index.get_level_values("table").isin(["price", "hours"])
    yield "additive regret", f"{regret[~numbers].max():.4f} of AUC and {regret[numbers].max():.4f} of R²"
    yield "additive seeds", f"{_stored('additive_bands').seed.nunique()}"
    bands = _stored("additive_bands").groupby(["rows", "epsilon"])
    inside, width, pieces = (bands[name].mean() for name in ("inside", "width", "pieces"))
    sizes = {f"{rows:,} rows": {"rows": rows} for rows in sorted({rows for rows, _ in inside.index})}

    def band(rows: int, epsilon: float) -> str:
        at = rows, epsilon
        return (
            f"{100 * inside[at]:.0f} %, {width[at]:.2f}, {pieces[at]:.0f} pieces" if at in inside.index else "refused"
        )

    yield "additive bands", crossed("", sizes, each("ε = {:g}", "epsilon", ASKED_OF_BANDS), band)


def of_adult() -> Iterator[tuple[str, str]]:
    """Names in the short paper → AUC on Adult at each of `ASKED`."""
    peers, luck = _stored("additive_peers"), _stored("additive_luck")
    mean = peers[peers.table == "adult"].groupby(["learner", "epsilon"]).score.mean()

    def joined(numbers: Sequence[float], form: str = ".3f") -> str:
        return " / ".join(format(number, form) for number in numbers)

    yield "additive epsilons", joined(ASKED, "g")
    for name, learner in (("ours", "additive"), ("theirs", "dp-ebm")):
        yield f"additive {name}", joined([mean[learner, epsilon] for epsilon in ASKED])
    yield "additive lucky", joined([_luckiest(luck, "adult", epsilon, "score") for epsilon in ASKED])


def _ours(peers: pd.DataFrame, table: str, epsilon: float) -> float:
    of = peers[(peers.table == table) & (peers.epsilon == epsilon) & (peers.learner == "additive")]
    return float(of[of.split < 3].score.mean())


def _luckiest(luck: pd.DataFrame, table: str, epsilon: float, column: str) -> float:
    """What the best of the settings has, which the test rows have chosen."""
    of = luck[(luck.table == table) & (luck.epsilon == epsilon)].groupby("learner").mean(numeric_only=True)
    return math.nan if of.empty else float(of.loc[of.score.idxmax(), column])


def _told(rows: pd.DataFrame, rival: str | None) -> str:
    """At how many ε ours is ahead of, not told apart from and behind a rival, by paired intervals of 95 %.

    Without a rival the median of DP-EBM's time over ours.
    """
    by = rows.pivot_table(index=["epsilon", "split"], columns="learner", values="seconds" if rival is None else "score")
    if rival is None:
        return f"{(by['dp-ebm'] / by['additive']).median():.1f}"
    signs = [_sign(one.to_numpy()) for _, one in (by["additive"] - by[rival]).groupby(level=0)]
    return " / ".join(str(signs.count(sign)) for sign in (1, 0, -1))


def _sign(differences: Sequence[float] | np.ndarray) -> int:
    mean, count = float(np.mean(differences)), len(differences)
    reach = float(t.ppf(0.975, count - 1) * np.std(differences, ddof=1) / math.sqrt(count))
    return 0 if abs(mean) <= reach else int(np.sign(mean))
