"""A room as its pages show it: nobody sees an answer early, nobody gets the key, and a bad file breaks no page."""

import base64
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apps import said, texts
from ui import room, share, visitors, votes
from ui.qr import qr_image
from ui.votes import Question, Tally, rooms

QUESTION = Question.of("k", "Which?", ("a", "b"))


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    """Rooms of this test only, which every look reads anew."""
    monkeypatch.setenv("OBJPERT_ROOMS", str(tmp_path / "rooms.sqlite"))
    monkeypatch.setattr(votes, "FRESH", 0.0)
    monkeypatch.setattr(votes.Rooms, "keep_sweeping", lambda _: None)
    rooms.cache_clear()
    yield
    rooms.cache_clear()


def script():
    import streamlit as st

    from ui import page, share
    from ui.controls import Toggle

    page.title("A question?", "A lead.")
    share.button([Toggle("page_a", "A", False)])
    if page.try_it("Which?", ("a", "b"), "b", key="k"):
        st.text("revealed")


def person(name: str = "", key: str = "") -> AppTest:
    """Somebody who comes through a link."""
    app = AppTest.from_function(script, default_timeout=120)
    for part, value in (("room", name), ("room_key", key)):
        if value:
            app.query_params[part] = value
    app.run()
    assert not app.exception
    return app


def choose(app: AppTest, option: str) -> AppTest:
    app.radio(key="k").set_value(option).run()
    assert not app.exception
    return app


def written(app: AppTest, part: str) -> str:
    """What the address says; Streamlit's driver gives a list where it was typed, a text where the page wrote it."""
    value = app.query_params[part]
    return value if isinstance(value, str) else value[-1]


def fail(*_, **__):
    raise votes.UnusableFileError(votes.OFF)


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def test_the_answer_waits_for_the_lecturer():
    name, key = rooms().open()
    lecturer, student, other = person(name, key), person(name), person(name.lower())
    choose(student, "a")
    choose(other, "b")
    assert "Your answer is counted." in texts(student)
    assert not student.text
    assert 'class="votes"' not in said(student)
    assert "Right" not in texts(student) + said(student)
    assert {"Reveal", "Clear the votes", "Close the room"} <= labels(lecturer)
    assert not {"Reveal", "Clear the votes", "Close the room"} & labels(student)
    assert "**2 votes** so far" in texts(lecturer.run())
    lecturer.button(key="k__reveal").click().run()
    for app in (lecturer, student.run(), other.run()):
        assert app.text[0].value == "revealed"
        assert said(app).count("1 vote, 50") == 2
    assert "Not quite" in texts(student)
    assert "Right: b" in texts(other)


def test_the_lecturers_choice_is_not_counted():
    name, key = rooms().open()
    lecturer = choose(person(name, key), "a")
    assert "**0 votes** so far" in texts(lecturer)
    assert not lecturer.text


@pytest.mark.thorough
def test_a_browser_is_known_by_its_cookie(monkeypatch):
    """Streamlit veils the number anew with every answer, so that two texts are the same browser."""
    name, _ = rooms().open()
    number = visitors.new_number()
    for veil in (b"\1\2\3\4", b"\xf0\x0f\xaa\x55"):
        veiled = bytes(byte ^ veil[place % 4] for place, byte in enumerate(number)).hex()
        cookies = {"_streamlit_xsrf": f"2|{veil.hex()}|{veiled}|1795417205"}
        monkeypatch.setattr(type(room.st.context), "cookies", property(lambda _, cookies=cookies: cookies))
        choose(person(name), "a")
    assert rooms().tally(name, QUESTION).counts == (1, 0)
    assert person(name).radio(key="k").value == "a"  # loaded anew
    invented = f"2|00000000|{bytes(range(16)).hex()}|0"  # whoever has no signed number counts once a session
    for cookie in ("", "2|00000000|00|0", "2||00|0", "2|zzzzzzzz|00|0", invented):
        monkeypatch.setattr(type(room.st.context), "cookies", property(lambda _, c=cookie: {"_streamlit_xsrf": c}))
        choose(person(name), "b")
    assert rooms().tally(name, QUESTION).counts == (1, 5)


def test_the_room_is_written_to_the_address_of_the_next_page():
    name, key = rooms().open()
    app = person(name, key)
    for part in ("room", "room_key"):
        del app.query_params[part]
    app.run()
    assert (written(app, "room"), written(app, "room_key")) == (name, key)
    app.button(key="room__close").click().run()
    assert "There is no room" in texts(app)
    assert not {"room", "room_key"} & set(app.query_params)
    choose(app, "b")
    assert app.text[0].value == "revealed"  # as without a room


@pytest.mark.parametrize("name", ["QQQQQQ", "<script>alert(1)</script>", "x" * 5000])
def test_a_room_that_does_not_exist_is_one_sentence(name):
    app = person(name, "key")
    (info,) = app.info
    assert info.value.endswith("or its name is another. The page works without a room.")
    assert ("QQQQQQ" in info.value) == (name == "QQQQQQ")
    assert "script" not in info.value
    assert choose(app, "b").text[0].value == "revealed"


def test_no_link_holds_the_key(monkeypatch):
    drawn = []
    monkeypatch.setattr(share, "qr_image", lambda link: drawn.append(link) or qr_image(link))
    app = person()
    app.session_state["page_a__link"] = True
    app.run()
    app.button(key="room__open").click().run()
    name, key = written(app, "room"), written(app, "room_key")
    assert rooms().leads(name, key)
    links = [block.value for block in app.code if not block.value.startswith("@")] + drawn[-1:]
    assert len(links) == 3
    for link in links:
        query = parse_qs(urlsplit(link).query)
        assert query["room"] == [name]
        assert "room_key" not in query
    hidden = (key, base64.b64encode(key.encode()).decode().rstrip("="))
    everything = texts(app) + said(app) + " ".join(links)
    assert not [form for form in hidden if form in everything]


def test_paper_outlives_a_room_and_does_not_name_it():
    def paper():
        import streamlit as st

        from ui import room, share

        room.strip()
        st.text(share.link([], alone=True))
        st.text(share.link([]))

    name, _ = rooms().open()
    app = AppTest.from_function(paper, default_timeout=120)
    app.query_params["room"] = name
    alone, within = app.run().text
    assert "room" not in alone.value
    assert within.value.endswith(f"?room={name}")


def test_a_damaged_file_breaks_no_page(tmp_path):
    (tmp_path / "rooms.sqlite").write_bytes(b"no database" * 1000)
    app = person("QQQQQQ")
    assert "votes are off" in texts(app)
    assert choose(app, "b").text[0].value == "revealed"
    app.session_state["page_a__link"] = True
    app.run()
    app.button(key="room__open").click().run()
    assert not app.exception
    assert "votes are off" in app.error[0].value


def test_the_file_fails_in_the_middle_of_a_vote(tmp_path, monkeypatch):
    name, key = rooms().open()
    lecturer, student = person(name, key), person(name)

    monkeypatch.setattr(votes.Rooms, "vote", fail)
    assert "votes are off" in texts(choose(student, "a"))
    assert not student.text
    monkeypatch.setattr(votes.Rooms, "reveal", fail)
    lecturer.button(key="k__reveal").click().run()
    assert "votes are off" in lecturer.error[0].value
    monkeypatch.setattr(votes.Rooms, "tally", fail)
    assert "votes are off" in texts(student.run())


def test_a_lecturer_who_turns_a_page_while_the_file_is_locked_still_leads_afterwards(monkeypatch):
    name, key = rooms().open()
    lecturer, stranger = person(name, key), person(name)

    with monkeypatch.context() as locked:
        locked.setattr(votes.Rooms, "ends", fail)
        for app in (lecturer, stranger):
            for part in ("room", "room_key"):  # as a change of page does
                app.query_params.pop(part, None)
            app.run()
            assert "votes are off" in texts(app)
            assert not app.exception
    lecturer.run()
    assert written(lecturer, "room_key") == key
    assert "Reveal" in labels(lecturer)
    assert "Reveal" not in labels(stranger.run())


def test_bars_are_escaped_named_and_add_up():
    shown = room.bars(("<b>", "θ & x"), Tally((3, 1)), 1)
    assert "&lt;b&gt;" in shown
    assert "θ &amp; x (right)" in shown
    assert 'aria-label="What the room answered: 4 votes."' in shown
    assert "width: 75.0%" in shown
    assert room.bars(("a", "b"), Tally((0, 0)), 0).count("0 votes, 0&nbsp;%") == 2


@pytest.mark.parametrize(("pace", "drawn"), [(1e9, "False"), (0.0, "True")])
def test_a_large_class_sees_the_counts_before_its_pages_are_drawn_again(pace, drawn, monkeypatch):
    def revealed_meanwhile(name, key):
        import streamlit as st

        from ui import room
        from ui.votes import rooms

        room.strip()
        poll = room.poll("Which?", ("a", "b"), key="k")
        rooms().vote(name, poll.question, "somebody", 0)
        rooms().reveal(name, key, poll.question)
        st.text(poll.show("a", right=1))

    monkeypatch.setattr(room, "PACE", pace)
    name, key = rooms().open()
    app = AppTest.from_function(revealed_meanwhile, default_timeout=120, args=(name, key))
    app.query_params["room"] = name
    app.run()
    assert not app.exception
    assert app.text[0].value == drawn
    assert "1 vote, 100" in said(app)
    assert ("in a few seconds" in texts(app)) == (drawn == "False")
