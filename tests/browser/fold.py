"""What somebody meets before the first scroll: words, buttons, controls; where answer, chart and question are."""

from __future__ import annotations

from dataclasses import dataclass

MOST_WORDS, MOST_BUTTONS, MOST_CONTROLS = 120, 12, 6
DESK, LAPTOP = {"width": 1440, "height": 900}, {"width": 1280, "height": 720}

# A word has a letter or a digit. Ticks and legends of a chart, cells of a form, help buttons and the parts of one box
# do not count, nor does what a lesson asks.
SEEN = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const looks = {visibilityProperty: true, opacityProperty: true};
    const within = ({width, height, top, bottom, left, right}) =>
        width > 1 && height > 1 && top < innerHeight && bottom > 0 && left < innerWidth && right > 0;
    const closed = e => e.closest('details:not([open])') && !e.closest('summary');
    const question = '[class*=st-key-lesson_][class*=__question]';
    const icons = "[data-testid=stIconMaterial], [data-testid=stExpanderIcon]";
    const silent = `svg, style, script, .own-lines, .katex-mathml, ${icons}, ${question}`;
    const range = document.createRange(), walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    let words = 0;
    for (let node; (node = walker.nextNode());) {
        const e = node.parentElement;
        if (!e.checkVisibility(looks) || e.closest(silent) || closed(e)) continue;
        for (const word of node.textContent.matchAll(/\\S*[\\p{L}\\p{N}]\\S*/gu)) {
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            words += within(range.getBoundingClientRect());
        }
    }
    const shown = part => [...main.querySelectorAll(part)].filter(
        e => e.checkVisibility(looks) && within(e.getBoundingClientRect()));
    const boxes = '[data-testid=stMultiSelect], [data-testid=stSelectbox], [data-testid=stNumberInput]';
    const own = shown('button').filter(e => !e.closest(boxes) && !/^Help/.test(e.getAttribute('aria-label') ?? ''));
    const panel = [...main.querySelectorAll('.st-key-stage__panel > :not(:has(.st-key-stage__tools))')].filter(
        e => e.checkVisibility(looks) && e.querySelector(':is(input, button:not([aria-label^=Help]))'));
    const box = e => e ? [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom] : null;
    return {
        words, buttons: own.length, controls: panel.length, answer: box(main.querySelector('.answer')),
        chart: box(main.querySelector('.st-key-stage__picture .js-plotly-plot')), control: box(panel[0]),
        question: box(main.querySelector(question)),
    };
}"""


@dataclass(frozen=True)
class Fold:
    """One page at one size: counts, and top and bottom of the parts that are there, in pixels."""

    words: int
    buttons: int
    controls: int
    answer: tuple[float, float] | None
    chart: tuple[float, float] | None
    control: tuple[float, float] | None
    question: tuple[float, float] | None

    @classmethod
    def of(cls, page) -> Fold:
        """As it is seen now."""
        return cls(**page.evaluate(SEEN))

    def outside(self, height: int) -> list[str]:
        """What of answer, chart, the control that moves it and a lesson's question does not end in such a window."""
        parts = {"answer": self.answer, "chart": self.chart, "control": self.control, "question": self.question}
        return [name for name, box in parts.items() if box and (box[0] < 0 or box[1] > height + 1)]
