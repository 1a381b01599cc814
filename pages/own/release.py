"""A released model: its picture, what it promises, its Python. What they show may be published, so it costs nothing."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core._literals import call
from objpert_core._validation import FloatArray
from objpert_core.datasets import Dialect, NumericTarget, SeveralValues, safe_cell, safe_label, safe_text
from objpert_core.estimators import own_table
from objpert_core.evaluation.classes import ClassEvaluation
from objpert_core.learning import PrivacyCertificate
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from objpert_core.learning.certificates.shown import neighbours_in_words
from pages.own import shapes
from pages.own.jobs import TEST_SHARE, Ask, Made
from pages.own.shapes import short
from ui import draws, page, sentences
from ui.figures import axis, bars, figure, guide, look, series
from ui.page import Picture
from ui.snippets import Verbatim, filled
from ui.words import ACCOUNTANTS, accounted

MOST = 12  # coefficients
MANY = 1e9  # rows
ROLE = "tight"


def is_additive(made: Made) -> bool:
    """Whether it has curves in place of coefficients."""
    return made.ask.model == own_table.ADDITIVE


def rule(ask: Ask) -> None:
    """Say which model the rule takes, and why, before the fit."""
    if ask.model == own_table.BY_RULE:
        st.caption(chosen(ask))


def chosen(ask: Ask) -> str:
    """Which model the rule takes, and why: by public numbers alone."""
    least = ask.rows_for_curves
    if ask.intervals:
        return "Straight lines, since intervals are asked for."
    needed = f"{sentences.number(least, 2, up=True)} rows" if least < MANY else "far more rows"
    if ask.rows is None:
        return f"From {needed} on a curve for each column, else straight lines: Fit counts the rows."
    what = "A curve for each column" if ask.rows >= least else "Straight lines"
    return f"{what}: curves are expected to be more accurate from {needed} on."


def weights(made: Made) -> FloatArray:
    """One coefficient a feature; where there are intervals, without the pull of λ."""
    if (summary := errors(made)) is not None:
        return summary["coef"].to_numpy()
    return np.take_along_axis(made.model.coef_.reshape(-1, len(made.names)), strongest(made)[None], axis=0)[0]


def strongest(made: Made) -> np.ndarray:
    """The place of the target's value that each feature speaks for or against most; 0 where there is one answer."""
    return np.argmax(np.abs(made.model.coef_.reshape(-1, len(made.names))), axis=0)


def values_of(made: Made) -> tuple[str, ...]:
    """The values of a target that has several, each with coefficients of its own; empty for others."""
    target = made.ask.schema.target
    return () if isinstance(target, NumericTarget) or len(target.values) == 2 else target.values


def names_of(made: Made) -> list[str]:
    """The features' names; with the value that each speaks for or against most, where the target has several."""
    values = values_of(made)
    return [
        f"{name} → {values[place]}" if values else name
        for name, place in zip(made.names, strongest(made).tolist(), strict=True)
    ]


def errors(made: Made) -> pd.DataFrame | None:
    """Coefficients with intervals, for features as the model takes them; None where there are no intervals."""
    model: Any = made.model
    return model.summary() if made.ask.intervals and not is_additive(made) else None


def whole(made: Made) -> PrivacyCertificate:
    """The certificate of all that was released: of model and scores together, where there are scores."""
    return made.model.privacy_ if made.evaluation is None else own_table.whole(made)


def caution(made: Made) -> None:
    """Say beside the intervals what released numbers say against them, where they do."""
    if (summary := errors(made)) is not None and (told := summary.attrs["caution"]):
        st.warning(told, icon=":material/warning:")


def scores(made: Made) -> None:
    """Draw the scores that may be published, where there are some."""
    if made.evaluation is not None:
        share = sentences.percent(TEST_SHARE, 0)
        proof = certificate(made)
        learned = (
            f" The model learned from the other m = {proof.public_rows} rows." if proof.rows_declared is False else ""
        )
        st.caption(f"**Scores that may be published**, from {share} of the people, put aside by a coin each.{learned}")
        alt = "The scores that may be published, with 95 % intervals."
        page.table(made.evaluation.statement(), alt=alt, name="own_scores")
    if known := made.ask.schema.references if errors(made) is not None else {}:
        against = ", ".join(f"{safe_text(name)} = {safe_text(category)}" for name, category in known.items())
        st.caption(
            f"The table’s coefficients are for one unit of the column; categories are compared with {against}. The "
            "picture’s coefficients are for columns as the model scales them."
        )


def told(made: Made) -> str:
    """The most telling number: the accuracy with its interval where there are scores, else the largest coefficient."""
    evaluation = made.evaluation
    if isinstance(evaluation, ClassEvaluation):
        one = evaluation.accuracy()
        return f"accuracy {sentences.percent(one.low)} to {sentences.percent(one.high)}."
    return shapes.largest(made) if is_additive(made) else largest(made)


def by_size(values: FloatArray) -> np.ndarray:
    """The places of the largest coefficients, largest first."""
    return np.argsort(-np.abs(values), kind="stable")[:MOST]


def frame(made: Made) -> pd.DataFrame:
    """Every coefficient; names as a spreadsheet may open them."""
    names = [safe_cell(name) for name in made.names]
    columns: dict[str, Any] = {"feature": names, "coefficient": weights(made)}
    if several := values_of(made):
        by_value = dict(zip(map(safe_cell, several), made.model.coef_, strict=True))
        columns = {"feature": names} | {f"coefficient, {value}": values for value, values in by_value.items()}
    if (summary := errors(made)) is not None:
        columns |= {"low": summary["[0.025"].to_numpy(), "high": summary["0.975]"].to_numpy()}
    return pd.DataFrame(columns)


def table(made: Made) -> list[dict[str, str]]:
    """The largest coefficients as texts, largest first; of an additive model where each column adds most and least."""
    if is_additive(made):
        return shapes.table(made)
    values = weights(made)
    order = by_size(values)
    if made.ask.intervals:
        summary = own_table.summary(made)
        return [
            {
                "Feature": made.names[place],
                "Coefficient": sentences.number(float(row["coef"])),
                "95 % interval": f"{sentences.number(row['[0.025'])} to {sentences.number(row['0.975]'])}",
                "P": sentences.fixed(float(row["P>|z|"])),
            }
            for place in order
            for row in (summary.iloc[place],)
        ]
    if several := values_of(made):
        return [
            {"Feature": made.names[place]}
            | {f"“{value}”": sentences.number(float(made.model.coef_[at, place])) for at, value in enumerate(several)}
            for place in order
        ]
    return [{"Feature": made.names[place], "Coefficient": sentences.number(float(values[place]))} for place in order]


def picture(made: Made, before: Made | None = None, *, stale: bool = False) -> Picture:
    """The largest coefficients; hollow those of the release before, where both have a feature and the same target.

    Of an additive model its curves.
    """
    if is_additive(made):
        return shapes.picture(made, before, stale=stale)
    chosen = np.sort(by_size(weights(made)))
    every = names_of(made)
    names, values = [every[place] for place in chosen], weights(made)[chosen]
    places = np.arange(len(names), dtype=float)
    traces: list[dict[str, Any]] = [guide([0, 0], [-0.5, len(names) - 0.5])]
    edges = [0.0, *values]
    if before is not None and before.ask.schema.target == made.ask.schema.target and not is_additive(before):
        known = dict(zip(names_of(before), weights(before), strict=True))
        then = np.array([known.get(name, np.nan) for name in names])
        hollow = {"symbol": f"{look(ROLE).symbol}-open", "size": 10, "color": look(ROLE).color}
        traces.append(series("before", then, places, ROLE, ghost=True, mode="markers", marker=hollow))
        edges += list(then[np.isfinite(then)])
    if not made.ask.intervals:  # which would lie on them
        stems = np.column_stack([np.zeros(len(names)), values, np.full(len(names), np.nan)]).ravel()
        traces.append(series("", stems, np.repeat(places, 3), ROLE, showlegend=False, hoverinfo="skip"))
    dots = series("released", values, places, ROLE, mode="markers", hover="%{customdata}: %{x:.3g}")
    labels = [safe_label(short(name)) for name in names]
    if (summary := errors(made)) is not None:
        low, high = (summary[end].to_numpy()[chosen] for end in ("[0.025", "0.975]"))
        dots["error_x"] = bars(low, values, high, ROLE, thickness=2, width=4)
        edges += [*low, *high]
    traces.append(dots | {"customdata": np.array(labels, dtype=object)})
    pad = 0.05 * (max(edges) - min(edges)) or 1.0
    traces = draws.faint(traces, stale)
    xaxis = axis(_axis(made), (min(edges) - pad, max(edges) + pad))
    yaxis = draws.places("", labels, (len(names) - 0.5, -0.5))
    chart = figure(traces, xaxis, yaxis, height=130 + 30 * max(len(names), 6), legend=False, hovermode="closest")
    order = np.argsort(-np.abs(values))[:5]
    listed = "; ".join(f"{safe_text(short(names[k]))} {sentences.number(float(values[k]))}" for k in order)
    alt = f"The {len(names)} largest coefficients of the released model. Largest: {listed}."
    epsilon, delta = sentences.epsilon(made.ask.epsilon), sentences.delta(made.ask.delta)
    return Picture(chart, alt, partial(frame, made), f"Released coefficients, ε = {epsilon}, δ = {delta}")


def _axis(made: Made) -> str:
    target = made.ask.schema.target
    if isinstance(target, NumericTarget):
        return f"coefficient, in units of “{safe_label(short(target.column))}”"
    if values_of(made):
        return "coefficient of the value after →"
    return f"coefficient, towards “{safe_label(short(target.values[-1]))}”"


def largest(made: Made) -> str:
    """The largest coefficient: '“age” weighs most, −3.21.'; the name counts as one word, however it is written."""
    values = weights(made)
    place = int(np.argmax(np.abs(values)))
    called = f"“{short(' '.join(names_of(made)[place].split()))}”".replace(" ", "\u00a0")
    return f"{called} weighs most, {sentences.number(float(values[place]))}."


def certificate(made: Made) -> ObjectivePerturbationCertificate:
    """The certificate, of the one kind that both estimators of the page write."""
    assert isinstance(made.model.privacy_, ObjectivePerturbationCertificate)
    return made.model.privacy_


def promise(made: Made) -> str:
    """The promise of one release."""
    proof = made.model.privacy_
    return sentences.promise(
        proof.epsilon, proof.delta, accountant(made), adjacency=neighbours_in_words(proof.adjacency)
    )


def accountant(made: Made) -> str:
    """What its ε is accounted by."""
    proof = certificate(made)
    beside = ", composed with the curvature’s noise" if made.ask.intervals else ""
    beside += f", composed over {len(several)} fits" if (several := values_of(made)) else ""
    beside += "; a coin puts each person into fit or scores" if made.evaluation is not None else ""
    noises = [getattr(proof, name, None) for name in ("center_noise", "scale_noise")]
    if is_additive(made):
        return f"{ACCOUNTANTS[proof.bound]} composed with the noisy counts of pieces{beside}"
    return accounted(f"{ACCOUNTANTS[proof.bound]} composed with the noisy centre and scales", *noises) + beside


def fit_code(ask: Ask) -> str:
    """The same fit to the file; defines ``schema``, ``table`` and ``model``."""
    additive, number = ask.model == own_table.ADDITIVE, isinstance(ask.schema.target, NumericTarget)
    estimator = type(own_table.estimator(ask)).__name__
    arguments: dict[str, Any] = {"epsilon": ask.epsilon, "delta": ask.delta}
    chosen = {"public_rows": ask.training_rows, "random_state": ask.seed, "intervals": ask.intervals or None}
    arguments |= {name: value for name, value in chosen.items() if value is not None}
    known = "target_range=(target.low, target.high)" if number else "classes=target.classes"
    if additive:
        known += ", columns=schema.raw().columns"
    elif ask.intervals:
        arguments["advanced"] = {"row_norm": "clip"}
    else:
        known += ", feature_ranges=schema.feature_ranges"
    marks = {name: value for name in ("delimiter", "decimal", "encoding") if (value := getattr(ask.dialect, name))}
    marks |= {"thousands": ask.dialect.thousands} if ask.dialect.thousands else {}
    usual = ask.dialect == Dialect()
    coefficients = "model.coef_.T" if isinstance(ask.schema.target, SeveralValues) else "model.coef_.ravel()"
    loop = f"for name, coefficient in zip(schema.feature_names, {coefficients}):\n    print(name, coefficient)"
    rows = "pd.DataFrame(table.X, columns=list(schema.columns))" if additive else "table.X"
    blanks = {
        "readers": "TableSchema, read_table" if usual else "Dialect, TableSchema, read_table",
        "estimator": estimator,
        "schema": ("schema.raw()" if additive else "schema") + ("" if usual else f", {call('Dialect', marks)}"),
        "model": f"{call(estimator, arguments)[:-1]}, {known})",
        "trained": f"model.fit({rows}, table.y)",
        "printed": "print(model.shapes_.to_string())" if additive else loop,
        "told": "print(model.privacy_.public())",
    }
    if ask.intervals and not additive:
        blanks["told"] = f"print(model.summary(scaler=schema))\n{blanks['told']}"
    if ask.test_share is not None:
        seeds = [f", random_state={seed}" if (seed := ask.seed_of(step)) is not None else "" for step in (1, 2)]
        error = "target.scale" if number else "None"
        blanks["estimator"] += "\nfrom objpert_core.evaluation import evaluate, split_by_coin, together"
        blanks["trained"] = (
            f"X, X_test, y, y_test = split_by_coin({rows}, table.y, test_share={ask.test_share}{seeds[0]})\n"
            "model.fit(X, y)\n"
            f"scores = evaluate(model, X_test, y_test, {ask.epsilon!r}, {ask.delta!r}, largest_error={error}{seeds[1]})"
        )
        blanks["told"] += "\nprint(scores)\nprint(together(model.privacy_, scores).epsilon)"
    if additive:
        blanks["estimator"] += "\nimport pandas as pd"
    return filled("own", "fit", {name: Verbatim(text) for name, text in blanks.items()})


def use_code() -> str:
    """The released model on new rows; defines ``rows`` and ``predicted``."""
    return filled("own", "use", {})


NO_ACCURACY = (
    "ε covers no accuracy that you measure on your table yourself. If you keep some rows apart, `model.json` and "
    "the lines below measure the accuracy on them. Do not publish this number. With the switch “scores” you get an "
    "accuracy that ε covers."
)


def model_files(made: Made) -> None:
    """The model and its certificate."""
    page.download("Model", partial(own_table.model_json, made), "model.json", "deployed_code", key="own_model")
    proof = partial(own_table.certificate_json, made)
    page.download("Certificate", proof, "certificate.json", "verified_user", key="own_proof")


def other_files(made: Made) -> None:
    """What else belongs to a release."""
    page.download("Schema as JSON", partial(own_table.schema_json, made), "schema.json", "list_alt", key="own_form")
    if made.evaluation is not None:
        scores = partial(own_table.evaluation_json, made.evaluation)
        page.download("Scores as JSON", scores, "evaluation.json", "percent", key="own_scores_json")
        both = partial(own_table.whole_json, made)
        page.download("Certificate of both as JSON", both, "together.json", "verified_user", key="own_both")
    if own_table.skops_is_there():
        label, icon = "Model for scikit-learn (skops)", ":material/deployed_code:"
        model, mime = partial(own_table.skops_file, made), "application/octet-stream"
        st.download_button(label, model, "model.skops", mime, key="own_skops", on_click="ignore", icon=icon)
        page.download("Model card", partial(own_table.card_file, made), "README.md", "description", key="own_card")


def python(made: Made) -> None:
    """The lines of Python for new rows."""
    block = st.expander("Use the model in Python", icon=":material/code:", key="own_use", on_change="rerun")
    if block.open:
        with block:
            note = "These lines use the released model on new rows: `model.json`, `schema.json` and a file of rows. "
            note += "In a terminal, `objpert predict model.json new.csv` does the same."
            st.caption(f"{note} {NO_ACCURACY}")
            st.code(use_code(), language="python")
