"""How the documentation site is built: `python -m sphinx -W --keep-going -n docs docs/_build/html` from the checkout.

The pages are plain Markdown, which a forge shows as it is. No page of the site loads anything from another host:
formulas are Unicode, so there is no MathJax; search, fonts and scripts are files of the site.
"""

import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE / "_extensions")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])  # for notebooks

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
project = PROJECT["name"]
author = copyright = "The objpert developers"
version = release = PROJECT["version"]
language = "en"

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb", "sphinx_copybutton", "public_names", "house"]
exclude_patterns = ["_build", "*.in.md", "**/*.in.md", "**/.ipynb_checkpoints", "requirements.txt"]
html_theme = "furo"
html_title = "objpert"
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {  # the app's own colours: contrast of 4.5 : 1 or more on both backgrounds
    "light_css_variables": {"color-brand-primary": "#8a4b00", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#ffb454", "color-brand-content": "#7cc0ff"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# Markdown: anchors of headings are those of a forge, so a link into a page works in both places
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []  # nothing that a forge would not show, dollar signs for formulas included
myst_url_schemes = ["http", "https", "mailto"]

# Notebooks run while the site is built: one that fails, or writes to standard error, stops it
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # by default they come from another host
copybutton_exclude = ".linenos, .gp, .go"

# Docstrings: numpydoc has the types in words, so signatures show names and defaults only
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

# `name` in a docstring links to what is public, and is code elsewhere (docs/_extensions/house.py): the only references
# that may lead nowhere. All others are checked, `-n -W`.
default_role = "py:obj"
nitpick_ignore_regex = [("py:class", r"(numpy|collections|types)\..*|objpert_core\.learning\.solvers\.progress\..*")]
