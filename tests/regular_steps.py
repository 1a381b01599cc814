"""How many steps a regular expression takes: a backtracking matcher that counts, in place of a clock.

Python's own matcher does not say how often it looks at a letter. This one walks the same syntax tree in the same order,
without the shortcuts, so that it counts what the other takes at most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_SINGLE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
_CATEGORY: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
}
_NOT = {
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
}


class Matcher:
    """One expression on one text; `steps` grows with every look at a place."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self.tree = parser.parse(pattern.pattern, pattern.flags)
        self.ignore_case = bool(pattern.flags & re.IGNORECASE)
        self.everything = bool(pattern.flags & re.DOTALL)
        self.text, self.steps = text, 0
        self.groups: dict[int, tuple[int, int]] = {}

    def ends(self, at: int) -> Iterator[int]:
        """Where matches that begin at a place end, in the order in which they are tried."""
        return self._sequence(self.tree, 0, at)

    def _sequence(self, tree: Any, place: int, at: int) -> Iterator[int]:
        self.steps += 1
        if place == len(tree):
            yield at
            return
        for end in self._one(*tree[place], at):
            yield from self._sequence(tree, place + 1, end)

    def _one(self, kind: Any, given: Any, at: int) -> Iterator[int]:
        self.steps += 1
        if kind in _SINGLE:
            if at < len(self.text) and self._fits(kind, given, self.text[at]):
                yield at + 1
        elif kind is op.AT:
            if at == 0 if given in (op.AT_BEGINNING, op.AT_BEGINNING_STRING) else at == len(self.text):
                yield at
        elif kind is op.SUBPATTERN:
            for end in self._sequence(given[3], 0, at):
                self.groups[given[0]] = at, end
                yield end
        elif kind is op.BRANCH:
            for tree in given[1]:
                yield from self._sequence(tree, 0, at)
        elif kind is op.MAX_REPEAT:
            yield from self._greedy(*given, at)
        elif kind is op.MIN_REPEAT:
            yield from self._lazy(*given, at)
        elif kind is op.POSSESSIVE_REPEAT:
            yield from self._possessive(*given, at)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            begin = at if given[0] > 0 else at - given[1].getwidth()[1]
            found = begin >= 0 and next(self._sequence(given[1], 0, begin), None) is not None
            if found is (kind is op.ASSERT):
                yield at
        elif kind is op.GROUPREF:
            begin, end = self.groups[given]
            if self.text.startswith(self.text[begin:end], at):
                yield at + end - begin
        else:
            raise NotImplementedError(kind)

    def _fits(self, kind: Any, given: Any, letter: str) -> bool:
        if kind is op.ANY:
            return self.everything or letter != "\n"
        letters = {letter, letter.lower(), letter.upper()} if self.ignore_case else {letter}
        if kind is op.LITERAL:
            return chr(given) in letters
        if kind is op.NOT_LITERAL:
            return chr(given) not in letters
        negated = given[0][0] is op.NEGATE
        return negated is not any(self._listed(*one, letters) for one in given[negated:])

    def _listed(self, kind: Any, given: Any, letters: set[str]) -> bool:
        if kind is op.LITERAL:
            return chr(given) in letters
        if kind is op.RANGE:
            return any(given[0] <= ord(letter) <= given[1] for letter in letters)
        if given in _NOT:
            return not any(map(_CATEGORY[_NOT[given]], letters))
        return any(map(_CATEGORY[given], letters))

    def _greedy(self, least: int, most: Any, tree: Any, at: int, done: int = 0) -> Iterator[int]:
        if len(tree) == 1 and tree[0][0] in _SINGLE:  # without a stack that is as deep as the text is long
            ends = [at]
            while done + len(ends) <= most and (end := next(self._one(*tree[0], ends[-1]), None)) is not None:
                ends.append(end)
            for end in reversed(ends[max(0, least - done) :]):
                self.steps += 1
                yield end
            return
        if done < most:
            for end in self._sequence(tree, 0, at):
                if end > at:
                    yield from self._greedy(least, most, tree, end, done + 1)
        if done >= least:
            yield at

    def _lazy(self, least: int, most: Any, tree: Any, at: int) -> Iterator[int]:
        done = 0
        while True:
            if done >= least:
                yield at
            end = next(self._sequence(tree, 0, at), None)
            if end is None or done >= most:
                return
            at, done = end, done + 1

    def _possessive(self, least: int, most: Any, tree: Any, at: int) -> Iterator[int]:
        done = 0
        while done < most and (end := next(self._sequence(tree, 0, at), at)) > at:
            at, done = end, done + 1
        if done >= least:
            yield at


class Counted:
    """A compiled expression that counts, in the place of one: what it finds is what the other finds."""

    def __init__(self, pattern: re.Pattern[str], count: Callable[[int], None]) -> None:
        self._pattern, self._count = pattern, count

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """As of a compiled expression."""
        self._try(text, at)
        return self._pattern.match(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As of a compiled expression."""
        matcher = Matcher(self._pattern, text)
        found = any(end == len(text) for end in matcher.ends(0))
        self._count(matcher.steps)
        right = self._pattern.fullmatch(text)
        assert found is (right is not None)
        return right

    def search(self, text: str) -> re.Match[str] | None:
        """As of a compiled expression."""
        self._search(text, all_of_them=False)
        return self._pattern.search(text)

    def sub(self, new: Any, text: str) -> str:
        """As of a compiled expression."""
        self._search(text, all_of_them=True)
        return self._pattern.sub(new, text)

    def _try(self, text: str, at: int) -> int | None:
        matcher = Matcher(self._pattern, text)
        found = next(matcher.ends(at), None)
        self._count(matcher.steps)
        right = self._pattern.match(text, at)
        assert found == (right and right.end())
        return found

    def _search(self, text: str, *, all_of_them: bool) -> None:
        at = 0
        while at <= len(text):
            end = self._try(text, at)
            if end is not None and not all_of_them:
                return
            at = max(at + 1, end or 0)


class CountedModule:
    """The module `re`, whose expressions count."""

    def __init__(self, count: Callable[[int], None]) -> None:
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)

    def compile(self, pattern: str, flags: int = 0) -> Counted:
        """As in `re`."""
        return Counted(re.compile(pattern, flags), self._count)

    def match(self, pattern: str, text: str) -> re.Match[str] | None:
        """As in `re`."""
        return self.compile(pattern).match(text)

    def search(self, pattern: str, text: str) -> re.Match[str] | None:
        """As in `re`."""
        return self.compile(pattern).search(text)
