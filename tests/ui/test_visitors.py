"""Browsers are known by numbers that the server has signed, networks by a header that only a deployment names."""

import os
import subprocess
import sys

import pytest
from streamlit.web.server.starlette import starlette_app_utils as cookies

from ui import visitors


@pytest.fixture
def sent(monkeypatch):
    """What a visitor sends."""
    found = {"cookies": {}, "headers": {}, "ip_address": None}
    for name in found:
        monkeypatch.setattr(type(visitors.st.context), name, property(lambda _, name=name: found[name]))
    monkeypatch.setattr(cookies, "generate_xsrf_token_string", cookies.generate_xsrf_token_string)
    return found


def number_of(cookie):
    return cookies.decode_xsrf_token_string(cookie)[0]


def test_streamlits_cookies_hold_numbers_that_nobody_invents(sent):
    unsigned = cookies.generate_xsrf_token_string()
    visitors.sign_numbers()
    signed = cookies.generate_xsrf_token_string()
    sent["cookies"] = {"_streamlit_xsrf": unsigned}
    assert visitors.browser() is None
    sent["cookies"] = {"_streamlit_xsrf": signed}
    assert visitors.browser() == number_of(signed).hex()
    again = cookies.generate_xsrf_token_string(number_of(signed), 5)
    assert number_of(again) == number_of(signed)
    assert again.endswith("|5")
    for old in (number_of(unsigned), b"", b"x" * 200, None):  # of another server, of an earlier start
        new = cookies.generate_xsrf_token_string(old, 5)
        sent["cookies"] = {"_streamlit_xsrf": new}
        assert visitors.browser() == number_of(new).hex() != number_of(unsigned).hex()
    assert len({number_of(cookies.generate_xsrf_token_string()) for _ in range(100)}) == 100
    for place in range(16):
        forged = bytearray(number_of(signed))
        forged[place] ^= 1
        sent["cookies"] = {"_streamlit_xsrf": f"2|00000000|{forged.hex()}|0"}
        assert visitors.browser() is None


def test_a_network_is_an_address_or_half_of_one_and_told_by_a_hash(sent, monkeypatch):
    monkeypatch.delenv(visitors.HEADER, raising=False)
    same = [("192.0.2.7", "::ffff:192.0.2.7"), ("2001:db8::1", "2001:db8:0:0:ffff::2")]
    found = []
    for addresses in same:
        for address in addresses:
            sent["ip_address"] = address
            found.append(visitors.network())
            assert address not in found[-1]
    assert (found[0], found[2]) == (found[1], found[3])
    assert found[0] != found[2]
    for address in (None, "", "unix:", "x" * 1000):
        sent["ip_address"] = address
        assert visitors.network() == ""


def test_a_forwarded_address_is_believed_only_where_the_server_was_told_its_header(sent, monkeypatch):
    sent["ip_address"] = "192.0.2.7"
    monkeypatch.delenv(visitors.HEADER, raising=False)
    direct = visitors.network()
    sent["headers"] = {"X-Forwarded-For": "198.51.100.1", "X-Objpert-Address": "198.51.100.1"}
    assert visitors.network() == direct
    monkeypatch.setenv(visitors.HEADER, "X-Objpert-Address")
    forwarded = visitors.network()
    assert forwarded not in ("", direct)
    sent["ip_address"] = "198.51.100.1"
    sent["headers"] = {"X-Objpert-Address": "192.0.2.7"}
    assert visitors.network() == direct


TOLD = "from ui import visitors; print(visitors.new_number().hex(), visitors._keyed(b'network', b'x').hex())"
READ = "import sys; from ui import visitors; print(visitors._signed(bytes.fromhex(sys.argv[1])))"


@pytest.mark.slow
def test_processes_of_one_server_know_one_anothers_numbers_and_other_servers_do_not():
    def run(secret, *words):
        environment = os.environ | {"STREAMLIT_SERVER_COOKIE_SECRET": secret}
        told = subprocess.run(
            [sys.executable, "-c", *words], env=environment, capture_output=True, text=True, check=True
        )
        return told.stdout.split()

    number, network = run("one", TOLD)
    assert run("one", READ, number) == ["True"]
    assert run("two", READ, number) == ["False"]
    assert run("one", TOLD)[1] == network != run("two", TOLD)[1]
