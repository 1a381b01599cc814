"""The look of a page: one style sheet for the desk and the phone, one more for slides.

A page's stage is what its fragment redraws: the picture, which is the answer and one chart, and the panel, which is the
controls. On a phone the picture stays in sight while the controls below it move. A page opened with ``?embed=true`` is
a slide: the stage fills the window and nothing else is seen, so that no scroll bar is needed at any size.

`ui.page` names the containers: ``stage__picture`` and ``stage__panel``, and a chart's container ends in ``__chart``.
"""

import re

import streamlit as st

SLIDE_CONTROLS = 3
"""How many controls a slide shows: the first ones of the panel. The others keep their values and their address."""

_INSIDE = ":is([data-testid=stElementContainer], [data-testid=stFullScreenFrame], [data-testid=stPlotlyChart])"
_FILLED = f"[class*='__chart'] {_INSIDE}, [class*='__chart'] .js-plotly-plot"
_GROUND = "light-dark(#ffffff, #171614)"  # the theme's backgrounds
_SEEN = ':not([class*="_unseen"], :has([class*="_unseen"]))'
_STAGE = "[data-testid=stHorizontalBlock]:has(> [data-testid=stColumn] .st-key-stage__picture)"
_COLUMN = "[data-testid=stColumn]:has(.st-key-stage__picture .js-plotly-plot)"

# The text around a chart takes the page's text colour: Streamlit's grey has a contrast of 3.8 : 1 on white, and no
# single grey reaches 4.5 : 1 on white and on the dark background. Captions likewise.
_EVERYWHERE = """
.stMainBlockContainer { padding-top: 3.75rem; padding-bottom: 4rem; }
.answer { font-size: clamp(1.1rem, 0.85rem + 1.1vw, 1.55rem); line-height: 1.3; font-weight: 600; margin: 0;
  text-wrap: pretty; }
.answer-line { font-size: .875rem; line-height: 1.4; margin: .25rem 0 0 0; }
.answer-line summary { cursor: pointer; }
.answer-why { font-size: .95rem; line-height: 1.4; margin: .25rem 0 0 0; }
.answer-why::before { content: "↳ "; }
.verbatim { font-size: .875rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; padding: 1rem;
  border-radius: .5rem; background: rgba(128, 128, 128, .1); }
img.qr { width: min(20rem, 40vh); max-width: 100%; }
button[aria-label^="Help"], [data-testid=stMultiSelect] button { min-width: 24px; min-height: 24px; }
[data-testid=stRadio] label:has(input) { min-height: 28px; }
[data-testid=stCheckbox] label { min-height: 24px; }
[data-testid=stSelectbox] input { text-overflow: ellipsis; }
[data-testid=stPopoverBody]:has(img.qr) { transform: none !important; inset: 4.5rem 1rem auto auto !important;
  max-height: calc(100vh - 5.5rem) !important; }
.numbers { overflow-x: auto; }
.numbers table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
.numbers :is(th, td) { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid rgba(128, 128, 128, .3); }
.numbers th { font-weight: 600; }
h2 { font-size: 1.5rem !important; }
[data-testid=stPageLink] :is(span, p, [data-testid=stMarkdownContainer]) { white-space: normal; overflow: visible; }
@media (hover: none) {
  button [data-has-shortcut=true] kbd, button kbd { display: none; }
}
:is(button[kind^="primary"], [data-tag]), :is(button[kind^="primary"], [data-tag]) * {
  color: light-dark(#ffffff, #171614) !important; }
[class*="_unseen"], [data-testid=stLayoutWrapper]:has(> [class*="_unseen"]) { display: none; }
.js-plotly-plot:not([class*="_printed"] *) :is(.cartesianlayer, .infolayer, .menulayer) text {
  fill: currentColor !important; }
[data-testid=stCaptionContainer], [data-testid=stCaptionContainer] * { opacity: 1 !important; }
[data-testid=stCaptionContainer] { color: light-dark(#55565b, #b9bac0) !important; }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
"""

# The picture ends where the window ends: answer, chart and controls are seen together, and what explains them is below.
_DESK = f"""
@media (min-width: 641px) {{
  .st-key-stage__picture:where(:not(:has(.stBidiComponent))) {{ flex: none !important;
    height: max(var(--least, 28rem), calc(100vh - var(--above, 16rem))) !important; }}
  .st-key-stage__picture > * {{ flex: none; }}
  .st-key-stage__picture > :has([class*="__chart"]):not(:has([class*="__chart"]) ~ *),
  .st-key-stage__picture > * > * > :has(> [class*="__chart"]):not(:has([class*="__chart"]) ~ *) {{
    flex: 1 1 0 !important; min-height: 15rem; }}
  .st-key-stage__picture [class*="__chart"] {{ height: 100% !important; min-height: 0; }}
  .st-key-stage__picture :is({_FILLED}) {{
    height: 100% !important; flex: 1 1 0 !important; min-height: 0 !important; }}
}}
@media (min-width: 641px) and (min-height: 600px) {{
  {_COLUMN} {{ position: sticky; top: 4rem; align-self: flex-start; }}
}}
"""

_PHONE = f"""
@media (max-width: 640px) {{
  .stMainBlockContainer {{ padding-left: 1rem; padding-right: 1rem; }}
  h1 {{ font-size: 1.6rem !important; }}
  .katex-display {{ font-size: .84em; }}
  [class*="_presets"] {{ flex-wrap: nowrap !important; overflow-x: auto; scrollbar-width: thin; }}
  [class*="_presets"] > * {{ flex: none !important; }}
  [data-testid=stPopoverBody] [class*="_presets"] {{ flex-wrap: wrap !important; }}
  .st-key-stage__picture {{ gap: .4rem; }}
  .answer-line summary {{ padding: .25rem 0; }}
  .st-key-stage__picture .answer {{ font-size: 1.02rem; }}
  .st-key-stage__picture :is(.answer-line, .answer-why) {{ font-size: .8rem; line-height: 1.3; }}
  .st-key-stage__picture > :has(.js-plotly-plot) ~ :has(.js-plotly-plot) {{ display: none; }}
  .st-key-stage__picture [class*="__chart"] {{ height: 36vh !important; min-height: 0; flex: none !important; }}
  .st-key-stage__picture :is({_FILLED}) {{
    height: 100% !important; flex: 1 1 0 !important; min-height: 0 !important; }}
}}
/* A lower window, as at 200 % zoom, would be all picture. What is reached by Tab stops below the picture. */
@media (max-width: 640px) and (min-height: 600px) {{
  {_COLUMN} {{ position: sticky; top: 3.75rem; z-index: 90; background: {_GROUND};
    padding-bottom: .25rem; box-shadow: 0 .4rem .4rem -.4rem rgba(0, 0, 0, .35); }}
  [data-testid=stMain] {{ scroll-padding-top: calc(36vh + 14rem); }}
}}
"""

_SLIDE = f"""
html {{ font-size: 20px; }}
[data-testid=stHeader], [data-testid=stToolbar] {{ display: none !important; }}
.stMain, .stApp {{ overflow: hidden !important; }}
{_STAGE} {{
  position: fixed; inset: 0; padding: .6rem 1rem; width: auto !important; z-index: 100; background: {_GROUND}; }}
.st-key-stage__picture {{
  flex: none !important; height: calc(100vh - 1.2rem) !important; gap: .4rem; overflow: hidden; }}
.st-key-stage__picture > * {{ flex: none; }}
.st-key-stage__picture > :not(:has(.answer)):not(:has(.js-plotly-plot)) {{ display: none; }}
.st-key-stage__picture > :has(.js-plotly-plot) ~ :has(.js-plotly-plot) {{ display: none; }}
.st-key-stage__picture > :has([class*="__chart"]) {{ flex: 1 1 0 !important; min-height: 0; }}
.st-key-stage__picture [class*="__chart"] {{ height: 100% !important; min-height: 0; }}
.st-key-stage__picture :is({_FILLED}) {{
    height: 100% !important; flex: 1 1 0 !important; min-height: 0 !important; }}
.st-key-stage__picture .answer {{ font-size: 1.25rem; }}
.st-key-stage__picture :is(.answer-line, .answer-why) {{ font-size: 1rem; line-height: 1.25; margin: .1rem 0 0 0; }}
.st-key-stage__panel {{ gap: .6rem; max-height: calc(100vh - 6rem); overflow-y: clip; }}
.st-key-stage__panel [data-testid=stAlertContainer] {{ padding: .4rem; }}
.st-key-stage__panel [data-testid=stAlertContainer] * {{ font-size: .8rem; line-height: 1.2; }}
.st-key-stage__panel:has([data-testid=stProgress]) :has(> [data-testid=stAlert] [data-testid=stAlertContentWarning]) {{
  display: none; }}  /* beside how far a run is, there is no room for what the last one was */
.st-key-stage__panel > :nth-child(n + {SLIDE_CONTROLS + 1} of {_SEEN}) {{ display: none; }}
.st-key-stage__tools {{ display: none !important; }}
[class*="__deck"] {{ position: fixed; right: 1rem; bottom: .5rem; z-index: 110; }}
[class*="__deck"] {{ width: 25vw !important; gap: .3rem; justify-content: end; }}
[class*="__deck"] > :nth-child(2) {{ order: -1; flex: 1 0 100% !important; text-align: right; line-height: 1.2; }}
[class*="__ask"] {{ position: fixed; right: 7.7rem; bottom: .5rem; z-index: 110; width: auto !important; }}
.slide-title {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }}
.st-key-slide_sheet {{ position: fixed; inset: 0; z-index: 105; padding: .8rem 1rem 4.5rem 1.5rem; overflow: auto;
  background: {_GROUND}; }}
/* Text with nothing beside it is wider, up to the buttons, so that a long one ends in the window. */
.st-key-slide_text {{ max-width: 69vw; }}
[data-testid=stColumn]:has(.st-key-slide_text) + [data-testid=stColumn]:not(:has(.st-key-slide_beside > *)) {{
  display: none; }}
.st-key-slide_text .katex-display {{ margin: .3em 0; }}
.st-key-slide_text :is(p, li, label p) {{ font-size: 1.1rem; }}
.st-key-slide_text [data-testid=stWidgetLabel] p {{ font-size: 1.25rem; font-weight: 600; }}
/* The counts name the options again: with both, and with the text before the question, they end below the window. */
.st-key-slide_text:has(.votes) [role=radiogroup], .st-key-slide_text:has(.votes) > :not(:has(.votes, h2)) {{
  display: none; }}
.st-key-slide_text:has(.votes) :is(p, label p) {{ font-size: 1rem !important; line-height: 1.35; }}
.st-key-slide_text:has(.votes) [data-testid=stVerticalBlock] {{ gap: .5rem; }}
.st-key-slide_text .votes {{ font-size: 1.1rem; }}
.st-key-slide_text .votes [role=listitem] {{ margin-bottom: .3rem; }}
.st-key-slide_text .votes .track {{ height: .8em; }}
.st-key-slide_beside img.qr {{ width: min(100%, 55vh); }}
.st-key-slide_beside .room {{ font-size: 1.6rem; font-weight: 600; text-align: center; margin: 0; }}
.st-key-slide_beside .typed {{ font-size: .9rem; text-align: center; margin: 0; overflow-wrap: anywhere; }}
.st-key-slide_beside [class*="__chart"] {{ height: 70vh !important; flex: none !important; }}
.st-key-slide_beside :is({_FILLED}) {{
    height: 100% !important; flex: 1 1 0 !important; min-height: 0 !important; }}
@media (max-width: 1100px) {{  /* the letters are as large on the wall, and the chart keeps its height */
  .st-key-stage__picture .answer {{ font-size: 1.05rem; }}
  .st-key-stage__picture :is(.answer-line, .answer-why) {{ font-size: .8rem; }}
  .st-key-slide_text :is(p, li, label p), .st-key-slide_text .votes {{ font-size: .9rem; }}
  .st-key-slide_text [data-testid=stWidgetLabel] p {{ font-size: 1rem; line-height: 1.3; }}
  .st-key-slide_text {{ gap: .7rem; }}
  .st-key-slide_text [data-testid=stVerticalBlock] {{ gap: .4rem; padding-top: .3rem; padding-bottom: .6rem; }}
  .st-key-slide_text h2 {{ padding: 0 0 .3rem 0; }}
  .st-key-slide_text .katex {{ font-size: 1em; }}
  .st-key-slide_text:has(.votes) :is(p, label p) {{ font-size: .8rem !important; line-height: 1.25; }}
  .st-key-slide_text:has(.votes) button {{ min-height: 0; padding: .1rem .6rem; }}
}}
@media (max-width: 640px) {{
  {_COLUMN} {{ position: static; box-shadow: none; }}
  .st-key-stage__picture {{ height: 60vh !important; }}
}}
"""

# On a phone Streamlit opens the menu over the page, leaves it open when a page is chosen, and remembers that.
# The page's name makes the script another one on every page, and so the browser runs it again.
_CLOSE_MENU = """<script>/* PAGE */{
const close = (frames) => {
  if (innerWidth > 768) return;
  const menu = document.querySelector('[data-testid=stSidebar]');
  const button = menu && menu.querySelector('[data-testid=stSidebarCollapseButton] button');
  if (button && menu.dataset.collapsed === 'false') button.click();
  else if (!menu && frames) requestAnimationFrame(() => close(frames - 1));
};
close(120);
}</script>"""


def embedded() -> bool:
    """Whether the page is shown as a slide, opened with ``?embed=true``."""
    return bool(st.context.is_embedded)


def fill() -> None:
    """Let the stage's chart end where the window does; a slide's does so anyway."""
    if not embedded():
        st.html(f"<style>{_DESK}</style>")


def on_phone() -> bool:
    """Whether the browser says that it is a telephone's."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def apply(page: str) -> None:
    """Put the style sheet into the page of that name or question, and close the menu that led there on a phone."""
    st.html(f"<style>{_EVERYWHERE}{_PHONE}{_SLIDE if embedded() else ''}</style>")
    with st.container(key="menu_unseen"):
        st.html(_CLOSE_MENU.replace("PAGE", re.sub(r"\W", " ", page)), unsafe_allow_javascript=True)
