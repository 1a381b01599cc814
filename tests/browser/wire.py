"""What a tab and its server say to each other: whether all that was asked for has come, and whether the tab asks on."""

from collections.abc import Callable

from playwright.sync_api import Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class Wire:
    """The runs that one tab asks its server for, over whichever websocket was opened last."""

    def __init__(self, page: Page) -> None:
        self.runs = 0  # that have begun since the tab was opened
        self.timers: set[str] = set()  # fragments that the tab asks for by itself, again and again
        self._asked = self._begun = False
        self._socket: WebSocket | None = None
        page.on("websocket", self._listen)

    @property
    def answered(self) -> bool:
        """Whether the run that was asked for last has ended."""
        return not self._asked

    def _listen(self, socket: WebSocket) -> None:
        if "/_stcore/stream" not in socket.url:
            return
        self._socket, self._asked, self.timers = socket, False, set()
        socket.on("framesent", self._from(socket, self._sent))
        socket.on("framereceived", self._from(socket, self._received))

    def _from(self, socket: WebSocket, read: Callable[[bytes], None]) -> Callable[[bytes | str], None]:
        """Read the messages of this websocket until there is another."""

        def heard(payload: bytes | str) -> None:
            if socket is self._socket and isinstance(payload, bytes):
                read(payload)

        return heard

    def _sent(self, payload: bytes) -> None:
        if BackMsg.FromString(payload).WhichOneof("type") == "rerun_script":
            self._asked, self._begun = True, False

    def _received(self, payload: bytes) -> None:
        message = ForwardMsg.FromString(payload)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.runs += 1
            self._begun = True
            if not message.metadata.run.fragment_ids:  # a whole run ends all timers
                self.timers.clear()
        elif kind == "auto_rerun":
            self.timers.add(message.auto_rerun.fragment_id)
        elif kind == "stop_auto_rerun":
            self.timers.difference_update(message.stop_auto_rerun.fragment_ids)
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._asked &= not self._begun
