"""How much memory work takes."""

import tracemalloc


def peak_of(work):
    """The most bytes that it holds at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
