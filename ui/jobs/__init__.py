"""Long work in the background: a small pool that the whole server shares.

A job is a generator function `work(should_stop)`. Each value it yields is a new partial result, complete in
itself and never changed afterwards; the page shows the latest one. What happens between two results goes to a meter
(`ui.request`). The same generator can be consumed in a plain loop where there are no threads (Python inside a browser).

The rules, the same wherever the work is done:

* at most `workers` jobs run at once and at most `queue_limit` wait; a further one is refused with `QueueFullError`;
* networks (`ui.visitors`) take turns: whose jobs are many wait for one of each other network's, and where the queue is
  full the last of them makes way; one network alone, a class perhaps, has all of the queue;
* an owner (one browser session) has one job: submitting the next stops the previous one;
* stopping is cooperative: `should_stop()` turns true, the generator ends soon, its last value is kept;
* a job that nobody has looked at for `abandoned_after` seconds counts as stopped: a closed tab frees its slot.
  Browsers wake the timers of hidden tabs once a minute at worst, so the default is above that;
* the runner forgets a job when it ends. The session holds its own `Job`, so results live as long as the session.

Where it is done, the variable OBJPERT_DASK decides (`shared_runner`):

* not set: threads of the web process;
* `local`: two processes beside it, started by the first job and ended with it;
* `tcp://host:port` or `tls://host:port`: a Dask cluster that somebody runs, for one web process or several
  (`ui.jobs.dask_worker`). Each of them lets as many jobs wait at the cluster as it has workers, and `queue_limit` here.

Work for other processes must be picklable: a function of a module, or `functools.partial` of one. It is begun once and
never repeated: with a private fit a second try would be a second release. Nothing here calls Streamlit.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import os

from ui.jobs.runner import (
    ElsewhereError,
    Engine,
    Job,
    JobRunner,
    JobView,
    QueueFullError,
    State,
    Work,
    explain,
    moment,
)

__all__ = [
    "ElsewhereError",
    "Engine",
    "Job",
    "JobRunner",
    "JobView",
    "QueueFullError",
    "State",
    "Work",
    "chosen",
    "explain",
    "moment",
    "shared_runner",
]

_log = logging.getLogger(__name__)


@functools.cache
def shared_runner() -> JobRunner:
    """The one runner of this web process. Two threads: the machine must stay free to draw other people's pages."""
    try:
        engine = chosen(os.environ.get("OBJPERT_DASK", ""))
    except ValueError as error:
        _log.error("%s Long work runs in threads of the web process instead.", error)
        engine = None
    return JobRunner(engine=engine)


def chosen(where: str) -> Engine | None:
    """The engine that a value of OBJPERT_DASK stands for; None for threads.

    Raises
    ------
    ValueError
        The value is neither "", "local" nor an address, or the package distributed is not installed.
    """
    if not where:
        return None
    if importlib.util.find_spec("distributed") is None:
        raise ValueError("OBJPERT_DASK needs the package distributed, which is not installed: pip install distributed.")
    from ui.jobs.dask_client import Cluster, is_address

    if where != "local" and not is_address(where):
        raise ValueError(f"OBJPERT_DASK must be 'local' or an address such as tcp://127.0.0.1:8786, got {where!r}.")
    return Cluster(None if where == "local" else where)
