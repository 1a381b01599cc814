r"""Unicode text as LaTeX that plain pdfLaTeX compiles: ``ε ≤ 10⁻⁵`` as ``$\varepsilon\le$ 10$^{-5}$``.

Column names may come from anybody's file, so no text reaches TeX as a command: every character is a letter, a digit,
harmless punctuation or an entry of the tables below. A character that LaTeX's standard fonts lack becomes its code
point, as ``\texttt{U+4E2D}``.
"""

from __future__ import annotations

import re
import unicodedata


def _named(words: str) -> dict[str, str]:
    """Letters and their commands, which alternate."""
    letters, names = words.split()[::2], words.split()[1::2]
    return {letter: f"\\{name}" for letter, name in zip(letters, names, strict=True)}


_NOTHING = "\N{WORD JOINER}"  # between two hyphens that would become a dash
_TEXT = {
    **{letter: f"\\{letter}" for letter in "{}&%$#_"},
    **{letter: f"{{{letter}}}" for letter in "[]*"},  # after a line break these would be its arguments
    _NOTHING: "{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{THIN SPACE}": r"\,",
    "–": "--",
    "—": "---",
    "\N{NON-BREAKING HYPHEN}": "-",
    "․": ".",
    "€": "EUR",
    "■": r"\rule{1ex}{1ex}",
    **{
        letter: f"{name}{{}}"  # a straight quotation mark is active with some of babel's languages
        for letter, name in _named(
            """\\ textbackslash ^ textasciicircum ~ textasciitilde ` textasciigrave " textquotedblright … ldots
            ‘ textquoteleft ’ textquoteright “ textquotedblleft ” textquotedblright • textbullet
            § S © copyright £ pounds ß ss ø o Ø O æ ae Æ AE œ oe Œ OE ł l Ł L ı i ȷ j"""
        ).items()
    },
}
_MATH = {
    **{letter: letter for letter in "<>|"},  # the text font has other letters in their places
    "−": "-",
    "∶": ":",
    "¦": "|",
    **_named(
        """α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa
        λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega
        Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
        · cdot × times ÷ div ± pm ∓ mp ≤ le ≥ ge ≠ neq ≈ approx ∼ sim ∝ propto ≡ equiv ≪ ll ≫ gg ∞ infty √ surd
        ∇ nabla ∂ partial ∫ int ∑ sum ∏ prod ℓ ell ⊥ perp ∘ circ ∈ in ∉ notin ∪ cup ∩ cap ∅ emptyset ⊂ subset
        ⊆ subseteq ∗ ast ∖ setminus → rightarrow ← leftarrow ↔ leftrightarrow ↦ mapsto ⇒ Rightarrow ∧ wedge ∨ vee
        ∀ forall ∃ exists ⟨ langle ⟩ rangle ‹ langle › rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ‖ | ∥ parallel
        ⪰ succeq ⪯ preceq ▶ triangleright ↳ hookrightarrow ↓ downarrow"""
    ),
    **{letter: f"\\mathrm{{{latin}}}" for letter, latin in zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True)},
    **{
        letter: f"\\frac{{{above}}}{{{below}}}"
        for letter, above, below in zip("½⅓⅔¼¾⅛", "112131", "233448", strict=True)
    },
}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵗᵃˣ", "0123456789+-=()nitax", strict=True)) | {
    "ᵀ": r"\top ",
    "′": r"\prime ",
    "″": r"\prime\prime ",
    "°": r"\circ ",
}
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₛₜₓ", "0123456789+-=()aeijkmnstx", strict=True))
_ACCENTS = {  # combining marks, over a letter of the text and over one in math
    "\u0300": ("`", "grave"),
    "\u0301": ("'", "acute"),
    "\u0302": ("^", "hat"),
    "\u0303": ("~", "tilde"),
    "\u0304": ("=", "bar"),
    "\u0306": ("u", "breve"),
    "\u0307": (".", "dot"),
    "\u0308": ('"', "ddot"),
    "\u030a": ("r", "mathring"),
    "\u030b": ("H", ""),
    "\u030c": ("v", "check"),
    "\u0327": ("c", ""),
}
_RAISING = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALL = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e-0*([1-9]\d*)(?!\w|\.\d)")  # as Python writes 10⁻⁵
_GREEK = "".join(letter for letter in _MATH if letter.isalpha())
_PART = re.compile(
    rf"(?P<raised>[{''.join(_RAISED)}]+)|(?P<lowered>[{''.join(_LOWERED)}]+)|√(?P<root>[0-9A-Za-z.]+|[{_GREEK}])"
    rf"|(?P<letter>.)(?P<marks>[{''.join(_ACCENTS)}]*)",
    re.DOTALL,
)


def escaped(text: str) -> str:
    r"""The text on one line for LaTeX's text mode, with balanced braces and dollar signs, for the standard fonts and no
    package.

    Ends of lines and control characters become blanks, marks without width are left out.

    >>> print(escaped("√n, σ² ≤ 1e-05 & 50 %"))
    $\sqrt{n}$, $\sigma^{2}$ $\le$ 10$^{-5}$ \& 50 \%
    """
    text = re.sub(r"([-',])(?=\1)", f"\\1{_NOTHING}", unicodedata.normalize("NFC", with_powers(text)))
    line = _PART.sub(_part, text)
    line = re.sub(r"(?<!\\)\$\$", "", line)  # neighbours in math share their dollar signs
    line = re.sub(r"([_^]\{[^{}]*\})(?=[_^])", r"\1{}", line)  # two scripts on one symbol are an error
    return re.sub(r" {2,}", " ", line)


def with_powers(text: str) -> str:
    """The text with small numbers as papers write them."""
    return _SMALL.sub(_power, text)


def _power(small: re.Match[str]) -> str:
    factor = "" if small[1] == "1" else f"{small[1]}×"
    return f"{factor}10⁻{small[2].translate(_RAISING)}"


def _part(found: re.Match[str]) -> str:
    """A run of raised or lowered letters, a root, or a letter with the marks over it."""
    if found["raised"]:
        return f"$^{{{''.join(_RAISED[letter] for letter in found['raised']).strip()}}}$"
    if found["lowered"]:
        return f"$_{{{''.join(_LOWERED[letter] for letter in found['lowered'])}}}$"
    if found["root"]:
        return rf"$\sqrt{{{_letter(found['root']).strip('$')}}}$"
    made = _letter(found["letter"])
    for mark in found["marks"]:
        over, in_math = _ACCENTS[mark]
        if made.startswith("$"):
            made = rf"$\{in_math}{{{made[1:-1]}}}$" if in_math else made
        else:
            base = f"\\{made}" if made in ("i", "j") else made
            made = rf"\{over}{{{base}}}"
    return made


def _letter(letter: str) -> str:
    """A letter, or several that TeX takes as they are."""
    if letter in _MATH:
        return f"${_MATH[letter]}$"
    if letter in _TEXT or (letter.isascii() and letter.isprintable()):
        return _TEXT.get(letter, letter)
    kind = unicodedata.category(letter)
    if kind in ("Cc", "Zl", "Zp", "Zs"):
        return " "
    if kind == "Cf":
        return ""
    for form in ("NFD", "NFKC"):  # a letter with its accents; a full-width or otherwise dressed-up form of another
        other = unicodedata.normalize(form, letter)
        known = all(part.isascii() or part in _MATH or part in _TEXT or part in _ACCENTS for part in other)
        if other != letter and known and other[0] not in _ACCENTS:
            return _PART.sub(_part, other)
    return rf"\texttt{{U+{ord(letter):04X}}}"
