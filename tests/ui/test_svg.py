"""The SVG writer: well-formed, complete, and its curves lie where the numbers say."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image
from reportlab.pdfbase.ttfonts import TTFontFile

from ui import bounds as bound_curves
from ui import figures
from ui.registry import ROOMS
from ui.svg import to_pdf, to_png, to_svg
from ui.svg.convert import FONT
from ui.svg.text import lines, text_width
from ui.svg.thumbnail import to_thumbnail

NS = {"s": "http://www.w3.org/2000/svg"}


def parse(text):
    return ElementTree.fromstring(text)


def nodes(root, tag):
    return root.findall(f".//s:{tag}", NS)


def texts(root):
    return [node.text for node in nodes(root, "text")]


def curve(root, name):
    """Pixel coordinates of the first line of the group with this title."""
    for group in nodes(root, "g"):
        title = group.find("s:title", NS)
        if title is not None and title.text == name:
            path = next(p for p in group.findall("s:path", NS) if p.get("fill") == "none")
            return np.array([[float(v) for v in pair.split()] for pair in re.split(r"[ML]\s*", path.get("d")) if pair])
    raise AssertionError(f"no curve {name!r}")


def chart(*traces, log=False, xaxis=None):
    view = (1e-4, 1.0) if log else (0.0, 1.0)
    across = xaxis or figures.axis("x & more", (0, 10))
    return figures.figure(traces, xaxis=across, yaxis=figures.axis("y", view, log=log))


def drawn(*traces, title="", **options):
    """The parsed picture of these traces."""
    return parse(to_svg(chart(*traces, **options), title=title))


def frame(root):
    box = root.find(".//s:rect[@stroke='#444']", NS)
    return [float(box.get(key)) for key in ("x", "y", "width", "height")]


def test_a_curve_lies_where_its_numbers_are_on_a_log_axis():
    x = np.array([0.0, 5.0, 10.0])
    root = drawn(figures.series("A <b>x</b>", x, [1, 1e-2, 1e-4], "rdp"), log=True, title="T <&>")
    line = curve(root, "A x")
    left, top, width, height = frame(root)
    np.testing.assert_allclose(line[:, 0], [left, left + width / 2, left + width], atol=0.11)
    np.testing.assert_allclose(line[:, 1], [top, top + height / 2, top + height], atol=0.11)


def test_titles_ticks_legend_and_escaping():
    root = drawn(figures.series("one", [1, 2], [0.1, 0.5], "glm"), log=True, title='5 < 6 & "quoted"')
    assert root.get("aria-label") == '5 < 6 & "quoted"'
    shown = texts(root)
    assert {"x & more", "y", "one", "1", "10⁻²", "10⁻⁴", "0", "10"} <= set(shown)
    assert "http" not in to_svg(chart()).replace("http://www.w3.org/2000/svg", "")


def test_gaps_split_and_values_off_the_picture_stay_finite():
    y = np.array([0.5, np.nan, 0.5, 0.0, 1e-300])
    text = to_svg(chart(figures.series("A", np.arange(5.0), y, "glm"), log=True))
    assert "nan" not in text.lower().replace("xmlns", "")
    assert "inf" not in text
    paths = [p for p in parse(text).findall(".//s:g[@clip-path]//s:path", NS) if p.get("fill") == "none"]
    assert len(paths) == 2


def test_roles_keep_their_dashes_and_bands_their_opacity():
    x = np.arange(3.0)
    text = to_svg(chart(figures.series("A", x, x / 3, "rdp"), figures.band(x, x / 4, x / 3, "tight")))
    assert 'stroke-dasharray="9 5 2 5"' in text
    assert 'fill="rgb(213,94,0)" fill-opacity="0.2"' in text


def test_bars_markers_errors_and_categories():
    names = ["a", "b"]
    axis = {"title": {"text": "which"}, "type": "category", "categoryarray": names, "range": [-0.5, 1.5]}
    bar = {"type": "bar", "name": "acc", "x": names, "y": [0.5, 0.75], "marker": {"color": ["#111111", "#222222"]}}
    dots = figures.series("dots", names, [0.2, 0.4], "tight", mode="markers", error_y={"array": [0.1, 0.1]})
    root = drawn(bar, dots, xaxis=axis)
    bars = [r for r in nodes(root, "rect") if r.get("fill") in ("#111111", "#222222")]
    heights = [float(r.get("height")) for r in bars]
    assert heights[1] / heights[0] == pytest.approx(1.5, abs=0.01)
    assert len(root.findall(".//s:g[@clip-path]//s:circle", NS)) == 2
    assert {"a", "b", "which", "acc"} <= set(texts(root))


def bars_of(root, kind):
    """x and y of both ends of each error bar of this kind."""
    found = []
    for path in root.findall(f".//s:path[@class='{kind}']", NS):
        x, y, turn, end = re.match(r"M(\S+) (\S+) ([VH])(\S+)", path.get("d")).groups()
        found.append([(float(x), float(y)), (float(x), float(end)) if turn == "V" else (float(end), float(y))])
    return found


def test_intervals_run_from_the_lower_to_the_upper_end_with_caps():
    bars = {"symmetric": False, "array": np.array([0.3]), "arrayminus": np.array([0.1]), "color": "#123456", "width": 8}
    dot = figures.series("dot", [5.0], [0.5], "tight", mode="markers", error_y=bars, error_x={"array": [2.0]})
    root = drawn(dot)
    left, top, width, height = frame(root)
    ((low, high),) = bars_of(root, "error_y")
    np.testing.assert_allclose(low, [left + width / 2, top + 0.6 * height], atol=0.11)
    np.testing.assert_allclose(high, [left + width / 2, top + 0.2 * height], atol=0.11)
    ((start, end),) = bars_of(root, "error_x")
    np.testing.assert_allclose([start[0], end[0]], [left + 0.3 * width, left + 0.7 * width], atol=0.11)
    path = root.find(".//s:path[@class='error_y']", NS)
    assert path.get("stroke") == "#123456"
    assert path.get("d").count("h16") == 2


def test_an_interval_of_a_point_that_is_missing_is_left_out():
    dots = figures.series("d", [1.0, 2.0], [0.5, np.nan], "tight", mode="markers", error_y={"array": [0.1, 0.1]})
    assert len(bars_of(drawn(dots), "error_y")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("symbol", sorted({role.symbol for role in figures.ROLES.values()}))
def test_each_symbol_of_the_app_is_drawn_in_the_picture_and_in_the_legend(symbol):
    role = next(name for name, look in figures.ROLES.items() if look.symbol == symbol)
    root = drawn(figures.series("dots", [2.0, 4.0], [0.2, 0.4], role, mode="markers"))
    shape = "s:circle" if symbol == "circle" else f"s:path[@class='{symbol}']"
    assert len(root.findall(f".//s:g[@clip-path]//{shape}", NS)) == 2
    legend = root.find(".//s:g[@class='sample']", NS)
    assert len(legend.findall(shape, NS)) == 1
    assert not [path for path in legend if path.get("fill") == "none"]  # no line for what is drawn without one


def test_one_trace_may_mix_symbols_and_colours():
    marker = {"color": ["#111111", "rgba(1,2,3,0.5)"], "symbol": ["square", "x"], "size": [10, 6]}
    dots = figures.series("", [2.0, 4.0], [0.2, 0.4], "with", mode="markers", marker=marker)
    root = drawn(dots)
    square, cross = (root.find(f".//s:path[@class='{name}']", NS) for name in ("square", "x"))
    assert (square.get("fill"), cross.get("fill"), cross.get("fill-opacity")) == ("#111111", "rgb(1,2,3)", "0.5")
    assert "scale(5)" in square.get("transform")


def test_long_names_on_the_y_axis_and_a_long_title_stay_inside():
    names = ["native-country=Outlying-US(Guam-USVI)", "education-num"]
    places = figures.axis("which", (1.5, -0.5), tickvals=np.arange(2), ticktext=names, categoryarray=names)
    dots = figures.series("coefficients", [1.0, 2.0], [0.0, 1.0], "tight", mode="markers")
    title = "Coefficients on adult-synthetic (stand-in for adult), " * 5
    text = to_svg(figures.figure([dots], xaxis=figures.axis("x", (0, 100)), yaxis=places), title=title)
    root = parse(text)
    assert set(names) <= set(texts(root))
    shares = {"start": 0.0, "middle": 0.5, "end": 1.0}
    upright = [node for node in nodes(root, "text") if node.get("transform") is None]
    for node in upright:
        wide = text_width(node.text)
        start = float(node.get("x")) - shares[node.get("text-anchor")] * wide
        assert 0 <= start <= start + wide <= 760, node.text
    heading = [node.text for node in upright if node.text in title.strip()]
    assert " ".join(heading) == title.strip()
    assert len(heading) > 1
    baselines = [float(node.get("y")) for node in upright if node.text in heading]
    legend = next(float(node.get("y")) for node in upright if node.text == "coefficients")
    assert max(baselines) < legend < frame(root)[1]  # title, legend, picture


def test_lines_break_where_they_are_told_and_where_they_are_full():
    assert lines("<b>a</b> b<br>c") == ["a b", "c"]
    assert lines("one two three", text_width("one two")) == ["one two", "three"]
    assert lines("unbreakable", 1.0) == ["unbreakable"]
    assert lines("") == []


def test_repeated_names_keep_their_places():
    places = figures.axis("which", (2.5, -0.5), tickvals=np.arange(3), ticktext=["a", "b", "a"])
    root = parse(to_svg(figures.figure([], xaxis=figures.axis("x", (0, 1)), yaxis=places)))
    heights = [float(node.get("y")) for node in nodes(root, "text") if node.text in ("a", "b")]
    assert len(set(heights)) == 3


def test_panels_share_the_x_axis():
    x = np.arange(3.0)
    figure = figures.figure(
        [figures.series("up", x, x, "with"), figures.series("down", x, x, "without", yaxis="y2")],
        xaxis=figures.axis("x", (0, 2), anchor="y2"),
        yaxis=figures.axis("first", (0, 2), domain=[0.6, 1.0]),
        yaxis2=figures.axis("second", (0, 2), domain=[0.0, 0.4]),
    )
    root = parse(to_svg(figure))
    up, down = curve(root, "up"), curve(root, "down")
    np.testing.assert_allclose(up[:, 0], down[:, 0])
    assert up[:, 1].max() < down[:, 1].min()
    assert {"first", "second"} <= set(texts(root))


def test_figure_1_left_is_drawn_with_every_bound():
    setting = bound_curves.Setting(5.0, 20.0, 1.0, 1.0)
    x = bound_curves.grid(2.0)
    traces = [figures.series(name, x, bound_curves.curve(b, setting, 2.0), b) for b, name in bound_curves.NAMES.items()]
    root = drawn(*traces, log=True, title="Figure 1 left")
    for name in bound_curves.NAMES.values():
        assert name in texts(root)
        assert len(curve(root, name)) == bound_curves.POINTS


# --- heat maps and labels -------------------------------------------------------------------------------------------

CLEAR = "rgba(0,0,0,0)"
STEPS = [[0, "#111111"], [0.5, "#111111"], [0.5, CLEAR], [0.75, CLEAR], [0.75, "#999999"], [1, "#999999"]]


def heat(z, **more):
    rows, columns = np.shape(z)
    trace = {
        "type": "heatmap", "name": "heat", "x": np.geomspace(1, 100, columns + 1), "y": np.linspace(0, 1, rows + 1),
        "z": np.asarray(z, dtype=float), "zmin": 0.0, "zmax": 4.0, "colorscale": STEPS,
        "colorbar": {"tickvals": [1, 3, 4], "ticktext": ["low", "mid < 3.5", "high"], "title": {"text": "what"}},
    } | more  # fmt: skip
    return figures.figure([trace], xaxis=figures.axis("x", (1, 100), log=True), yaxis=figures.axis("y", (0, 1)))


def rects(root):
    return root.findall(".//s:g[@class='cells']/s:rect", NS)


def test_cells_lie_between_their_edges_and_neighbours_of_one_colour_are_one():
    root = parse(to_svg(heat([[1.0, 1.5], [4.0, np.nan]])))
    left, top, width, height = frame(root)
    found = {r.get("fill"): [float(r.get(k)) for k in ("x", "y", "width", "height")] for r in rects(root)}
    np.testing.assert_allclose(found["#111111"], [left, top + height / 2, width, height / 2], atol=1)
    np.testing.assert_allclose(found["#999999"], [left, top, width / 2, height / 2], atol=1)
    assert len(rects(root)) == 2


def test_there_are_no_seams_between_cells():
    root = parse(to_svg(heat(np.tile([1.0, 3.9], (7, 5)))))
    columns = sorted({(float(r.get("x")), float(r.get("width"))) for r in rects(root)})
    ends = [x + width for x, width in columns]
    assert all(x == int(x) for x in ends)
    rows = sorted({(float(r.get("y")), float(r.get("height"))) for r in rects(root)})
    np.testing.assert_array_equal([y + height for y, height in rows[:-1]], [y for y, _ in rows[1:]])


def test_what_is_transparent_is_not_drawn_and_the_bar_names_every_step():
    root = parse(to_svg(heat([[2.5, 2.9]])))
    assert not rects(root)
    strips = root.findall(".//s:rect[@class='scale']", NS)
    widths = np.array([float(strip.get("width")) for strip in strips])
    np.testing.assert_allclose(widths / widths.sum(), [0.5, 0.25, 0.25], atol=0.01)
    assert {"low", "mid < 3.5", "high", "what"} <= set(texts(root))
    assert "heat" not in texts(root)  # no entry of its own in the legend
    lowest = max(float(node.get("y")) for node in nodes(root, "text"))
    assert lowest < float(root.get("height"))
    title = next(node for node in nodes(root, "text") if node.text == "x")
    assert float(title.get("y")) < float(strips[0].get("y"))


def test_a_map_without_a_bar_and_with_colours_in_between():
    smooth = [[0, "#000000"], [1, "rgba(200,100,0,0.5)"]]
    root = parse(to_svg(heat([[0.0, 2.0, 4.0]], colorscale=smooth, showscale=False)))
    assert [r.get("fill") for r in rects(root)] == ["#000000", "rgb(100,50,0)", "rgb(200,100,0)"]
    assert [r.get("fill-opacity") for r in rects(root)] == [None, "0.75", "0.5"]
    assert not root.findall(".//s:rect[@class='scale']", NS)


def test_cells_need_their_edges():
    with pytest.raises(ValueError, match="edges"):
        to_svg(heat([[1.0, 2.0]], x=np.array([1.0, 10.0])))


def test_labels_stand_where_they_are_told():
    words = {"type": "scatter", "name": "", "mode": "text", "x": np.array([5.0, 5.0]), "y": np.array([0.5, np.nan]),
             "text": ["here & there", "nowhere"], "textposition": "top right", "showlegend": False}  # fmt: skip
    root = drawn(words)
    left, top, width, height = frame(root)
    (label,) = root.findall(".//s:g[@clip-path]//s:text", NS)
    assert label.text == "here & there"
    assert label.get("text-anchor") == "start"
    assert float(label.get("x")) == pytest.approx(left + width / 2 + 8, abs=0.2)
    assert float(label.get("y")) == pytest.approx(top + height / 2 - 8, abs=0.2)


def test_a_marker_may_have_an_outline():
    marker = {"color": "#ffffff", "symbol": "circle", "size": 12, "line": {"color": "#123456", "width": 2}}
    root = drawn(figures.series("dot", [5.0], [0.5], "guide", mode="markers", marker=marker))
    for circle in nodes(root, "circle"):
        assert (circle.get("stroke"), circle.get("stroke-width")) == ("#123456", "2")


def test_a_hollow_marker_is_an_outline_in_the_colour_of_its_role():
    before = figures.before("A", 1.0, 0.5, "glm")
    root = drawn(before, title="Before")
    (mark,) = root.findall(".//s:path[@class='square']", NS)
    assert mark.get("fill") == "none"
    assert mark.get("stroke") == figures.ROLES["glm"].color


def test_a_thumbnail_has_the_curves_and_no_words():
    x = np.linspace(0, 10, 500)
    picture = chart(figures.series("Named", x, np.exp(-x), "rdp"), figures.series("Text", [1], [1], "glm", mode="text"))
    small = to_thumbnail(picture.to_plotly_json(), note="how it was made")
    root = parse(small)
    assert small.startswith("<!-- how it was made -->")
    assert not nodes(root, "text") + nodes(root, "title")
    assert len(small) < 3_000
    assert figures.ROLES["rdp"].color in small


# 0.3 from 0 to 4, then far above the axes; a faint ghost under it
STEP = [figures.series("before", [0.0, 10.0], [0.7, 0.7], "dpsgd-margin", ghost=True)]
STEP += [figures.series("σ ≤ 10⁻⁵", [0.0, 4.0, 4.0, 10.0], [0.3, 0.3, 9.0, 9.0], "tight")]


@pytest.mark.thorough
def test_a_png_has_twice_the_pixels_and_draws_what_the_svg_says():
    figure = chart(*STEP)
    text, picture = to_svg(figure, title="ε"), Image.open(io.BytesIO(to_png(figure, title="ε"))).convert("RGB")
    root = parse(text)
    assert picture.size == tuple(2 * int(root.get(side)) for side in ("width", "height"))
    left, top, width, height = frame(root)

    def at(across, up):
        return picture.getpixel((round(2 * (left + across * width)), round(2 * (top + (1 - up) * height))))

    assert at(0.15, 0.3) == (0xD5, 0x5E, 0x00)
    assert at(0.7, 0.95) == (255, 255, 255)
    assert min(at(0.15, 0.7)) > 120  # the ghost is fainter than its colour, #009e73 …
    assert at(0.15, 0.7) != (255, 255, 255)  # … but there
    above = picture.crop((round(2 * (left + 0.3 * width)), 0, 2 * int(root.get("width")), 24))
    assert above.getcolors() == [(above.width * above.height, (255, 255, 255))]  # cut off at the axes
    title = picture.crop((20, 20, 50, 60))
    assert title.getextrema()[0][0] < 100  # written without a font of the machine


def test_a_pdf_embeds_its_font_and_is_the_same_every_time():
    first, second = (to_pdf(chart(*STEP), title="ε = 1") for _ in range(2))
    assert first == second
    assert first.startswith(b"%PDF")
    assert first.count(b"/FontFile2") == 1
    assert b"DejaVuSans" in first
    assert len(re.findall(rb"/Type /Page\b", first)) == 1
    assert re.search(rb"/CA \.35", first)  # the ghost's opacity


def test_the_font_of_the_files_has_every_letter_of_the_pages():
    has = TTFontFile(str(FONT)).charToGlyph
    files = [path for folder in (ROOMS, ROOMS.parent / "ui") for path in folder.rglob("*.py")]
    used = {letter for path in files for letter in path.read_text(encoding="utf-8") if letter.isprintable()}
    assert {letter for letter in used if ord(letter) not in has} == set()
