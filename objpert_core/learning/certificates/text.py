"""A certificate's texts: a dict of plain numbers and strings, its JSON, and the fields that they give back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NoReturn

from objpert_core._validation import choice, once_each
from objpert_core.learning.certificates.field_rules import SCHEMA, Fact, facts_of

_NOTE = "depends on the data, outside the privacy guarantee: do not publish"


def as_dict(certificate: Any) -> dict[str, Any]:
    """The fields as plain numbers and strings, diagnostics apart."""
    values = asdict(certificate)
    facts = [item for item in facts_of(certificate.__class__) if _has(item, certificate)]
    values |= {item.name: item.texts[0](getattr(certificate, item.name)) for item in facts if item.texts}
    text: dict[str, Any] = {} if certificate.ALGORITHM is None else {"algorithm": certificate.ALGORITHM}
    text |= {item.name: values[item.name] for item in facts if not item.diagnostic}
    diagnostics = {item.name: values[item.name] for item in facts if item.diagnostic}
    if any(value is not None for value in diagnostics.values()):
        text["diagnostics"] = {"note": _NOTE, **diagnostics}
    return text


def _has(item: Fact, certificate: Any) -> bool:
    """Whether the certificate's text has this field: older texts are written again as they were."""
    if item.since > SCHEMA:
        return bool(getattr(certificate, item.name) != item.default)
    return item.since == 1 or certificate.schema != 1


def kind_and_fields(
    values: Any, mechanisms: Mapping[str, Any], algorithms: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The kind of certificate that a text is of, and its fields; `ValueError` as in `PrivacyCertificate.from_dict`."""
    if type(values) is not dict:
        raise ValueError(f"values must be a dict as to_dict writes it, got a {type(values).__name__}")
    named = "mechanism" if values.get("algorithm") is None else "algorithm"
    kinds = mechanisms if named == "mechanism" else algorithms
    kind = kinds[choice(named, values.get(named), tuple(kinds))]
    schema = values.get("schema", SCHEMA)
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"schema must be {SCHEMA}, or left out by texts of form 1, got {schema!r}")
    if "schema" not in values:
        schema = 1
    facts = facts_of(kind)
    apart = {item.name for item in facts if item.diagnostic}
    needed = {item.name for item in facts if item.since <= schema} - apart
    allowed = {item.name for item in facts if schema == SCHEMA < item.since}
    allowed |= {"diagnostics"} if apart else set()
    allowed |= {"algorithm"} if named == "algorithm" else set()
    _exactly("values", values, needed, allowed)
    diagnostics = values.get("diagnostics", dict.fromkeys(apart))
    if type(diagnostics) is not dict:
        raise ValueError(f"diagnostics must be a dict as to_dict writes it, got a {type(diagnostics).__name__}")
    _exactly("diagnostics", diagnostics, apart, {"note"})
    given = values | diagnostics | {"schema": schema}
    read = {item.name: item.texts[1] if item.texts else _tuple for item in facts if item.name in given}
    return kind, {name: rule(given[name]) for name, rule in read.items()}


def _exactly(name: str, values: dict[Any, Any], needed: set[str], allowed: set[str]) -> None:
    """`ValueError` unless `values` has every key of `needed`, and beyond them only keys of `allowed`."""
    if wrong := set(values).difference(allowed).symmetric_difference(needed):
        raise ValueError(
            f"{name} must hold exactly a certificate's fields, got a difference in {sorted(wrong, key=str)!r}"
        )


def _tuple(value: Any) -> Any:
    return tuple(value) if type(value) is list else value  # JSON knows no tuples


def parsed_json(text: str | bytes) -> Any:
    """What a text holds; `ValueError` as in `PrivacyCertificate.from_json`."""
    try:
        return json.loads(text, object_pairs_hook=once_each, parse_constant=_no_number)
    except (ValueError, TypeError, RecursionError) as problem:
        raise ValueError(f"text must be a certificate as to_json writes it, got no such JSON: {problem}") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
