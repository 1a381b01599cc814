"""Who a visitor is to the server: a browser's signed number, and the network it comes from, neither kept in clear.

A browser's number is in the cookie that Streamlit gives it against forged requests. Here half of it is a signature with
the server's secret (`sign_numbers`), so that nobody invents browsers: each has asked this server once. A network is an
IPv4 address or the first half of an IPv6 one, as a hash with the same secret; a class may share one. Behind a proxy the
address is in a header, which is believed only where the server was started with its name in ``OBJPERT_ADDRESS_HEADER``,
as `deploy/serve` does: nginx writes it over whatever a visitor sends.
"""

import hashlib
import hmac
import importlib
import ipaddress
import os
import re
import secrets
from contextlib import suppress
from typing import Any

import streamlit as st

HEADER = "OBJPERT_ADDRESS_HEADER"
_HALF = 8  # bytes of a number that are random, and that sign it
_COOKIE = re.compile(r'"?2\|([0-9a-f]{8})\|([0-9a-f]{32})\|[0-9]+"?')


def browser() -> str | None:
    """This session's browser's number; None where it sends none that this server has signed."""
    found = _COOKIE.fullmatch(str(st.context.cookies.get("_streamlit_xsrf", "")))
    if found is None:
        return None
    veil, veiled = map(bytes.fromhex, found.groups())  # the veil changes, the number stays
    number = bytes(byte ^ veil[place % len(veil)] for place, byte in enumerate(veiled))
    return number.hex() if _signed(number) else None


def network() -> str:
    """This session's network, as a keyed hash; "" where nobody can tell, as on one's own computer."""
    named = os.environ.get(HEADER)
    address = st.context.headers.get(named) if named else st.context.ip_address
    with suppress(ValueError):
        found = ipaddress.ip_address(address or "")
        if isinstance(found, ipaddress.IPv6Address):
            found = found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False).network_address
        return _keyed(b"network", found.packed).hex()
    return ""


def new_number() -> bytes:
    """A browser's number: random, and signed."""
    own = secrets.token_bytes(_HALF)
    return own + _keyed(b"browser", own)


def sign_numbers() -> None:
    """From now on Streamlit's cookies hold signed numbers, where it still has the function; others are given anew."""
    module = importlib.import_module("streamlit.web.server.starlette.starlette_app_utils")
    write: Any = getattr(module, "generate_xsrf_token_string", None)
    if write is None:
        return

    def signed(token_bytes: bytes | None = None, timestamp: int | None = None) -> str:
        known = token_bytes is not None and _signed(token_bytes)
        return str(write(token_bytes, timestamp) if known else write(new_number()))

    module.generate_xsrf_token_string = signed  # type: ignore[attr-defined]


def _signed(number: bytes) -> bool:
    return hmac.compare_digest(number[_HALF:], _keyed(b"browser", number[:_HALF]))


def _keyed(purpose: bytes, value: bytes) -> bytes:
    """A hash with the secret that the processes of a server share, or a process of its own has drawn."""
    key = hashlib.blake2b(str(st.get_option("server.cookieSecret")).encode(), person=purpose).digest()
    return hashlib.blake2b(value, key=key, digest_size=_HALF).digest()
