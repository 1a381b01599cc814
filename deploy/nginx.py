"""nginx's configuration, filled in, and Streamlit's scripts in compressed form, which nginx serves by itself.

A first visit takes some five megabytes of scripts that are always the same. Compressed once at the start and sent by
nginx they cost the app's processes nothing.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import re
import resource
import shutil
from pathlib import Path

from deploy.settings import UPLOAD_MEBIBYTES, UPLOADS_AT_ONCE, Settings

TEMPLATE = Path(__file__).with_name("nginx.conf.in")
PAGES = Path(__file__).with_name("pages")
COMPRESSED = {".js", ".css", ".json", ".map", ".svg", ".html", ".ttf", ".wasm"}
# The app talks to its own host only. Plotly and the tables of Streamlit make functions from texts and style by hand.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; "
    "connect-src 'self' data: blob: ws://$http_host wss://$http_host; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {frames}"
)


def configuration(settings: Settings) -> str:
    """The text of nginx.conf for these settings."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    everywhere = settings.address == "*"
    tls = " ssl http2" if settings.cert else ""
    listen = [f"    listen {'' if everywhere else settings.address + ':'}{settings.port}{tls};"]
    if everywhere and Path("/proc/net/if_inet6").exists():
        listen.append(f"    listen [::]:{settings.port}{tls};")
    if settings.cert:
        listen += [
            f"    ssl_certificate {_quoted(settings.cert)};",
            f"    ssl_certificate_key {_quoted(settings.key)};",
            "    ssl_protocols TLSv1.2 TLSv1.3;",
            "    ssl_session_cache shared:tls:4m;",
            "    ssl_session_timeout 1h;",
        ]
    behind = [f"  set_real_ip_from {network};" for network in settings.behind]
    if behind:
        behind += ["  real_ip_header X-Forwarded-For;", "  real_ip_recursive on;"]
    ports = settings.app_ports
    upstreams = [_upstream("anyone", ports, [])]
    upstreams += [_upstream(f"process_{i}", [port], ports[:i] + ports[i + 1 :]) for i, port in enumerate(ports)]
    return _fill(
        TEMPLATE.read_text(encoding="utf-8"),
        USER="user root;" if os.geteuid() == 0 else "",
        RUN=str(settings.run),
        PAGES=str(PAGES),
        CONNECTIONS=str(max(512, min(16384, files // 2))),
        UPSTREAMS="\n".join(upstreams),
        POOLS="\n".join(f"    {number} process_{number};" for number in range(settings.processes)),
        NUMBERS="\n".join(f'    "~:{port}$" {number};' for number, port in enumerate(ports)),
        COOKIE=cookie_rules(settings),
        PER_ADDRESS=str(settings.per_address),
        UPLOADS=str(UPLOADS_AT_ONCE),
        BEHIND="\n".join(behind),
        LISTEN="\n".join(listen),
        POLICY=POLICY.format(frames=" ".join(settings.frames)),
        BODY=f"{UPLOAD_MEBIBYTES + 1}m",  # a form's own lines come on top, as in Streamlit
    )


def cookie_rules(settings: Settings) -> str:
    """How far the cookie goes: into other sites' frames only where the app may be shown there, which takes TLS."""
    if settings.cert and len(settings.frames) > 1:
        return "SameSite=None; Secure; Partitioned"
    return "SameSite=Lax; Secure" if settings.cert else "SameSite=Lax"


def _upstream(name: str, ports: list[int], others: list[int]) -> str:
    lines = [f"    server 127.0.0.1:{port} max_fails=0;" for port in ports]
    lines += [f"    server 127.0.0.1:{port} max_fails=0 backup;" for port in others]
    inside = "\n".join([f"    zone {name} 64k;", *lines])
    return f"  upstream {name} {{\n{inside}\n  }}"


def _fill(template: str, **values: str) -> str:
    names = set(re.findall(r"@([A-Z_]+)@", template))
    if names != set(values):
        raise ValueError(f"the template and the values differ by {sorted(names ^ set(values))}.")
    return re.sub(r"@([A-Z_]+)@", lambda found: values[found[1]], template)


def _quoted(path: Path | None) -> str:
    text = str(path)
    if re.search(r"""["\\$;{}\s]""", text):
        raise ValueError(f"The path {text!r} has a character that nginx reads as its own; rename it.")
    return text


def write_assets(folder: Path) -> None:
    """Streamlit's static files as nginx sends them: texts compressed, all others linked."""
    found = importlib.util.find_spec("streamlit")
    if found is None or found.origin is None:
        raise FileNotFoundError("Streamlit is not installed: pip install -r requirements.txt.")
    source = Path(found.origin).parent / "static" / "static"
    shutil.rmtree(folder, ignore_errors=True)
    for file in source.rglob("*"):
        if file.is_file():
            target = folder / "static" / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix in COMPRESSED:
                target.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes(), 6, mtime=0))
            else:
                target.symlink_to(file)


def write(settings: Settings) -> Path:
    """Write the configuration into the run folder and return its path."""
    _quoted(settings.run)
    (settings.run / "temp").mkdir(exist_ok=True)
    path = settings.run / "nginx.conf"
    path.write_text(configuration(settings), encoding="utf-8")
    return path


def executable() -> str:
    """Where nginx is; Debian keeps it out of an ordinary user's path.

    Raises
    ------
    FileNotFoundError
        If it is not installed.
    """
    path = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if path is None:
        raise FileNotFoundError("nginx is not installed: apt install nginx-light, or nginx.")
    return path
