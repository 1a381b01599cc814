"""What the site does beyond Sphinx: links to files outside docs/, descriptions of pages, docstrings as plain text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from public_names import escaped
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

# Files of the checkout that have a page on the site. In Markdown they are linked where they lie, as a forge wants it.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "README.md#what-is-promised-and-what-is-not": "not_promised.md",
    "README.md": "index.md",
    "data/README.md": "data.md",
}
LONGEST_DESCRIPTION = 160


def link_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn links to files of `PAGES` into links to their pages."""
    folder = (Path(app.srcdir) / docname).parent
    up = "../" * len(folder.relative_to(app.srcdir).parts)
    for path, page in PAGES.items():
        source[0] = source[0].replace(f"]({up}../{path}", f"]({up}{page}")


def only_public_names_link(
    app: Sphinx, env: Any, node: pending_xref, contnode: nodes.TextElement
) -> nodes.TextElement | None:
    """`name` in a docstring: a link if one public name ends so, code if none or several do."""
    if node.get("reftype") != "obj":
        return None
    domain = env.domains.python_domain
    target = node["reftarget"]
    found = [name for name in domain.objects if name.endswith(f".{target}")]
    found = [name for name in found if name.count(".") - target.count(".") <= 3]  # no method by its bare name
    if len(found) != 1:
        return contnode
    plain = pending_xref("", refspecific=False)
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], plain, contnode)


@cache
def theorem_anchors(folder: Path) -> dict[str, str]:
    """T1 → t1-logistic-regression-…: the headings of docs/theorems.md, as a forge makes anchors of them."""
    text = (folder / "theorems.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## ((T\d+)\. .*)$", text, flags=re.MULTILINE)
    return {number: re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title, number in headings}


def plain_text(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape what reStructuredText would take for markup, outside examples, and link theorems by their numbers."""
    anchors = theorem_anchors(Path(app.srcdir))
    page = relative_uri(app.builder.get_target_uri(app.env.docname), app.builder.get_target_uri("theorems"))

    def link(found: re.Match[str]) -> str:
        number = found.group()
        return f"`{number} <{page}#{anchors[number]}>`__" if number in anchors else number

    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = escaped(line, lambda text: re.sub(r"(?<![\w.])T\d+(?!\w)", link, text))


def own_members(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn gives every estimator: its documentation has it."""
    module = getattr(value, "__module__", None) or ""
    return True if module.startswith("sklearn") or re.fullmatch(r"set_\w+_request", name) else None


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """The first paragraph's beginning as the page's description, for search engines and previews."""
    if doctree is None:
        return
    paragraph = next((node for node in doctree.findall(nodes.paragraph) if len(node.astext()) > 20), None)
    text = re.sub(r"\s+", " ", paragraph.astext()) if paragraph is not None else context["title"]
    if len(text) > LONGEST_DESCRIPTION:
        text = text[:LONGEST_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    escaped = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    context["metatags"] = context.get("metatags", "") + f'\n<meta name="description" content="{escaped}">'


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", link_pages)
    app.connect("missing-reference", only_public_names_link)
    app.connect("autodoc-process-docstring", plain_text, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", own_members)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
