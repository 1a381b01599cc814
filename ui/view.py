"""One picture of a page, whole: its setting, what it answers, its chart, its table, its files, its Python.

    class Profile(View, name="quadratic_profile", title="δ against ε, three proofs", snippet="profile"):
        epsilon: float = set_by(EPSILON, "ε")     # a field of the setting, its control, what sentences call it
        delta: float = set_by(DELTA, aside=True)  # in "View", not in sight

        def answer(self) -> str: ...              # and promise, chart, shows, numbers

    PICTURES = Pictures("quadratic", {"profile": Profile, "kappa": Kappa}, VIEW, GHOST)

The reason why the answer moved, the alternative text, the table's files and the Python block follow from these methods.
A page's `Pictures` show one of its views beside that view's controls.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self, dataclass_transform

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import figures, page, sentences, snippets, style
from ui.controls import Choice, Control, Number, Preset, Toggle, preset_buttons, presets, previous

Course = tuple[str, float, Callable[[float], str]]
"""A number that a change of the setting moves: its name, its value, how a sentence writes it."""


def set_by(
    control: Control, named: str = "", *, aside: bool = False, switch: bool = False, compare: bool = True
) -> Any:
    """A field of a view that a control sets; one `aside` stands in "View", and so does a `switch`, after the others.

    A change of one that is `named` is worth a sentence.
    """
    return field(default=control.default, compare=compare, metadata={control: (named, aside, switch)})


@dataclass_transform(frozen_default=True)
class View(ABC):
    """One picture of a page; a subclass whose fields are `set_by` controls is a frozen dataclass, the setting.

    A field with ``compare=False`` says how the setting is read, the end of an axis for instance: to move it makes no
    new setting, and the setting before is read the same way.
    """

    name: ClassVar[str]  # the keys of chart and files begin with it
    title: ClassVar[str]  # in the list of pictures
    files: ClassVar[str] = ""  # what the files are called; the view's name unless it says otherwise
    controls: ClassVar[Mapping[str, Control]] = {}  # of the fields, as `set_by` says
    switches: ClassVar[Mapping[str, Control]] = {}  # fields that a switch in "View" sets
    aside: ClassVar[tuple[Control, ...]] = ()  # those of `controls` that stand in "View", not in sight
    redrawn: ClassVar[Number | None] = None  # the seed that "Draw again", under the controls in sight, moves
    snippet: ClassVar[str] = ""  # a cell of the page's `snippets.py`
    snippet_note: ClassVar[str] = ""  # what the lines of Python print, unless it is the numbers on the screen
    chart_key: ClassVar[str] = ""  # "<name>_chart" unless a view says otherwise
    answers_in_alt: ClassVar[bool] = True  # whether the alternative text begins with the answer
    ghosts: ClassVar[bool] = True  # whether the chart can show the setting before
    named: ClassVar[Mapping[str, str]] = {}  # field or property → its name, where a change of it is worth a sentence
    reasons: ClassVar[Mapping[str, str]] = {}  # such a name → how the sentence ends where nothing else was changed

    def __init_subclass__(cls, **called: str) -> None:
        """Take name, title and snippet from the head of the class, and from its fields which controls set them."""
        super().__init_subclass__()
        for name in called:
            setattr(cls, name, called[name])
        known, inherited = {**cls.controls, **cls.switches}, getattr(cls, "__dataclass_fields__", {})
        setting = {name: one for name, one in inherited.items() if one.metadata and name not in known}
        own = {name: one for name, one in {**setting, **vars(cls)}.items() if isinstance(one, Field) and one.metadata}
        for name, one in own.items():
            for control, (named, aside, switch) in one.metadata.items():
                if named:
                    cls.named = {**cls.named, name: named}
                if switch:
                    cls.switches = {**cls.switches, name: control}
                else:
                    cls.controls = {**cls.controls, name: control}
                    cls.aside = (*cls.aside, *([control] if aside else []))
        if own:
            dataclass(frozen=True)(cls)

    @classmethod
    def now(cls) -> Self:
        """The view at what its controls are at."""
        return cls(**{name: control.value() for name, control in (*cls.controls.items(), *cls.switches.items())})

    @classmethod
    def idle(cls, control: Control) -> bool:
        """Whether a control has no effect at what the others are at: it cannot be moved then."""
        return False

    @classmethod
    def in_view(cls, ghost: Toggle | None) -> tuple[Control, ...]:
        """The switches in "View", with that of the setting before where the chart can show it."""
        return (*cls.switches.values(), *((ghost,) if cls.ghosts and ghost is not None else ()))

    @abstractmethod
    def answer(self) -> str:
        """The answer, at most 18 words."""

    @abstractmethod
    def promise(self) -> str:
        """One line with ε, δ, adjacency and accountant."""

    @abstractmethod
    def chart(self, before: Self | None) -> figures.Figure:
        """The chart, with a ghost of the setting before."""

    @abstractmethod
    def shows(self) -> str:
        """What the chart shows, in words: the alternative text after the answer."""

    def before(self) -> Self | None:
        """The view before, where its setting was another: its ghost is drawn."""
        before = previous(self.name, self) if self.ghosts or self.named else None
        how = {field.name: getattr(self, field.name) for field in fields(self) if not field.compare}  # type: ignore[arg-type]
        return before and replace(before, **how)  # type: ignore[type-var]

    def note(self) -> str:
        """The caption under the chart."""
        return ""

    def remarks(self) -> Sequence[str]:
        """What must be said before the caption."""
        return ()

    def table(self) -> Sequence[Mapping[str, str]]:
        """The table."""
        return ()

    def svg_title(self) -> str:
        """What the picture's file is called inside; the alternative text where a view says nothing."""
        return ""

    @abstractmethod
    def numbers(self) -> page.Numbers:
        """The plotted numbers without rounding, by column or by row."""

    def frame(self) -> pd.DataFrame:
        """The plotted numbers as a table."""
        return pd.DataFrame(self.numbers())

    def courses(self) -> Sequence[Course]:
        """The numbers whose course explains a change of the setting."""
        return ()

    def blanks(self) -> Mapping[str, Any]:
        """The values of the snippet's placeholders; the fields, unless a view says more."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    # --- what follows from these ---

    def moved(self, before: Self | None) -> str:
        """What was changed since `before`, and where the numbers went; empty where nothing worth a sentence changed."""
        if before is None or not (changes := self.changes(before)):
            return ""
        changed = sentences.changed(before, self, self.named)
        reason = self.reasons.get(changed[0][0], "") if len(changed) == 1 else ""
        return f"{changes}: {self.went(before)}{reason}."

    def changes(self, before: Self) -> str:
        """What was changed since `before`, as far as it is worth a sentence."""
        return sentences.shift(sentences.changed(before, self, self.named))

    def went(self, before: Self) -> str:
        """Where the numbers went since `before`."""
        courses = zip(before.courses(), self.courses(), strict=True)
        return ", ".join(sentences.course(name, old, new, write) for (name, old, write), (_, new, _) in courses)

    def alt(self) -> str:
        """The alternative text."""
        return f"{self.answer()} {self.shows()}" if self.answers_in_alt else self.shows()

    def code(self) -> str:
        """The lines of Python that print the numbers; empty where there are none."""
        return snippets.filled(self.name.partition("_")[0], self.snippet, self.blanks()) if self.snippet else ""

    @classmethod
    def beside_axes(cls) -> None:
        """Draw what stands in "View" under the controls, the button "Fit the axes" for instance."""
        return

    def evidence(self, picture: page.Picture) -> None:
        """Draw what stands under the caption: the table, the files, the lines of Python."""
        page.evidence(picture, self.table(), name=self.files or self.name, code=self.code(), note=self.snippet_note)

    def below(self, before: Self | None) -> None:
        """Draw what stands below the picture's evidence: further charts, for instance."""
        return

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        """Draw the picture into `left`, and what stands below it; a slide has the picture only."""
        before = self.before()
        picture = page.Picture(self.chart(before if ghost else None), self.alt(), self.numbers, self.svg_title())
        with left:
            page.answer(self.answer(), promise=self.promise(), why=self.moved(before))
            page.show(picture, key=self.chart_key or f"{self.name}_chart")
        if style.embedded():
            return
        for remark in self.remarks():
            st.info(remark, icon=":material/info:")
        if note := self.note():
            st.caption(note)
        self.evidence(picture)
        self.below(before if ghost else None)


@dataclass(frozen=True)
class Pictures:
    """The pictures of a page: one is drawn beside its controls; the others' controls stay in the address."""

    page: str  # the page's name
    views: Mapping[str, type[View]]  # each picture by its name in the address
    choice: Choice | None = None  # the control that chooses the picture; None where there is one picture
    ghost: Toggle | None = None  # whether a picture shows the setting before
    # all controls of the page as its links name them, where that is another order than the views' own
    linked: Sequence[Control] = ()

    @property
    def moved(self) -> tuple[Control, ...]:
        """Every picture's controls, each once."""
        return tuple(dict.fromkeys(control for view in self.views.values() for control in view.controls.values()))

    @property
    def switches(self) -> tuple[Control, ...]:
        """Every picture's switches, each once, and last that of the setting before."""
        own = dict.fromkeys(control for view in self.views.values() for control in view.switches.values())
        return (*own, *((self.ghost,) if self.ghost is not None else ()))

    @property
    def controls(self) -> tuple[Control, ...]:
        """All controls of the page, for its links and presets."""
        return tuple(self.linked) or (*((self.choice,) if self.choice else ()), *self.moved, *self.switches)

    @property
    def presets(self) -> tuple[Preset, ...]:
        """Those of the page's ``presets.toml``: a setting of one picture each, all other controls as at first."""
        return presets(self.page, (control for control in self.controls if control is not self.ghost))

    def explore(self, presets: Sequence[Preset]) -> None:
        """Draw the presets, the chosen picture and its controls."""
        preset_buttons(presets, prefix=self.page)
        left, right = page.columns()
        with right, page.errors():
            view = self.panel(presets)
        with page.errors():
            view.now().show(left, ghost=self.ghost is not None and self.ghost.value())

    def chosen(self) -> tuple[type[View], tuple[Control, ...]]:
        """Draw what chooses the picture; return the picture and the further controls that were drawn."""
        return self.views[page.choose(self.choice) if self.choice else next(iter(self.views))], ()

    def panel(self, presets: Sequence[Preset]) -> type[View]:
        """Draw the controls of one picture; return the picture."""
        view, drawn = self.chosen()
        own, switches = tuple(view.controls.values()), view.in_view(self.ghost)
        for control in own:
            if control not in (*view.aside, *drawn):
                control.show(disabled=view.idle(control))
        if view.redrawn is not None:
            view.redrawn.again()
        hidden = [*(control for control in own if control in view.aside), *switches]
        with page.tools(self.controls, presets, name=self.page):
            for control in hidden:
                control.show(disabled=view.idle(control))
            with suppress(ValueError):  # which the picture says
                view.beside_axes()
            if not hidden:
                st.caption("This picture already shows all its controls.")
        if unseen := [control for control in (*self.moved, *self.switches) if control not in (*own, *switches, *drawn)]:
            page.keep(*unseen)
        return view
