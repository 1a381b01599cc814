"""A release: what it holds, costs with others and shows; how a fit fails; what is taken away works."""

import io
import pickle
import re
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from objpert_core import ConvergenceError
from objpert_core.accounting import compose
from objpert_core.datasets import Dialect, read_table
from objpert_core.estimators import ObjPertLogisticRegression, own_table
from objpert_core.estimators.released import ReleasedRegressor
from pages.own import example, form, jobs, ledger, release
from pages.own.form import Line
from pages.own.jobs import Ask, Held
from tests.pages.apps import execute, words_of
from tests.plotted import decode

SCHEMA = form.schema(example.EXAMPLES["two"].lines).to_json()
TABLE = example.content("two")
ASK = Ask(SCHEMA, 1.0, 1e-5, rows=example.ROWS)


def never():
    return False


def outcome(ask=ASK, content=TABLE):
    (found,) = jobs.fit(ask, Held(content), never)
    return found


@pytest.fixture(scope="module")
def released():
    return outcome().made


@pytest.mark.thorough
def test_a_users_fit_draws_anew_and_its_certificate_says_so(released):
    other = outcome().made
    assert not np.array_equal(released.model.coef_, other.model.coef_)
    assert released.model.privacy_.noise_source == "operating system"
    assert not released.model.privacy_.reproducible
    assert released.model.privacy_ == released.model.privacy_.public()


def test_all_that_is_sent_and_kept_is_picklable_and_shows_nothing_of_the_table(released):
    sent = Held(b"id,Ann Onymous\n1,secret\n")
    assert "Ann" not in repr(sent)
    assert "secret" not in repr(pickle.loads(pickle.dumps(sent)))
    assert "age" not in repr(ASK)
    assert "clipped" not in repr(jobs.Made(ASK, released.model, released.names, ("3 values were clipped",)))
    back = pickle.loads(pickle.dumps(released))
    np.testing.assert_array_equal(back.model.coef_, released.model.coef_)


def test_a_fit_that_is_stopped_releases_nothing():
    assert list(jobs.fit(ASK, Held(TABLE), lambda: True)) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "empty"), (TABLE.replace(b",yes,", b",maybe,", 1), "maybe"), (TABLE[:500] + b'"', "quot")],
)
def test_a_bad_table_is_one_sentence(content, told):
    found = outcome(content=content)
    assert found.made is None
    assert told in found.refused
    assert "\n" not in found.refused
    assert found.refused not in repr(found)


def test_a_missing_value_is_refused_with_the_cell_of_the_grid_that_replaces_it():
    header, first, rest = TABLE.split(b"\n", 2)
    at = header.split(b",").index(b"age")
    gap = b",".join(b"" if place == at else cell for place, cell in enumerate(first.split(b",")))
    refused = outcome(content=b"\n".join([header, gap, rest])).refused
    told = "row 2, column “age” is empty, and no value is given that replaces a missing one."
    assert refused == f"{told} {jobs.IF_MISSING}"
    number = Ask(form.schema(example.EXAMPLES["number"].lines).to_json(), 1.0, 1e-5)
    refused = outcome(number, example.content("number").replace(b",774\n", b",\n", 1)).refused
    assert refused == "row 2, column “rent” is empty, and no value is given that replaces a missing one"  # the target


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConvergenceError("gradient norm 3.14 after 1000 iterations"), jobs.NOT_CONVERGED),
        (MemoryError(), "The server ran out of memory for this table: nothing was released."),
        (KeyError("Ann Onymous"), jobs.UNEXPECTED),
    ],
)
def test_whatever_goes_wrong_is_told_and_not_raised_or_logged(monkeypatch, caplog, error, told):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(ObjPertLogisticRegression, "fit", fail)
    caplog.set_level("DEBUG")
    assert outcome().refused == told
    assert caplog.records == []


@pytest.mark.thorough
def test_releases_cost_what_their_composed_mechanisms_cost(released):
    number = example.fitted("number", 0.5, 1e-6)
    certificates = [released.model.privacy_, number.model.privacy_]
    assert ledger.total([], 1e-5) == 0.0
    assert 0.99 < ledger.total(certificates[:1], 1e-5) <= 1.0
    together = ledger.total(certificates, 1e-5)
    # the noisy centre and scales are part of the first release: leaving them out would promise too much
    fits_alone = compose(*(certificate.rebuild() for certificate in certificates)).epsilon(1e-5)
    assert fits_alone < together < 1.5
    spent = ledger.totals([released, number], 1e-5)
    assert spent[1] == together
    assert ledger.totals([released, number], 1e-5, [0.5]) == [0.5, together]
    rows = ledger.rows([released, number], spent, 1e-5)
    assert [row["Release"] for row in rows] == ["1", "2"]
    assert rows[0]["ε"] == "1"
    assert 0 <= float(rows[1]["ε of all releases so far, at δ = 10⁻⁵"]) - together < 0.01


@pytest.mark.thorough
def test_words_are_rounded_up_and_say_the_weakest_promise(released):
    unknown = outcome(Ask(SCHEMA, 1.0, 1e-5)).made
    total = ledger.total([made.model.privacy_ for made in (unknown, released)], 1e-5)
    told = ledger.promise([unknown, released], total, 1e-5)
    assert "known to all" in told
    assert "known to all" not in release.promise(released)
    assert ledger.answer([released], 1.0001) == "One release of your data costs ε = 1.01."
    assert ledger.answer([unknown, released], total).startswith("Two releases of your data cost ε = 1.")
    assert words_of(ledger.answer([released] * 1234, total)) <= 18


def drawn(made, before):
    """The traces by their names."""
    return {trace["name"]: trace for trace in release.picture(made, before).figure.to_dict()["data"]}


def test_the_picture_shows_the_largest_coefficients_and_the_release_before(released):
    other = outcome().made
    data = drawn(released, other)
    chosen = np.sort(release.by_size(release.weights(released)))
    np.testing.assert_array_equal(decode(data["released"]["x"]), released.model.coef_[0, chosen])
    np.testing.assert_array_equal(decode(data["before"]["x"]), other.model.coef_[0, chosen])
    assert data["before"]["meta"]["ghost"]
    number = example.fitted("number", 1.0, 1e-5)
    assert "before" not in drawn(released, number)


def test_names_of_a_strangers_table_are_no_markup_and_no_formulas(released):
    names = ("=1+1", *released.names[1:])
    frame = release.frame(jobs.Made(released.ask, released.model, names))
    assert frame["feature"][0].startswith("'=")
    names = ("<a href='http://a.example'>", "_age [years]", *released.names[2:])
    figure = release.picture(jobs.Made(released.ask, released.model, names)).figure.to_dict()
    assert "<a" not in str(figure)
    assert figure["layout"]["yaxis"]["ticktext"][1] == "_age [years]"


# --- what is taken away -----------------------------------------------------------------------------------------------

DISTRICTS = ("centre", "north", "south", "harbour")


def of_districts(epsilon, delta, also=(), model=own_table.LINEAR):
    """A release about the invented flats, whose district is to be told."""
    other = {
        "district": replace(Line("district"), role=form.TARGET_SEVERAL, categories="; ".join(DISTRICTS)),
        "rent": Line("rent", form.NUMBER, "150", "2500"),
    }
    known = form.schema([other.get(line.column, line) for line in example.EXAMPLES["number"].lines]).to_json()
    ask = jobs.asked(known, epsilon, delta, also, rows=example.ROWS, seed=example.SEED, model=model)
    return jobs.made(ask, example.content("number"))


@pytest.fixture(params=["two", "number", "several", "two curves", "number curves", "several curves"])
def made(request, tmp_path, monkeypatch):
    """A release, with what the page hands out in the folder where the Python runs."""
    monkeypatch.chdir(tmp_path)
    name, _, curves = request.param.partition(" ")
    model, several = own_table.ADDITIVE if curves else own_table.LINEAR, name == "several"
    made = of_districts(2.0, 1e-6, (), model) if several else example.fitted(name, 2.0, 1e-6, (), model)
    (tmp_path / "table.csv").write_bytes(example.content("number" if several else name))
    (tmp_path / "model.json").write_bytes(own_table.model_json(made))
    (tmp_path / "schema.json").write_bytes(own_table.schema_json(made))
    return made


@pytest.mark.thorough
def test_the_fit_prints_the_coefficients_of_the_page(made):
    names, printed = execute(release.fit_code(made.ask))
    np.testing.assert_array_equal(names["model"].coef_, made.model.coef_)
    if release.is_additive(made):
        assert names["model"].shapes_.to_string() in printed
        assert str(made.model.privacy_) in printed
        return
    if release.values_of(made):
        assert f"{made.names[-1]} {made.model.coef_[:, -1]}" in printed
        assert str(made.model.privacy_) in printed
        return
    told = dict(line.rsplit(" ", 1) for line in printed.splitlines()[: len(made.names)])
    assert {name: float(value) for name, value in told.items()} == dict(
        zip(made.names, np.ravel(made.model.coef_), strict=True)
    )
    assert str(made.model.privacy_) in printed


@pytest.mark.thorough
def test_a_users_fit_has_no_seed_and_reads_the_file_as_it_was_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = form.schema(example.EXAMPLES["two"].lines)
    ask = jobs.Ask(known.to_json(), 0.5, 1e-5, dialect=Dialect(delimiter=";", decimal=",", thousands="."))
    code = release.fit_code(ask)
    assert "random_state" not in code
    assert "public_rows" not in code
    german = example.content("two").replace(b",", b";").replace(b".", b",")
    (tmp_path / "table.csv").write_bytes(german)
    (tmp_path / "schema.json").write_text(ask.text, encoding="utf-8")
    names, _ = execute(code)
    np.testing.assert_array_equal(names["table"].X, read_table(example.content("two"), known).X)
    assert names["model"].privacy_.noise_source == "operating system"


@pytest.mark.thorough
def test_the_released_model_predicts_new_rows(made, tmp_path):
    table = pd.read_csv(tmp_path / "table.csv", dtype=str)
    (tmp_path / "new_rows.csv").write_text(table.head(50).to_csv(index=False))
    names, _ = execute(release.use_code())
    expected = made.model.predict(made.ask.encoding.encode(table.head(50)))
    if isinstance(made.model, ReleasedRegressor):
        np.testing.assert_allclose(names["predicted"], expected, rtol=1e-9)
    elif release.values_of(made):
        assert list(names["predicted"]) == [DISTRICTS[label] for label in expected]
    else:
        assert list(names["predicted"]) == [("no", "yes")[label] for label in expected]
        assert set(names["predicted"]) == {"no", "yes"}


@pytest.mark.thorough
def test_the_model_for_scikit_learn_tells_no_addresses(made):
    pytest.importorskip("skops.io")
    with zipfile.ZipFile(io.BytesIO(own_table.skops_file(made))) as written:
        told = [int(number) for number in re.findall(r'"__id__": (\d+)', written.read("schema.json").decode())]
    assert sorted(set(told)) == list(range(1, max(told) + 1))  # numbered as they come, whatever their place in memory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "also"), [("two", ("scores", "intervals")), ("number", ("scores",))], ids=["two", "number"]
)
def test_scores_and_intervals_are_those_of_the_python_and_one_certificate_covers_all(name, also, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = example.fitted(name, 5.0, 1e-6, also)
    (tmp_path / "table.csv").write_bytes(example.content(name))
    (tmp_path / "schema.json").write_bytes(own_table.schema_json(made))
    names, printed = execute(release.fit_code(made.ask))
    np.testing.assert_array_equal(names["model"].coef_, made.model.coef_)
    assert names["scores"].counts == made.evaluation.counts
    assert printed.splitlines()[-1] == "5.0"
    whole = release.whole(made)
    assert whole.verify(made.model)
    assert (whole.epsilon, whole.delta) == (5.0, 1e-6)
    assert ledger.totals([made], 1e-6)[0] == pytest.approx(5.0, rel=1e-3)
    if "intervals" in also:
        assert str(names["model"].summary(scaler=names["schema"])) in printed
        shown = release.picture(made).figure.to_dict()["data"]
        (dots,) = [trace for trace in shown if "error_x" in trace]
        for end, name, side in zip(made.model.conf_int().T, ("arrayminus", "array"), (-1, 1), strict=True):
            np.testing.assert_allclose(decode(dots["x"]) + side * decode(dots["error_x"][name]), end)
        assert {"low", "high"} <= set(release.frame(made))


@pytest.mark.thorough
def test_of_several_values_each_feature_shows_the_one_that_it_speaks_for_or_against_most():
    made = of_districts(8.0, 1e-6, ("scores",))
    coefficients = made.model.coef_
    place = int(np.argmax(np.abs(coefficients).max(axis=0)))
    value = int(np.argmax(np.abs(coefficients[:, place])))
    assert release.weights(made)[place] == coefficients[value, place]
    assert release.names_of(made)[place] == f"{made.names[place]} → {DISTRICTS[value]}"
    assert release.largest(made).startswith("“")
    assert list(release.table(made)[0]) == ["Feature", *(f"“{one}”" for one in DISTRICTS)]
    assert release.frame(made)["coefficient, harbour"].tolist() == coefficients[3].tolist()
    assert "composed over 4 fits" in release.promise(made)
    assert release.told(made).startswith("accuracy")
    assert release.whole(made).verify(made.model)
    with pytest.raises(ValueError, match="intervals must be False where the target has several values"):
        of_districts(8.0, 1e-6, ("intervals",))


# --- curves in place of coefficients ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curves():
    return example.fitted("two", 5.0, 1e-5, ("intervals",), own_table.ADDITIVE)


def test_each_column_has_a_small_picture_of_its_effects(curves):
    before = example.fitted("two", 1.0, 1e-5, (), own_table.ADDITIVE)
    figure = release.picture(curves, before).figure.to_dict()
    shapes = curves.model.shapes_
    for place, note in enumerate(figure["layout"]["annotations"], 1):
        axis = "x" if place == 1 else f"x{place}"
        own = shapes[(shapes["column"] == note["text"]) & (shapes["share"] > 0)]
        shown = [one for one in figure["data"] if one["xaxis"] == axis and not one["meta"].get("band")]
        drawn = [one for one in shown if not one["meta"]["ghost"]]
        found = np.concatenate([decode(one["y"]) for one in drawn])
        assert sorted(set(found)) == sorted(set(own["effect"]))
        assert any(one["meta"]["ghost"] for one in shown)
        left, right = figure["layout"][f"{axis[0]}axis{axis[1:]}"]["range"]
        assert all(left <= x <= right for one in shown for x in decode(one["x"]))
    assert {note["text"] for note in figure["layout"]["annotations"]} == set(curves.names)
    spread = shapes[shapes["share"] > 0].groupby("column")["effect"].agg(np.ptp)
    assert [note["text"] for note in figure["layout"]["annotations"]] == list(spread.sort_values(ascending=False).index)


def test_what_is_said_of_curves_is_short_and_from_the_release(curves):
    told = release.told(curves)
    shapes = curves.model.shapes_[curves.model.shapes_["column"] == "missed payments"]
    assert told.startswith("“missed\u00a0payments” moves most, from −")
    assert told.endswith(f"{shapes.effect.max():.3g}.")
    assert words_of(told) <= 9  # behind “One fit to 2,000 invented borrowers at ε = 1:”
    assert "noisy counts of pieces, composed with the curvature’s noise" in release.promise(curves)
    assert list(release.table(curves)[0]) == ["Column", "Adds most", "Adds least"]
    assert {"low", "high", "share"} <= set(release.picture(curves).numbers())
    linear = example.fitted("two", 5.0, 1e-5)
    assert release.picture(curves, linear).figure.to_dict()["data"]  # another kind leaves no trace
    assert release.picture(linear, curves).figure.to_dict()["data"]
    every = [
        release.chosen(example.asked(name, epsilon, 1e-5, also, own_table.BY_RULE))
        for name, epsilon, also in (("two", 1.0, ()), ("two", 1e-3, ("scores",)), ("number", 1.0, ()))
    ]
    assert max(map(words_of, every)) <= 18


def test_gaps_dates_and_several_values_are_drawn():
    several = of_districts(8.0, 1e-6, (), own_table.ADDITIVE)
    assert " → " in release.picture(several).figure.to_dict()["layout"]["annotations"][0]["text"]
    lines = [
        Line("day", form.DATE, "2020-01-01", "2020-12-31", written="%Y-%m-%d"),
        Line("much", form.NUMBER, form.LEARNED),
    ]
    known = form.schema([*lines, Line("y", form.TARGET_TWO, categories="no; yes")]).to_json()
    rows = [f"2020-{1 + k % 12:02}-01,{'' if k % 5 == 0 else k % 7},{'yes' if k % 5 else 'no'}" for k in range(3000)]
    ask = jobs.asked(known, 2.0, 1e-5, (), rows=3000, seed=0, model=own_table.ADDITIVE)
    made = jobs.made(ask, "\n".join(["day,much,y", *rows]).encode())
    layout = release.picture(made).figure.to_dict()["layout"]
    texts = {
        note["text"]: layout[axis]["ticktext"]
        for note, axis in zip(layout["annotations"], ("xaxis", "xaxis2"), strict=True)
    }
    assert texts["day"] == ["2020-01-01", "2020-12-31"]
    assert texts["much"][-1] == "?"
