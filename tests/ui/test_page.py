"""The scaffolding: escaped answers, errors that lose nothing, predictions before answers."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from ui import page, registry


def test_answer_is_escaped_and_announced():
    def script():
        from ui import page

        page.answer("ε = 1 <b>&", promise="2 : 1", why="σ 1 → 2, not 10 × 3 of DP-SGD")

    (block,) = AppTest.from_function(script).run().get("html")
    body = block.proto.body
    assert "ε\xa0=\xa01 &lt;b&gt;&amp;" in body
    assert "2\xa0:\xa01" in body
    assert "σ 1\xa0→\xa02, not 10\xa0×\xa03" in body
    assert '<span style="white-space: nowrap">DP-SGD</span>' in body
    assert 'role="status"' in body


def test_a_chart_has_its_alt_text_and_no_toolbar():
    def script():
        from ui import figures, page

        chart = figures.figure([], xaxis=figures.axis("x", (0, 1)), yaxis=figures.axis("y", (0, 1)))
        page.chart(chart, key="k", alt="nothing")

    (chart,) = AppTest.from_function(script).run().get("plotly_chart")
    assert json.loads(chart.proto.config)["displayModeBar"] is False
    assert chart.proto.alt == "nothing"


def test_an_error_is_one_sentence_and_what_came_before_stays():
    def script():
        import streamlit as st

        from ui import page

        st.text("before")
        with page.errors():
            raise ValueError("delta must be a number strictly between 0 and 1, got 2")
        st.text("after")

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert [e.value for e in app.error] == ["Delta must be a number strictly between 0 and 1, got 2."]
    assert [t.value for t in app.text] == ["before", "after"]


def test_other_errors_are_not_swallowed():
    def script():
        from ui import page

        with page.errors():
            raise KeyError("a bug")

    assert AppTest.from_function(script).run().exception


def test_try_it_asks_before_it_tells():
    def script():
        import streamlit as st

        from ui import page

        if page.try_it("Which?", ("a", "b"), "b", key="k", replies=("This comes first.", "")):
            st.text("revealed")

    app = AppTest.from_function(script).run()
    assert not app.text
    app.radio(key="k").set_value("a").run()
    assert app.info[0].value == "Not quite. This comes first. Choose again."
    assert not app.text
    app.radio(key="k").set_value("b").run()
    assert app.success
    assert app.text[0].value == "revealed"


def test_the_right_answer_must_be_offered():
    with pytest.raises(ValueError, match="correct must be one of the options"):
        page.try_it("?", ("a",), "b", key="k")


def test_every_page_has_its_text_and_names_its_sources():
    for entry in registry.PAGES:
        assert "**Reference.**" in entry.about


@pytest.mark.slow
def test_a_link_to_another_page_needs_the_app_around_it():
    def script():
        import streamlit as st

        from ui import page

        page.see_also("training")
        st.text("after")

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.text[0].value == "after"
