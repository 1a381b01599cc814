"""A bounded memory of loaded data sets that several threads can ask at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class BoundedCache:
    """Least-recently-used cache bounded by bytes, in which each value is made once however many threads ask for it; a
    value larger than `max_bytes` is returned and not kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value kept under `key`, made by `make()` when there is none; an error in `make` is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:  # another thread made it while this one waited
                    self._values.move_to_end(key)
                    return self._values[key]
            try:
                value = make()
                self._keep(key, value)
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return value

    def _keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            if value.nbytes <= self.max_bytes:
                self._values[key] = value
                while sum(kept.nbytes for kept in self._values.values()) > self.max_bytes:
                    self._values.popitem(last=False)

    def clear(self) -> None:
        """Drop every value, so that the next `get` of each makes it anew."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
