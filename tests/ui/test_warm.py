"""Warming up: once per process, and small messages leave at once."""

import gc
import socket

import pytest
from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from ui import warm


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
