"""How the app is served, protections on and nothing told to strangers; what it asks to be cited by."""

import gc
import re
import socket
import tomllib
from pathlib import Path

import pytest
from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from ui import cite, registry, warm

CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())


def test_protections_are_on_and_nothing_is_reported():
    assert CONFIG["server"]["enableCORS"] is True
    assert CONFIG["server"]["enableXsrfProtection"] is True
    assert CONFIG["server"]["maxUploadSize"] <= 5
    assert CONFIG["server"]["headless"] is True
    assert CONFIG["server"]["address"] == "localhost"
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["client"]["showErrorDetails"] == "none"


def test_every_option_is_one_that_streamlit_knows():
    from streamlit import config

    known = config.get_config_options()
    for section, options in CONFIG.items():
        for name, value in options.items():
            named = [f"{section}.{name}.{key}" for key in value] if isinstance(value, dict) else [f"{section}.{name}"]
            assert set(named) <= set(known)


STATED = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")


def fields(entry: str) -> dict[str, str]:
    return {name: re.sub("[{}]", "", value) for name, value in re.findall(r"^  (\w+) *= \{(.*)\},?$", entry, re.M)}


@pytest.mark.parametrize("page", [entry.name for entry in registry.PAGES])
def test_paper_and_app_are_cited_as_the_citation_file_says(page):
    paper, app = (fields(entry) for entry in cite.bibtex(page).strip().split("\n\n"))
    shown = STATED.lower()
    assert f'title: "{paper["title"].lower()}"\n    year: {paper["year"]}' in shown
    assert re.fullmatch(r"https://arxiv\.org/abs/\d{4}\.\d{5}", paper["url"])
    for person in paper["author"].split(" and "):
        family, given = person.split(", ")
        initials = "-".join(f"{part[0]}." for part in given.split("-"))
        assert f"{{family-names: {family}, given-names: {initials}}}" in STATED
    assert f'title: "{app["title"]}"' in STATED
    assert f'name: "{app["author"]}"' in STATED
    assert f"version: {app['version']}\n" in STATED


def test_braces_of_an_entry_close():
    assert all(text.count("{") == text.count("}") for text in map(cite.bibtex, ("", *cite.PAPERS)))


# Warming up: once per process, and small messages leave at once


@pytest.mark.thorough
def test_accepted_connections_send_small_messages_at_once():
    with socket.socket(socket.AF_INET) as listening:  # as Streamlit makes it: no protocol named
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert not listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        warm._send_small_messages_at_once()
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_second_call_freezes_nothing_more():
    frozen = gc.get_freeze_count()
    assert frozen > 100_000  # importing ui.page did it
    warm.warm_up()
    assert gc.get_freeze_count() <= frozen  # what another thread lets go of meanwhile is no longer counted


def test_an_upload_of_the_largest_size_is_not_put_into_a_file():
    warm.warm_up()
    assert MultiPartParser.spool_max_size > config.get_option("server.maxUploadSize") * 2**20


def test_a_session_holds_few_files_and_the_latest():
    warm.warm_up()
    manager = MemoryUploadedFileManager("/upload")
    for number in range(warm.MOST_FILES + 3):
        manager.add_file("mine", UploadedFileRec(str(number), "a.csv", "text/csv", b"x"))
    manager.add_file("another's", UploadedFileRec("0", "a.csv", "text/csv", b"x"))
    assert list(manager.file_storage["mine"]) == ["3", "4", "5", "6"]
    assert list(manager.file_storage["another's"]) == ["0"]
