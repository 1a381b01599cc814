"""An SVG chart as PNG and as PDF, with a font of our own: the same on every machine, and no font is asked of any.

The libraries are imported by the first file that somebody asks for; a page's start does not wait for them.
"""

from __future__ import annotations

import functools
import io
import re
from pathlib import Path
from typing import Any

from ui.svg.text import FONTS

FONT, _FAMILY = Path(__file__).parent / "font" / "DejaVuSans.ttf", "DejaVu Sans"
_ZOOM = 2  # pixels of the PNG for one of the SVG
_GROUP = re.compile(r'(<g\b[^>]*) opacity="([^"]*)"')


def png(svg: str) -> bytes:
    """The chart on white, two pixels for one."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg.replace(FONTS, _FAMILY),
            skip_system_fonts=True,
            font_files=[str(FONT)],
            background="#ffffff",
            zoom=_ZOOM,
        )
    )


def pdf(svg: str, title: str, *, width: float | None = None) -> bytes:
    """The chart as one page, curves and letters as such; the same bytes for the same chart.

    The page has the chart's size, a point for a pixel, or this width in points.
    """
    from reportlab.graphics import renderPDF
    from reportlab.pdfgen.canvas import Canvas
    from svglib.svglib import svg2rlg

    _register()
    # The converter has no opacity of groups; what is in a group inherits that of fills and strokes.
    flat = _GROUP.sub(r'\1 fill-opacity="\2" stroke-opacity="\2"', svg.replace(FONTS, _FAMILY))
    drawing: Any = svg2rlg(io.BytesIO(flat.encode()))
    file = io.BytesIO()
    zoom = 1.0 if width is None else width / drawing.width
    canvas = Canvas(
        file, pagesize=(zoom * drawing.width, zoom * drawing.height), invariant=True, initialFontName=_FAMILY
    )
    canvas.scale(zoom, zoom)
    canvas.setTitle(title)
    canvas.setAuthor("objpert")
    canvas.setCreator("objpert")
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()
    return file.getvalue()


@functools.cache
def _register() -> None:
    from reportlab.graphics.shapes import STATE_DEFAULTS
    from svglib.svglib import register_font

    register_font(_FAMILY, font_path=str(FONT))
    STATE_DEFAULTS["fontName"] = _FAMILY  # or files name Helvetica, too, without having it; journals refuse those
