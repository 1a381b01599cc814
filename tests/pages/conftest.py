"""What pages that start jobs need around each of their tests."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apps import words_of
from tests.ui.conftest import packages_are_searched_once, scripts_run_undisturbed  # noqa: F401
from ui import jobs, page

MOST_WORDS = 18


@pytest.fixture(autouse=True)
def answers_are_short(monkeypatch):
    """No answer of any page, at any setting that a test reaches, is longer than a projector and a phone can show."""
    told, answer = [], page.answer

    def heard(sentence, **lines):
        told.append(sentence)
        return answer(sentence, **lines)

    monkeypatch.setattr(page, "answer", heard)
    yield
    assert [sentence for sentence in told if words_of(sentence) > MOST_WORDS] == []


@pytest.fixture(autouse=True)
def no_page_raises(monkeypatch):
    """Whatever a test opens, moves or presses."""
    run = AppTest._run

    def watched(app, *arguments, **options):
        run(app, *arguments, **options)
        assert not app.exception
        return app

    monkeypatch.setattr(AppTest, "_run", watched)


@pytest.fixture
def own_runner():
    """Each test has its own pool; jobs it leaves behind are stopped."""
    jobs.shared_runner.cache_clear()
    yield
    runner = jobs.shared_runner()
    for job in (*runner._running, *runner._waiting):
        job.stop()
    jobs.shared_runner.cache_clear()


@pytest.fixture
def full_server(own_runner):
    """A pool that somebody else has filled until the test ends."""
    full = jobs.JobRunner(workers=1, queue_limit=0)

    def endless(should_stop):
        while not should_stop():
            yield 0
            time.sleep(0.01)

    with pytest.MonkeyPatch.context() as patch:  # over before `own_runner` looks for its own
        patch.setattr(jobs, "shared_runner", lambda: full)
        other = full.submit("somebody else", endless)
        yield
        other.stop()
