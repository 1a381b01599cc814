"""Text for LaTeX: nothing in it is a command, nothing is lost, and every letter that the pages use has its form."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from objpert_core.latex_text import escaped
from tests.latex import harmless
from ui.registry import ROOMS

ASCII = [chr(code) for code in range(32, 127)]
ENTRIES = {escaped(letter): letter for letter in ASCII if letter not in "<>|"}


def read_again(text: str) -> str:
    """The ASCII text that was escaped."""
    entries = "|".join(re.escape(entry) for entry in sorted(ENTRIES, key=len, reverse=True))
    one = re.compile(rf"{entries}|\$[<>|]+\$|{{}}")
    assert "".join(one.findall(text)) == text
    return one.sub(lambda match: ENTRIES.get(match.group(), match.group().strip("${}")), text)


@given(st.text())
@example("\\input{/etc/passwd} $x$ %")
@example("²₁²_1^2")
@example("‖θ̂‖₂ ≤ √n·10⁻⁵")
@example("\u0302 alone, i\u0302, ε\u030b")
@example("\ud800 \u202e ﬁ ① ế 中 🎲 ＄")
def test_nothing_in_it_is_a_command_of_the_writer_of_the_text(text):
    harmless(escaped(text))


@pytest.mark.thorough
@given(st.text(st.sampled_from(ASCII)))
def test_no_letter_is_lost_or_changed(text):
    assert read_again(escaped(text)) == re.sub(" +", " ", text)


def test_numbers_and_symbols_are_set_as_mathematics():
    assert escaped("4.2×10⁻⁵") == r"4.2$\times$10$^{-5}$"
    assert escaped("σ² ≥ √λ − 1") == r"$\sigma^{2}$ $\ge$ $\sqrt{\lambda}$ $-$ 1"
    assert escaped("θ̂ᵀx, ỹ") == r"$\hat{\theta}^{\top}$x, \~{y}"
    assert escaped("αβ") == r"$\alpha\beta$"
    assert escaped("½μ") == r"$\frac{1}{2}\mu$"
    assert escaped("δ = 1e-05.") == r"$\delta$ = 10$^{-5}$."
    assert escaped("-2.5e-12 x1e-05 1e-05b 2e5") == r"-2.5$\times$10$^{-12}$ x1e-05 1e-05b 2e5"
    assert escaped("a--b") == "a-{}-b"
    assert escaped("a\nb\u200bc\x00d") == "a bc d"


@pytest.mark.thorough
def test_every_letter_of_the_pages_has_a_form():
    files = [
        path for folder in (ROOMS, ROOMS.parent / "ui", ROOMS.parent / "objpert_core") for path in folder.rglob("*.py")
    ]
    used = {letter for path in files for letter in unicodedata.normalize("NFC", path.read_text(encoding="utf-8"))}
    lost = {letter for letter in used if "texttt" in escaped(letter)}
    alone = {letter for letter in lost if unicodedata.combining(letter)}  # they stand over another letter
    assert all("texttt" not in escaped(f"θ{mark}") for mark in alone)
    assert lost - alone == set()
