"""The command line, and the configuration that follows from it."""

import json
import re
import tomllib

import pytest

from benchmarks.classroom import MARKERS, PAGE, Classroom, as_markdown, summary
from deploy import nginx, serve
from deploy.settings import ROOT, UPLOAD_MEBIBYTES, Settings, make_run_folder, parse
from ui import visitors

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


MISFITS = [
    (["--processes", "0"], "--processes is 0; it must be from 1 to 64."),
    (["--port", "65535"], "--port is 65535; it must be from 1 to 65532."),
    (["--address", "localhost;"], "--address is 'localhost;'; it must be an IP address or '*'."),
    (["--memory", "100"], "--memory is 100; it must be 256 MiB or more."),
    (["--per-address", "0"], "--per-address is 0; it must be 1 or more."),
    (["--cert", "a.pem"], "--cert and --key belong together; give both."),
    (["--cert", "a.pem", "--key", "b.pem"], "'a.pem' is no file."),
    (["--behind", "proxy"], "--behind is 'proxy'; it must be an address or a network such as 10.0.0.0/8."),
    (["--frames", "a b"], "--frames is 'a b'; it must be an origin such as https://moodle.example.org."),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISFITS)
def test_what_does_not_fit_is_told_in_a_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)
    assert sentence in capsys.readouterr().err


def test_help_and_refusals_have_the_name_that_was_typed(capsys):
    for arguments, name in (([], "deploy/serve"), (["--started-as", "objpert serve"], "objpert serve")):
        for wrong in ("--port=0", "--help", "--nonsense"):
            with pytest.raises(SystemExit):
                parse([*arguments, wrong])
            shown = "".join(capsys.readouterr())
            assert shown.startswith(f"usage: {name} [-h] [--processes")
            assert "started" not in shown


def test_the_configuration_holds_what_was_asked_for_and_the_defaults_are_those_of_the_settings(tmp_path):
    settings = parse([])
    assert settings == Settings(run=settings.run)
    assert settings.app_ports == [8081, 8082]
    for name in ("chain.pem", "key.pem"):
        (tmp_path / name).touch()
    plain = nginx.configuration(Settings(run=tmp_path))
    assert "SameSite=Lax;" not in plain
    assert 'HttpOnly; SameSite=Lax"' in plain
    assert "real_ip" not in plain
    assert f"client_max_body_size {UPLOAD_MEBIBYTES + 1}m;" in plain
    files = {"run": tmp_path, "cert": tmp_path / "chain.pem", "key": tmp_path / "key.pem"}
    frames = ("'self'", "https://moodle.example.org")
    asked = {"processes": 3, "address": "192.0.2.7", "per_address": 7, "behind": ("10.0.0.0/8",), "frames": frames}
    text = nginx.configuration(Settings(**files, **asked))
    for line in (
        "listen 192.0.2.7:8080 ssl http2;",
        "limit_conn per_address 7;",
        "set_real_ip_from 10.0.0.0/8;",
        "frame-ancestors 'self' https://moodle.example.org",
        "SameSite=None; Secure; Partitioned",
    ):
        assert line in text
    (second,) = re.findall(r"upstream process_1 \{(.*?)\}", text, re.DOTALL)
    servers = [line.strip() for line in second.splitlines() if "server" in line]
    assert [("8082" in line, "backup" in line) for line in servers] == [(True, False), (False, True), (False, True)]
    assert "@" not in re.sub(r"#.*", "", text)


def test_the_run_folder_is_the_owners_alone_and_has_no_characters_that_nginx_reads_as_its_own(tmp_path):
    (tmp_path / "a;b").mkdir()
    with pytest.raises(ValueError, match="has a character that nginx reads as its own"):
        nginx.write(Settings(run=tmp_path / "a;b"))
    make_run_folder(tmp_path / "run")
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(tmp_path)  # somebody put it there
    with pytest.raises(PermissionError, match="is not yours"):
        make_run_folder(tmp_path / "link")


def test_nginx_and_the_app_take_files_of_the_same_size():
    assert CONFIG["server"]["maxUploadSize"] == UPLOAD_MEBIBYTES
    assert f"at most {UPLOAD_MEBIBYTES} MB" in (nginx.PAGES / "too_large.html").read_text()


def test_the_app_gets_the_visitors_address_from_nginx_alone():
    """nginx writes the header over whatever a visitor sends, in every location: none has headers of its own."""
    text = nginx.configuration(Settings(run=ROOT))
    header = serve.app_environment(Settings())[visitors.HEADER]
    assert re.findall(rf"^ *proxy_set_header {header} (.*?);", text, re.MULTILINE) == ["$remote_addr"]
    assert 'proxy_set_header X-Forwarded-For "";' in text
    assert all("proxy_set_header" not in location for location in text.split("\n    location ")[1:])


# What the load test says of its measurements, and that the page says the same


def test_quantiles_are_times_that_were_measured():
    times = [float(i) for i in range(1000)]
    assert summary(times) == {"number": 1000, "median": 500.0, "p95": 950.0, "p99": 990.0, "longest": 999.0}
    assert summary([4.0, 1.0]) == {"number": 2, "median": 4.0, "p95": 4.0, "p99": 4.0, "longest": 4.0}
    assert summary([]) == {"number": 0}


def test_what_was_lost_is_counted_and_told_once():
    room = Classroom("nowhere", 10.0)
    room.lost, room.away = ["bounds: ConnectionError: closed"], [(1.5, True), (2.5, False)]
    notes = room.taken()
    assert (notes["lost"], notes["why"]) == (1, ["bounds: ConnectionError: closed"])
    assert (notes["away"]["number"], notes["away"]["same"]) == (2, 1)
    assert room.taken()["lost"] == 0


def test_the_page_says_what_was_stored():
    stored = json.loads((ROOT / "data" / "results" / "classroom.json").read_text())
    block = PAGE.read_text().partition(MARKERS[0])[2].partition(MARKERS[1])[0]
    assert block.strip() == as_markdown(stored)
    stored["churn"] |= {"lost": 1, "why": ["tuning: ConnectionError: closed"]}
    assert "**Sessions that come and go**, before the class: 2000 in 176 s, 1 lost connection," in as_markdown(stored)
    assert as_markdown(stored).endswith("\n\ntuning: ConnectionError: closed")
