"""Imports what is slow to import once, and keeps the garbage collector from walking over it again and again.

With scikit-learn, scipy, pandas and plotly loaded a full collection takes tens of milliseconds, several times what a
page takes to rerun. `warm_up` loads them, draws one figure, and moves everything so far to the permanent generation
with `gc.freeze`. It runs once per process, whichever page is opened first. Streamlit would force a full collection
after every run; `.streamlit/config.toml` turns that off. Python makes one by itself whenever what survives has grown
by a quarter, which keeps the memory of 80 visits as small.

It also turns off Nagle's algorithm on the server's sockets. Streamlit 1.67 makes its listening socket without naming
the protocol, which keeps asyncio from doing that as it does for everybody else; a rerun's last small messages then wait
for the browser's delayed acknowledgement, 40 ms after everything has been computed.

It keeps uploads in memory, where they end with their session: Starlette would put those above 1 MB into a file. And it
keeps few of them: Streamlit would take any number of files from one open tab.

And it lets people's runs take turns (`ui.run_queue`).
"""

import contextlib
import functools
import gc
import socket
import threading

import numpy as np
import pandas as pd
import plotly.io
import scipy.optimize
import scipy.special
import scipy.stats
import sklearn.linear_model
import sklearn.metrics  # noqa: F401
from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

import objpert_core.accounting  # noqa: F401
from ui import figures
from ui.run_queue import take_turns

MOST_FILES = 4  # of one session: no page asks for as many
_lock = threading.Lock()
_done = False


def warm_up() -> None:
    """Load, build one figure, freeze; every further call returns at once."""
    global _done
    with _lock:
        if _done:
            return
        points = np.linspace(0.1, 1.0, 3)
        xaxis = figures.axis("x", (0, 1))
        yaxis = figures.axis("y", (0.1, 1), log=True)
        chart = figures.figure(
            [figures.series("warm", points, points, "logistic"), figures.band(points, points, points, "logistic")],
            xaxis,
            yaxis,
        )
        plotly.io.to_json(chart, validate=False)
        pd.DataFrame({"x": points}).to_csv(index=False)
        scipy.special.ndtr(points), scipy.stats.norm.ppf(0.5), scipy.optimize.brentq(lambda x: x, -1, 1)
        _send_small_messages_at_once()
        _hold_few_uploads()
        MultiPartParser.spool_max_size = (config.get_option("server.maxUploadSize") + 1) * 2**20  # the form's lines
        take_turns()
        gc.collect()
        gc.freeze()
        _done = True


def _send_small_messages_at_once() -> None:
    """TCP_NODELAY for this process's TCP sockets; those accepted later inherit it from the listening one."""
    for item in gc.get_objects():
        if issubclass(type(item), socket.socket) and item.family in (socket.AF_INET, socket.AF_INET6):
            with contextlib.suppress(OSError):  # closed, or not TCP
                item.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _hold_few_uploads() -> None:
    """A session's files, the oldest dropped where there are more than `MOST_FILES`."""
    add = MemoryUploadedFileManager.add_file

    @functools.wraps(add)
    def add_and_drop(manager: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(manager, session_id, file)
        for old in list(manager.file_storage.get(session_id, ()))[:-MOST_FILES]:
            manager.remove_file(session_id, old)

    MemoryUploadedFileManager.add_file = add_and_drop  # type: ignore[method-assign, assignment]
