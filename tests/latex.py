"""What tests of LaTeX share: a reader that knows which texts are harmless, and the real pdfLaTeX where there is one."""

import re
import shutil
import subprocess

import pytest

ARTICLE = r"""\documentclass{article}
\usepackage{booktabs,array,longtable}
\begin{document}
%s
\end{document}
"""
_SYMBOLS = """
    textbackslash textasciicircum textasciitilde textasciigrave textquotedblright textquotedblleft textquoteleft
    textquoteright textbullet ldots S copyright pounds ss o O ae AE oe OE l L i j texttt rule sqrt frac mathrm
    grave acute hat tilde bar breve dot ddot mathring check u r H v c prime circ top
    alpha beta gamma delta varepsilon epsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma varsigma
    tau upsilon varphi phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    cdot times div pm mp le ge neq approx sim propto equiv ll gg infty surd nabla partial int sum prod ell perp in notin
    cup cap emptyset subset subseteq ast setminus rightarrow leftarrow leftrightarrow mapsto Rightarrow wedge vee
    forall exists
    langle rangle lfloor rfloor lceil rceil parallel succeq preceq triangleright hookrightarrow
"""
SYMBOLS = set(_SYMBOLS.split())
_TOKEN = re.compile(r"\\([A-Za-z]+|.)|(.)", re.DOTALL)
_SIGNS = set("{}&%$#_,`'^~=.\"|")  # what may follow a backslash: escaped signs, accents, a thin space, ‖


def harmless(text: str) -> None:
    """Fail unless TeX reads the text as letters and symbols: known names, balanced braces, scripts in math alone."""
    depth, math = 0, False
    assert "\n" not in text
    assert text.isascii(), text
    for name, letter in _TOKEN.findall(text):
        if name:
            assert name in SYMBOLS or name in _SIGNS, name
        elif letter == "$":
            math = not math
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            assert depth >= 0
        else:
            assert letter not in ("%#&\\" if math else "%#&\\^_"), text
    assert (depth, math) == (0, False), text
    assert not re.search(r"[_^]\{[^{}]*\}[_^]", text), text  # two scripts on one symbol are an error


def compiled(body: str, folder, document: str = ARTICLE) -> str:
    """What pdfLaTeX's log says of a body that compiles without an error; its PDF is ``folder/main.pdf``."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed")
    (folder / "main.tex").write_text(document % body, encoding="utf-8")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "main.log").read_text(encoding="utf-8", errors="replace")
    if "booktabs.sty' not found" in log:
        pytest.skip("this LaTeX lacks booktabs")
    assert done.returncode == 0, log[-1500:]
    return log
