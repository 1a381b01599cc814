"""The directive `api`: public names of a module, a table with one line for each, then everything their docstrings say.

    ```{api} objpert_core.accounting
    Gaussian
    DPSGD
    ```

With `:inherited:` methods of base classes are shown, too, those of scikit-learn's `BaseEstimator` left out. Without
names the module says what it is for, and shows the functions and classes that it defines.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.parsing import nested_parse_to_nodes


def kind(value: Any) -> str:
    """Which of autodoc's directives documents `value`."""
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(value) else "autodata"


def words_of_a_constant(name: str, value: Any) -> str:
    """The text below a constant's line in the module that defines it."""
    for module in sorted(key for key in sys.modules if key.startswith("objpert_core.")):
        if getattr(sys.modules[module], name, None) is value:
            lines = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name))
            if lines:
                return " ".join(lines).strip()
    raise ExtensionError(f"{name} is public and has no text below it that says what it is")


def first_sentence(name: str, value: Any) -> str:
    """What a docstring's first paragraph says, up to its first full stop."""
    text = words_of_a_constant(name, value) if kind(value) == "autodata" else inspect.getdoc(value) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return escaped(sentence + (stop.strip() if stop else ""))


def constant(name: str, value: Any, words: str) -> list[str]:
    """The entry of a constant: its value where that is short, its keys where it is a table."""
    lines = [f".. py:data:: {name}"]
    if isinstance(value, str | int | tuple):
        lines += [f"   :value: {value!r}"]
    if isinstance(value, Mapping):
        words += " Keys: " + ", ".join(f"``{key!r}``" for key in value) + "."
    return [*lines, "", f"   {words}", ""]


def escaped(line: str, change: Callable[[str], str] = str) -> str:
    """|x| and n_iter_ are no markup: escape them outside `code`, then `change` what is left of the line."""
    parts = re.split(r"(`+[^`]*`+_*)", line)
    parts[::2] = [change(re.sub(r"(?<=\w)_(?!\w)", r"\\_", part.replace("|", r"\|"))) for part in parts[::2]]
    return "".join(parts)


def own_public_names(module: Any) -> list[str]:
    """The functions and classes that a module without `__all__` defines under a name without an underscore."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isroutine(value))
        and getattr(value, "__module__", "") == module.__name__
    ]


class PublicNames(SphinxDirective):
    """See the module."""

    required_arguments = 1
    has_content = True
    option_spec = {"inherited": directives.flag}  # noqa: RUF012  as docutils has it

    def run(self) -> list[nodes.Node]:
        """The table and the entries."""
        module = importlib.import_module(self.arguments[0])
        names = [line.strip() for line in self.content]
        lines = self.entries(module, names)
        if not names:
            lines = [f".. automodule:: {module.__name__}", "   :no-members:", ""]
            lines += self.entries(module, own_public_names(module))
        lines = ["```{eval-rst}", *lines, "```"]  # docstrings are reStructuredText, the page is Markdown
        content = StringList(lines, source=self.env.doc2path(self.env.docname))
        return nested_parse_to_nodes(self.state, content)

    def entries(self, module: Any, names: list[str]) -> list[str]:
        """A table with one line for each name, and the entries themselves."""
        table = [".. list-table::", "   :class: names", ""]
        entries: list[str] = []
        for name in names:
            value = getattr(module, name)
            table += [f"   * - :py:obj:`{name} <{module.__name__}.{name}>`", f"     - {first_sentence(name, value)}"]
            if kind(value) == "autodata":
                entries += constant(f"{module.__name__}.{name}", value, words_of_a_constant(name, value))
                continue
            entries += [f".. {kind(value)}:: {module.__name__}.{name}"]
            if "inherited" in self.options and inspect.isclass(value):
                entries += ["   :inherited-members: BaseEstimator"]
            entries += [""]
        return [*table, "", *entries]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("api", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
