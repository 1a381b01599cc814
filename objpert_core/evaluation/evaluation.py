"""What noisy counts of test rows say of a model: scores with intervals, all computed from the counts alone."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from objpert_core import tables
from objpert_core._validation import FloatArray, from_a_stranger, in_open_unit
from objpert_core.evaluation.estimates import Estimate, variance_of_rounded
from objpert_core.learning import EvaluationCertificate, PrivacyCertificate

FORMAT = "objpert evaluation 1"
LARGEST = 10_000_000
"""Characters of an evaluation's text."""


@dataclass(frozen=True, eq=False)
class Evaluation(ABC):
    """The noisy counts of an evaluation, and what follows from them; made by `evaluate`.

    An interval is for the people of whom the test rows are a sample: it covers the sampling and the noise, and several
    hold at their `level` one by one, not all at once. Noise may make some `counts` negative.
    """

    KIND: ClassVar[str]
    KINDS: ClassVar[dict[str, type[Evaluation]]] = {}

    counts: tuple[int, ...]
    certificate: EvaluationCertificate
    level: float = field(default=0.95, kw_only=True)

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        Evaluation.KINDS[cls.KIND] = cls

    def __post_init__(self) -> None:
        in_open_unit("level", self.level)

    @abstractmethod
    def estimates(self) -> dict[str, Estimate]:
        """The scores that are shown, by name."""

    @property
    def noise(self) -> float:
        """The variance of the noise on one count."""
        return variance_of_rounded(self.certificate.sigma)

    @cached_property
    def table(self) -> FloatArray:
        """The counts as an array."""
        return np.array(self.counts, dtype=np.float64)

    def at_level(self, level: float) -> Evaluation:
        """The same evaluation with intervals at another level; it costs nothing."""
        return replace(self, level=level)

    def verify(self, model: Any = None) -> bool:
        """Say whether the certificate holds and is about these counts, and, if a model is given, about that model."""
        own = self.certificate
        return own.verify(model) and own.cells == len(self.counts) and own.counts_sha256 == counts_sha256(self.counts)

    # --- texts -------------------------------------------------------------------------------------------------

    def statement(self) -> list[dict[str, str]]:
        """The scores as rows of a table: score, estimate, and the interval at `level`."""
        head = f"{100 * self.level:g} % interval"
        rows = ((name, str(one).replace(")", "").split(" (")) for name, one in self.estimates().items())
        return [{"score": name, "estimate": value, head: interval} for name, (value, interval) in rows]

    def to_markdown(self, *, caption: str = "") -> str:
        """`statement` as a table in Markdown."""
        return tables.to_markdown(self.statement(), caption=caption)

    def to_latex(self, *, caption: str = "", label: str = "") -> str:
        """`statement` as a table in LaTeX; arguments as for `objpert_core.tables.to_latex`."""
        return tables.to_latex(self.statement(), caption=caption, label=label)

    def to_json(self, indent: int | None = 2) -> str:
        """The counts, what their cells are, and the certificate, as JSON."""
        own = {name: value for name, value in asdict(self).items() if name != "certificate"}
        return json.dumps(
            {"format": FORMAT, "kind": self.KIND, **own, "certificate": self.certificate.to_dict()},
            indent=indent,
            ensure_ascii=False,
            allow_nan=False,
        )

    @staticmethod
    def from_json(text: str) -> Evaluation:
        """The evaluation that `to_json` wrote, ValueError for any other text; whether it holds says `verify`."""
        values = _object(text)
        kind = Evaluation.KINDS.get(str(values.pop("kind", None)))
        if values.pop("format", None) != FORMAT or kind is None:
            raise ValueError(f"the evaluation must say “format”: “{FORMAT}”, and a kind of {sorted(Evaluation.KINDS)}")
        certificate = PrivacyCertificate.from_dict(values.pop("certificate", None))
        if not isinstance(certificate, EvaluationCertificate):
            raise ValueError("the evaluation's certificate must be that of an evaluation")
        counts = values.pop("counts", None)
        if (
            not isinstance(counts, list)
            or not counts
            or not all(type(one) is int and abs(one) < 2**62 for one in counts)
        ):
            raise ValueError("the evaluation's counts must be whole numbers")
        level = values.pop("level", None)
        if type(level) is not float:
            raise ValueError(f"level must be a number strictly between 0 and 1, got {level!r}")
        return kind(tuple(counts), certificate, level=level, **kind.own_fields(values, len(counts)))

    @classmethod
    @abstractmethod
    def own_fields(cls, values: Mapping[str, Any], cells: int) -> dict[str, Any]:
        """The fields that a kind of evaluation has of its own, as a text has them; `ValueError` for wrong ones."""

    def __repr__(self) -> str:
        lines = [f"  {name:<18} {one}" for name, one in self.estimates().items()]
        return "\n".join([f"evaluation, {100 * self.level:g} % intervals", *lines, repr(self.certificate)])


def counts_sha256(counts: tuple[int, ...]) -> str:
    """The fingerprint of released counts: SHA-256 of them in ASCII, a blank between two."""
    return hashlib.sha256(" ".join(map(str, counts)).encode("ascii")).hexdigest()


def frame(estimates: list[Estimate], **columns: Any) -> pd.DataFrame:
    """Columns, and the estimates' values and ends beside them."""
    ends = {name: [getattr(one, name) for one in estimates] for name in ("value", "low", "high")}
    return pd.DataFrame({**columns, **ends})


def only(values: Mapping[str, Any], *names: str) -> None:
    """`ValueError` unless a text has exactly these fields of a kind's own."""
    if set(values) != set(names):
        raise ValueError(
            f"the evaluation must have the fields {', '.join(sorted(names)) or 'of its kind'}, and no others"
        )


def _object(text: str) -> dict[str, Any]:
    values = from_a_stranger("evaluation", text, LARGEST)
    if not isinstance(values, dict):
        raise ValueError("the evaluation must be a JSON object")
    return values
