"""A link as a QR code: what a class scans from a wall or from a sheet of paper."""

from __future__ import annotations


def qr_svg(url: str) -> str:
    """The code of a link as inline SVG: black on white, with the margin that scanners need, as wide as its place.

    Write the link beside it, too: its name does not say it.

    Raises
    ------
    ValueError
        Where the link is longer than the 2,953 bytes that a code holds.
    """
    import segno  # by the first code, not by every page

    code = segno.make_qr(url, error="L")  # a stronger correction is used where it costs no room
    drawing = code.svg_inline(border=4, dark="#000000", light="#ffffff", omitsize=True)
    return drawing.replace(
        "<svg ", '<svg role="img" aria-label="QR code of this link" shape-rendering="crispEdges" ', 1
    )
