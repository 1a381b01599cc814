"""The short paper: its text with all numbers computed anew, and a PDF of that text, which Chromium prints.

    python -m benchmarks.paper

reads docs/paper/paper.in.md and writes docs/paper/paper.md and docs/paper/paper.pdf. Takes a few seconds.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from markdown_it import MarkdownIt
from playwright.sync_api import Browser, sync_playwright

from benchmarks.paper_numbers import filled

FOLDER = Path(__file__).parents[1] / "docs" / "paper"
SOURCE, TEXT, PRINTED = (FOLDER / name for name in ("paper.in.md", "paper.md", "paper.pdf"))
WIDE = 4 * "\N{NO-BREAK SPACE}"
"""Between the parts of a formula, where the text has two spaces."""
LOOK = """
@page { size: A4; margin: 20mm 22mm; @bottom-center { content: counter(page); font: 8pt "DejaVu Sans"; } }
body { font: 9.2pt/1.42 "DejaVu Sans", sans-serif; color: #1f2933; margin: 0; text-align: justify; }
h1 { font-size: 17pt; text-align: center; } h2 { font-size: 11.5pt; break-after: avoid; }
p { margin: 0 0 5.5pt; } ul { padding-left: 5mm; } blockquote { margin: 0 0 0 9mm; text-align: left; }
pre { margin-left: 9mm; } code { font-family: "DejaVu Sans Mono", monospace; font-size: 90%; }
sub, sup { font-size: 72%; line-height: 0; } a { color: inherit; text-decoration: none; }
table { border-collapse: collapse; width: 100%; margin-bottom: 7pt; font-size: 7.8pt; break-inside: avoid; }
th, td { padding: 1.6pt 4pt 2.2pt 2pt; text-align: left; vertical-align: top; }
th { border-bottom: .5pt solid #9aa5b1; } td { overflow-wrap: anywhere; }
thead { border-top: .8pt solid; } tbody { border-bottom: .8pt solid; }
"""


def mark(text: str) -> bytes:
    """The last line of a PDF: which text it was made of."""
    return f"% of {hashlib.sha256(text.encode()).hexdigest()}\n".encode()


def as_pdf(text: str, chromium: Browser) -> bytes:
    """A PDF of a text in the Markdown that the paper uses; links are left out, since they lead to files."""
    text = re.sub(r"\[([^\]]+)\]\((?!http)[^)]+\)", r"\1", text)
    text = re.sub(r"^> .*$", lambda formula: formula[0].replace("  ", WIDE), text, flags=re.MULTILINE)
    body = MarkdownIt("commonmark").enable("table").render(text)
    title = re.match(r"# (.*)\n", text)[1]
    page = chromium.new_page()
    page.set_content(f'<html lang="en"><title>{title}</title><style>{LOOK}</style>{body}')
    made = page.pdf(prefer_css_page_size=True, tagged=True)
    page.close()
    return made


def main() -> None:
    text = filled(SOURCE.read_text(encoding="utf-8"))
    TEXT.write_text(text, encoding="utf-8")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        PRINTED.write_bytes(as_pdf(text, chromium) + mark(text))
        chromium.close()
    print(f"wrote {TEXT} and {PRINTED}")


if __name__ == "__main__":
    main()
