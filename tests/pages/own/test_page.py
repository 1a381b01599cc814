"""The page without a browser: the examples, a table that is handed in and fitted, and where nothing of it may be."""

import gc
import json
import tempfile
import threading
from dataclasses import asdict, replace

import numpy as np
import pytest
from starlette.requests import Request
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.caching import cache_data_api, cache_resource_api
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from objpert_core.datasets.tables import MOST_BYTES
from objpert_core.estimators import own_table
from objpert_core.tables import unmarked
from pages.own import editor, example, form, jobs, ledger, own_file, upload
from tests.pages.apps import answer, curves, finished, infos, open_app, opened, said, tables, texts
from tests.ui.waiting import awaited
from ui import sentences

PAGE = "pages/own/page.py"
SCHEMA = form.schema(example.EXAMPLES["two"].lines).to_json().encode()
TABLE = example.content("two")
OWN = "your own file"
CANARY = "Zaphod-4711"


def own(**query):
    return open_app(PAGE, own_table=OWN, **query)


def hand_in(app, content=TABLE, name="people.csv"):
    place = next(one for one in app.file_uploader if one.key.startswith(upload.KEY))
    place.set_value((name, content, "text/csv")).run()
    return app


def load(app, schema=SCHEMA):
    app.file_uploader(key="own__schema").set_value(("schema.json", schema, "application/json")).run()
    return app


def press_fit(app):
    app.button(key="own_fit").click().run()
    return finished(app, "own__run")


def errors(app):
    return " ".join(block.value for block in app.error)


def typed(app):
    """The lines of the table that was handed in last, as the page keeps them."""
    names, *_ = app.session_state["own__grid"]
    return tuple(app.session_state["own__typed"][name] for name in names)


def type_in(app, **entries):
    """What the browser tells after something was typed about these columns."""
    _, version, _ = app.session_state["own__grid"]
    rows = [asdict(line) | entries.get(line.column, {}) for line in typed(app)]
    app.session_state[f"own_lines_{version}"] = {"rows": rows}
    app.run()


@pytest.fixture
def fitted(own_runner):
    """The page after one release of a table."""
    return press_fit(load(hand_in(own())))


@pytest.mark.thorough
def test_a_table_may_be_handed_in_beside_an_example_and_an_example_drops_it():
    app = hand_in(open_app(PAGE))
    assert app.query_params["own_table"] == OWN
    assert answer(app) == "Nothing about your table is released yet."
    assert len(typed(app)) == len(example.EXAMPLES["two"].lines)
    app.button(key="own_preset_An example: a number").click().run()
    assert "invented flats" in answer(app)
    app.button(key="own_preset_Your own file").click().run()
    assert "Next: upload your table." in texts(app)


@pytest.mark.thorough
def test_nothing_is_filled_in_and_nothing_of_the_values_is_shown():
    app = hand_in(own(), TABLE.replace(b"retired", CANARY.encode()))
    assert typed(app) == tuple(form.Line(name) for name in TABLE.decode().splitlines()[0].split(","))
    assert answer(app) == "Nothing about your table is released yet."
    assert app.button(key="own_fit").disabled
    assert "Next: give exactly one column the role “target”" in texts(app)
    everything = said(app) + texts(app) + errors(app)
    assert CANARY not in everything
    assert "2,000" not in everything


@pytest.mark.slow
def test_a_release_and_another_one_are_counted_together(fitted):
    app = fitted
    assert answer(app) == "One release of your data costs ε = 1."
    assert "data sets of the same size m = 2000, known to all" in said(app)
    first = curves(app)[0]["released"][0]
    app.run()
    np.testing.assert_array_equal(curves(app)[0]["released"][0], first)
    app.select_slider(key="own_epsilon").set_value(0.5).run()
    np.testing.assert_array_equal(curves(app)[0]["released"][0], first)  # nothing refits by itself
    assert "Since then: ε 1 → 0.5." in texts(app)
    app.number_input(key="own__rows").set_value(2000).run()
    press_fit(app)
    certificates = [made.model.privacy_ for made in app.session_state["own__releases"]]
    together = sentences.epsilon(ledger.total(certificates, 1e-5))
    assert answer(app) == f"Two releases of your data cost ε = {together} together."
    assert 1.1 < float(together) < 1.5
    assert not np.array_equal(curves(app)[0]["released"][0], first)
    assert list(tables(app)[1]["ε"]) == ["1", "0.5"]
    app.button(key="own_anew").click().run()
    assert answer(app) == "Nothing about your table is released until you press Fit."


@pytest.mark.thorough
def test_what_was_typed_stays_when_a_mended_file_comes(own_runner):
    bad = TABLE.replace(b"1,", b"1,old", 1)
    app = press_fit(load(hand_in(own(), bad)))
    lines = typed(app)
    assert "Row 2, column “age”" in errors(app)
    assert "Nothing about your table is released" in answer(app)
    hand_in(app)
    assert errors(app) == ""
    assert typed(app) == lines
    assert lines[1] == form.Line("age", form.NUMBER, "18", "100")
    assert answer(press_fit(app)) == "One release of your data costs ε = 1."


@pytest.mark.slow
def test_a_refusal_goes_once_an_entry_is_changed(own_runner):
    app = press_fit(load(hand_in(own(), TABLE.replace(b"retired", CANARY.encode()))))
    assert errors(app).count(CANARY) == 1
    assert errors(app).endswith(f"got “{CANARY}”. {jobs.NOT_LISTED}")
    app.number_input(key="own__rows").set_value(2000).run()
    assert errors(app) == ""


@pytest.mark.slow
def test_a_column_that_was_clipped_is_seen_without_a_click_and_in_no_file(own_runner):
    entries = [replace(line, high="19") if line.column == "age" else line for line in example.EXAMPLES["two"].lines]
    app = press_fit(load(hand_in(own()), form.schema(entries).to_json().encode()))
    (made,) = app.session_state["own__releases"]
    (told,) = made.much_clipped
    assert "of 2,000 values outside 18 to 19 were clipped" in told
    assert [block.value for block in app.warning if own_file.ONLY_YOU in block.value] == [
        f"{sentences.sentence(told)} {own_file.ONLY_YOU}"
    ]
    for file in (own_table.model_json, own_table.certificate_json, own_table.schema_json, own_table.card_file):
        assert b"clipped:" not in file(made)
        assert told.encode() not in file(made)


@pytest.mark.thorough
def test_what_fit_will_do_is_told_before_it_is_pressed_by_what_was_typed_alone():
    app = load(hand_in(own()))
    assert own_file.NO_PLAN in texts(opened(app, "own_plan"))
    app.number_input(key="own__rows").set_value(5000).run()
    ask = own_table.Ask(SCHEMA.decode(), 1.0, 1e-5, 5000, model=own_table.BY_RULE)
    assert ask.decided(5000).model == own_table.ADDITIVE
    (shown,) = [block.value for block in app.markdown if block.value.startswith("* **promise**")]
    for row in own_table.plan(ask):
        assert f"* **{row['what']}**: {unmarked(row['in words'])}" in shown


def test_the_page_says_by_public_numbers_which_model_it_will_take_and_a_reader_may_take_another():
    app = load(hand_in(own()))
    assert "From 2,300 rows on a curve for each column, else straight lines: Fit counts the rows." in texts(app)
    app.number_input(key="own__rows").set_value(2000).run()
    lines = "Straight lines: curves are expected to be more accurate from 2,300 rows on."
    assert lines in texts(app)
    app.select_slider(key="own_epsilon").set_value(2.0).run()
    assert "A curve for each column: curves are expected to be more accurate from" in texts(app)
    app.pills(key="own_also").set_value([jobs.INTERVALS]).run()
    assert "Straight lines, since intervals are asked for." in texts(app)
    app.selectbox(key="own_kind").set_value(own_table.ADDITIVE).run()
    assert "Straight lines" not in texts(app)
    app = open_app(PAGE, own_table="example: a number")
    assert "A curve for each column: curves are expected to be more accurate from 920 rows on." in texts(app)
    assert "“area” moves most, from" in answer(app).replace("\u00a0", " ")


def test_curves_are_drawn_in_place_of_coefficients_and_gaps_need_no_rule(own_runner):
    header, first, rest = TABLE.split(b"\n", 2)
    at = header.split(b",").index(b"age")
    gap = b",".join(b"" if place == at else cell for place, cell in enumerate(first.split(b",")))
    app = load(hand_in(own(own_kind="a curve for each column"), b"\n".join([header, gap, rest])))
    press_fit(app)
    assert errors(app) == ""
    (made,) = app.session_state["own__releases"]
    assert answer(app) == "One release of your data costs ε = 1."
    named = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["annotations"]
    assert sorted(one["text"] for one in named) == sorted(made.names)
    assert list(tables(app)[0].columns) == ["Column", "Adds most", "Adds least"]
    assert own_table.read_model(own_table.model_json(made).decode()).model.pieces_ is not None
    app.selectbox(key="own_kind").set_value(own_table.LINEAR).run()
    assert "Since then: another model." in texts(app)


@pytest.mark.thorough
def test_what_is_typed_into_the_lines_makes_the_schema(own_runner):
    app = hand_in(own(), b"age;paid;rent;job\n" + b"30,5;no;9;a\n44;yes;9;a\n" * 30)
    assert "say which decimal mark" not in texts(app)
    target = {"role": form.TARGET_TWO, "categories": "no; yes"}
    type_in(app, age={"role": form.NUMBER, "low": "0", "high": "120"}, paid=target, rent={"low": "0"})
    assert "Fit leaves out “rent”, although its line has entries." in texts(app)
    assert answer(app) == "Nothing about your table is released until you press Fit."
    press_fit(app)
    assert answer(app) == "One release of your data costs ε = 1."
    assert app.session_state["own__releases"][0].names == ("age",)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (b"\xff\xfe\x00", "A schema is text in UTF-8; this file is not."),
        (b"{}", "The schema must say “format”"),
        (SCHEMA.replace(b"employed", b"em;ployed"), "has a category with a semicolon"),
    ],
)
def test_a_bad_schema_is_one_sentence(schema, told):
    app = load(hand_in(own()), schema)
    assert told in texts(app)
    assert all(line.role == form.LEFT_OUT for line in typed(app))


@pytest.mark.thorough
def test_the_address_asks_for_how_the_file_is_written_where_that_is_not_clear():
    app = hand_in(own(), b"a;b\n1,500;2,250\n3,125;4,500\n")
    assert "choose the decimal mark" in texts(app)
    app.selectbox(key="own__decimal").set_value("comma ,").run()
    assert "say which decimal mark" not in texts(app)


@pytest.mark.thorough
def test_a_stopped_fit_is_no_release_and_one_that_was_done_is(own_runner, monkeypatch):
    begun, go_on, made = threading.Event(), threading.Event(), jobs.made

    def slow(ask, held):
        begun.set()
        assert go_on.wait(60)
        return made(ask, held)

    monkeypatch.setattr(jobs, "made", slow)
    app = load(hand_in(own()))
    app.button(key="own_fit").click().run()
    assert begun.wait(60)
    app.run()
    app.button(key="own_stop").click().run()
    go_on.set()
    finished(app, "own__run")
    assert "Stopped: nothing was released." in infos(app)
    assert answer(app) == "Nothing about your table is released until you press Fit."
    assert "own__releases" not in app.session_state
    press_fit(app)
    app.session_state["own__run"].job.stop()  # too late
    app.run()
    assert infos(app) == ""
    assert answer(app) == "One release of your data costs ε = 1."


@pytest.mark.thorough
def test_a_full_server_says_so_and_releases_nothing(full_server):
    app = load(hand_in(own()))
    app.button(key="own_fit").click().run()
    assert "The server is busy" in errors(app)
    assert "Nothing about your table is released" in answer(app)


@pytest.mark.slow
def test_nothing_of_a_table_is_logged_cached_written_or_put_into_the_address(
    own_runner, caplog, capfd, tmp_path, monkeypatch
):
    """Neither of a table that is fitted, nor of one that is refused with a value in the sentence."""
    caplog.set_level("DEBUG")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    canary, column = CANARY.encode(), b"missed payments"
    good = TABLE.replace(b"retired", canary).replace(column, column + canary)
    schema = SCHEMA.replace(b"retired", canary).replace(column, column + canary)
    app = load(hand_in(own(), good, f"{CANARY}.csv"), schema)
    assert answer(press_fit(app)) == "One release of your data costs ε = 1."
    hand_in(app, good.replace(b",yes,", b"," + canary + b",", 1))
    assert CANARY in errors(press_fit(app))  # its owner sees it
    hand_in(app, b'a,b\n"' + canary)
    assert errors(app)
    assert not [record for record in caplog.records if CANARY in record.getMessage() + str(record.exc_info)]
    assert CANARY not in "".join(capfd.readouterr())
    assert not any(CANARY in str(app.query_params[key]) for key in app.query_params)
    assert set(app.query_params) <= {"own_table"}
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    for cache in (cache_data_api, cache_resource_api):
        assert not any(CANARY in str(stat) for stat in _stats(cache))
    gc.collect()
    held = [thing for thing in gc.get_objects() if type(thing) is jobs.Held]
    assert not [thing for thing in held if canary in thing.content]  # a fit lets go of the table


def _stats(cache):
    return [stat for name in dir(cache) if name.startswith("_") and hasattr(getattr(cache, name), "get_stats")
            for stat in getattr(cache, name).get_stats()]  # fmt: skip


def test_an_unexpected_error_names_no_value_and_is_not_logged(monkeypatch, caplog):
    def fail(*_):
        raise KeyError(CANARY)

    caplog.set_level("DEBUG")
    monkeypatch.setattr(editor, "look_at", fail)
    app = hand_in(own())
    assert errors(app) == "An unexpected error occurred (KeyError)."
    assert CANARY not in caplog.text


def test_a_file_of_the_largest_size_goes_by_memory_alone():
    """The web server would otherwise put what is more than 1 MB into a file on its way."""
    boundary = b"--x\r\n"
    head = b'Content-Disposition: form-data; name="f"; filename="t.csv"\r\nContent-Type: text/csv\r\n\r\n'
    body = boundary + head + bytes(MOST_BYTES) + b"\r\n--x--\r\n"

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def rolled():
        headers = [(b"content-type", b"multipart/form-data; boundary=x")]
        form_ = await Request({"type": "http", "method": "PUT", "headers": headers}, receive).form()
        return form_["f"].size, form_["f"].file._rolled

    assert awaited(rolled()) == (MOST_BYTES, False)


class Manager:
    def __init__(self):
        self.removed = []

    def remove_file(self, session, number):
        self.removed.append((session, number))


@pytest.fixture
def watched(monkeypatch):
    """The files that are watched, none of other tests', without the timer."""
    later = []
    monkeypatch.setattr(upload, "_held", {})
    monkeypatch.setattr(upload, "_away", set())
    monkeypatch.setattr(upload, "_look_later", lambda: later.append(1))
    return later


def file_of(number):
    return UploadedFile(UploadedFileRec(number, "t.csv", "text/csv", CANARY.encode()), FileURLs())


def test_a_file_is_dropped_once_its_session_was_gone_at_two_looks(watched, monkeypatch):
    there, manager = {"here", "leaving", "blinking"}, Manager()
    monkeypatch.setattr(upload, "_is_there", there.__contains__)
    files = {session: file_of(session) for session in sorted(there)}
    for session, file in files.items():
        upload._watch(upload._Held(session, manager, file))
    assert watched == [1]  # one timer for all
    there -= {"leaving", "blinking"}
    upload.look()
    assert manager.removed == []
    there |= {"blinking"}
    upload.look()
    assert manager.removed == [("leaving", "leaving")]
    assert files["leaving"].closed
    there -= {"blinking"}
    upload.look()
    assert files["here"].getvalue() == files["blinking"].getvalue() == CANARY.encode()
    there.clear()
    upload.look()
    upload.look()
    assert {session for session, _ in manager.removed} == set(files)
    assert len(watched) == 5  # none after the last file
