"""How the paper and this app are cited, as BibTeX: the button "Cite".

`CITATION.cff` says the same, and a test compares them.
"""

from __future__ import annotations

import streamlit as st

import objpert_core

PAPER = """@inproceedings{redberg2023improving,
  title     = {Improving the Privacy and Practicality of Objective Perturbation
               for Differentially Private Linear Learners},
  author    = {Redberg, Rachel and Koskela, Antti and Wang, Yu-Xiang},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2023}
}"""


def app() -> str:
    """The app, in the version that runs."""
    return (
        "@software{objpert,\n"
        "  title   = {objpert: private linear learners, explained and computed},\n"
        "  author  = {{The objpert developers}},\n"
        f"  version = {{{objpert_core.__version__}}}\n"
        "}"
    )


def button(key: str) -> None:
    """The button "Cite": the paper's BibTeX and the app's, to copy."""
    with st.popover("Cite", icon=":material/format_quote:", key=key):
        entries()


def entries() -> None:
    """The paper's BibTeX and the app's."""
    st.caption("The paper:")
    st.code(PAPER, language="latex", wrap_lines=True)
    st.caption("This app:")
    st.code(app(), language="latex", wrap_lines=True)
