"""The site is built without a warning; every link and anchor leads somewhere; nothing is loaded from another host.

Notebooks are not executed here: tests/notebooks does that.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import objpert_core
from objpert_core import theory

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COMMAND = ["-m", "sphinx", "-W", "--keep-going", "-n", "docs"]
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
HOSTS = {  # whose pages are linked, one by one, as nobody can follow the links here; three are the theme's
    "cyclonedx.org",
    "github.com",
    "jupyterlite.readthedocs.io",
    "pradyunsg.me",
    "pyodide.org",
    "www.apache.org",
    "www.sphinx-doc.org",
}
OWN_MODULES = {"objpert_core.theory": theory}  # without `__all__`: each of their modules is on the site


class Page(HTMLParser):
    """What a page links to, loads, and offers as anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.description, self.title = "", ""
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self._in_title = tag == "title" and not self.title
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") not in {"next", "prev", "index", "search", "author"}:
            self.loads.append(found["href"])
        if tag in LOADS and LOADS[tag] in found:
            self.loads.append(found[LOADS[tag]])
        if tag == "meta" and found.get("name") == "description":
            self.description = found["content"]

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; a warning fails all tests of this file, with Sphinx's own words."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, *COMMAND, str(folder), "-q", "-D", "nb_execution_mode=off", "-d", f"{folder}-trees"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert run.returncode == 0, run.stderr
    return folder


@cache
def pages(site: Path) -> dict[Path, Page]:
    """Every page of the site."""
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_markdown_page_is_there_with_a_title_and_a_description(site):
    sources = [
        path.relative_to(ROOT / "docs").with_suffix(".html")
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in {".md", ".ipynb"}
        and not path.name.endswith(".in.md")
        and not {"_build", ".ipynb_checkpoints"} & {*path.parts}
    ]
    assert len(sources) > 30
    for source in sources:
        page = pages(site)[site / source]
        assert len(page.title) > 5, source
        assert len(page.description) > 20, source


def test_every_link_leads_to_a_page_and_an_anchor_that_are_there(site):
    for path, page in pages(site).items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme == "https", f"{path.name}: {link}"
                assert parts.netloc in HOSTS, f"{path.name}: {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in pages(site)[target].anchors, f"{path.name}: {link}"


def test_nothing_is_loaded_from_another_host(site):
    for path, page in pages(site).items():
        assert page.loads
        for link in page.loads:
            assert not urlsplit(link).netloc, f"{path.name}: {link}"
            assert (path.parent / unquote(urlsplit(link).path)).is_file(), f"{path.name}: {link}"
        code = "".join(re.findall(r"<script[^>]*>(.*?)</script>", path.read_text(encoding="utf-8"), flags=re.DOTALL))
        assert not re.search(r"https?://", code), path.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


@pytest.mark.browser
@pytest.mark.parametrize("width", [420, 1024, 1366, 1440])  # a phone, without contents at the right, with them, wider
def test_no_page_is_wider_than_its_window(site, chromium, width):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    for name in ("index", "tutorial", "theorems", "api/estimators", "genindex"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.close()


def test_search_works_from_the_files_of_the_site(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for word in ("calibrate_dpsgd", "objpertlogisticregression"):
        assert word in index.lower()


def test_both_colour_schemes_have_colours_of_their_own(site):
    style = (site / "index.html").read_text(encoding="utf-8")
    for scheme, colours in {"light": ("#8a4b00", "#0b5cad"), "dark": ("#ffb454", "#7cc0ff")}.items():
        for colour in colours:
            assert colour in style, (scheme, colour)


def documented(site: Path) -> set[str]:
    """Every dotted name that has an entry of its own on a page of the API."""
    return {
        anchor
        for path, page in pages(site).items()
        if path.parent.name == "api"
        for anchor in page.anchors
        if "." in anchor
    }


def public() -> list[tuple[str, str]]:
    """(package, name) for every name in the `__all__` of a public package."""
    modules = pkgutil.walk_packages(objpert_core.__path__, "objpert_core.")
    packages = ["objpert_core", *(module.name for module in modules if module.ispkg and "._" not in module.name)]
    return [
        (package, name) for package in packages for name in getattr(importlib.import_module(package), "__all__", ())
    ]


def test_every_public_name_is_in_the_api_once(site):
    """Under the package that exports it, or under another that exports the very same object."""
    found, names = documented(site), public()
    assert len(names) > 180
    places: dict[int, set[str]] = {}
    for package, name in names:
        value = getattr(importlib.import_module(package), name)
        places.setdefault(id(value), set()).add(f"{package}.{name}")
    for package, name in names:
        if name != "__version__":
            same = places[id(getattr(importlib.import_module(package), name))]
            assert len(same & found) == 1, f"{package}.{name}: {same & found or 'missing'}"


def test_every_module_of_theory_is_in_the_api(site):
    found = documented(site)
    for package, module in OWN_MODULES.items():
        for info in pkgutil.iter_modules(module.__path__):
            assert any(name.startswith(f"{package}.{info.name}.") for name in found), info.name


def test_no_private_name_is_in_the_api(site):
    assert not [name for name in documented(site) if re.search(r"\._(?!_)", name)]


def test_the_command_is_the_one_that_people_are_told():
    command = " ".join(["python", *COMMAND, "docs/_build/html"])
    for page in ("docs/index.md", "docs/CONTRIBUTING.md", "docs/conf.py", "docs/requirements.txt"):
        assert command in (ROOT / page).read_text(encoding="utf-8"), page
