"""What ε means as a gauge: from a coin's even odds to the most that one release may make of them."""

import html
import math

from ui import figures, sentences

_TICKS = (1, 2, 5)  # odds to one
_LEAST = 1.5  # % of the width: a bar is seen

STYLE = """
.odds { margin: .2rem 0 .6rem 0; font-size: .95rem; line-height: 1.4; }
.odds-bar { position: relative; height: 1.1rem; border: 1px solid currentColor; border-radius: .55rem;
  overflow: hidden; }
.odds-bar div { position: absolute; top: 0; bottom: 0; left: 0; }
.odds-ticks { position: relative; height: 1.3rem; }
.odds-ticks span { position: absolute; transform: translateX(-50%); white-space: nowrap; font-size: .85rem; }
.odds-ticks span:first-child { transform: none; }
.odds-ticks span:last-child { transform: translateX(-100%); }
.odds-key { display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
.odds-key i { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; border: 1px solid currentColor; }
"""


def place(chance: float) -> float:
    """Where a chance from 1/2 to 1 stands on the gauge, in per cent of its width."""
    return 100 * (2 * chance - 1)


def alt(guess: float, eps: float, at_delta: float) -> str:
    """The gauge in words."""
    return f"Gauge from a coin’s 50 % to certainty. {average(guess)}. {worst(eps, at_delta)}."


def average(guess: float) -> str:
    """How often the best guess about the page's own person is right."""
    return f"This person, on average: {sentences.percent(guess, up=True)}"


def worst(eps: float, at_delta: float) -> str:
    """How sure the promise allows anybody to become about anybody."""
    slack = f"up to δ = {sentences.delta(at_delta)}"
    return f"At worst, for any person and result: {sentences.chance(eps)}, odds {sentences.odds(eps)} ({slack})"


def gauge(guess: float, eps: float, at_delta: float) -> str:
    """The gauge as HTML, with `alt` for those who do not see it."""
    ticks = "".join(
        f'<span style="left: {place(odds / (odds + 1)):.1f}%">{odds} : 1{" (a coin)" if odds == 1 else ""}</span>'
        for odds in _TICKS
    )
    limit, full = figures.look("logistic").color, figures.look("with").color
    striped = (
        f"background: repeating-linear-gradient(135deg, {limit} 0 4px, {figures.translucent(limit, 0.25)} 4px 9px)"
    )
    here, told = (html.escape(sentences.unbroken(text)) for text in (average(guess), worst(eps, at_delta)))
    lengths = [max(place(chance), _LEAST) for chance in (1 / (1 + math.exp(-eps)), guess)]
    return (
        f'<div class="odds"><div class="odds-bar" role="img" aria-label="{html.escape(alt(guess, eps, at_delta))}">'
        f'<div style="width: {lengths[0]:.1f}%; {striped}"></div>'
        f'<div style="width: {lengths[1]:.1f}%; background: {full}"></div></div>'
        f'<div class="odds-ticks" aria-hidden="true">{ticks}<span style="left: 100%">certain</span></div>'
        f'<div class="odds-key"><span><i style="background: {full}"></i>{here}</span>'
        f'<span><i style="{striped}"></i>{told}</span></div></div>'
    )
