"""A link as a QR code: what a class scans from a wall or from a sheet of paper."""

import base64


def qr_svg(url: str) -> str:
    """The code of a link as inline SVG: black on white, with the margin that scanners need, as wide as its place.

    Write the link beside it, too: its name does not say it. `ValueError` for more than the 2,953 bytes that a code
    holds.
    """
    import segno  # by the first code, not by every page

    code = segno.make_qr(url, error="L")  # a stronger correction is used where it costs no room
    drawing = code.svg_inline(border=4, dark="#000000", light="#ffffff", omitsize=True)
    return drawing.replace(
        "<svg ", '<svg role="img" aria-label="QR code of this link" shape-rendering="crispEdges" ', 1
    )


def qr_image(url: str) -> str:
    """The same as an image of a page: Streamlit strips drawings from a page's HTML."""
    drawing = qr_svg(url).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    encoded = base64.b64encode(drawing.encode()).decode()
    return f'<img class="qr" src="data:image/svg+xml;base64,{encoded}" alt="QR code of this link">'
