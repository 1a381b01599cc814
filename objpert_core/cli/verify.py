"""`objpert verify`: account for a certificate's promise anew, and compare it with the model that it is about."""

from __future__ import annotations

import argparse
from typing import Any

from objpert_core.cli import releases
from objpert_core.cli.output import Answer, add_format, show, typed, up
from objpert_core.cli.parsing import DONE, FAILED, epilog

_LONGEST = 500
"""Characters of a reason."""
_OTHERS = "not those of the certificate: the certificate is about another model, or its fit cannot have ended there"
_CANNOT = "that the fit went as the certificate says; docs/certificates.md"


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "verify",
        usage="objpert verify CERTIFICATE [MODEL] [options]",
        help="whether a certificate's promise holds",
        description="Account for a certificate's promise anew, and, if a model is given, compare its coefficients "
        "with the certificate's fingerprint. A folder is all that lies in it. Exit code 1 where something does not "
        "hold or is not covered.",
        epilog=epilog(
            "objpert verify release",
            "objpert verify release/certificate.json",
            "objpert verify evaluation.json release",
            "objpert verify release/certificate.json release/model.json --json",
        ),
    )
    command.add_argument(
        "certificate",
        metavar="CERTIFICATE",
        help="certificate.json, model.json, evaluation.json, together.json or the folder of a release",
    )
    command.add_argument("model", metavar="MODEL", nargs="?", help="model.json or the folder of a release")
    add_format(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, verify and print."""
    from objpert_core.learning.certificates.shown import neighbours_in_words

    given = releases.release(options.certificate)
    beside = given if options.model is None else releases.with_model(options.model)
    certificate, model, stranger = given.certificate, beside.model, given.stranger or beside.stranger
    if (problem := certificate.objection()) is not None:  # its numbers may be anything
        why = _shortened(problem)
        show(Answer(f"the certificate does not hold: {why}", {}, _document(False, False, None)), options.format)
        return FAILED
    named = None if model is None else certificate.verify(model.model)
    fit = _of_a_fit(certificate)
    carried = model is None or fit is None or model.model.privacy_.public() == fit.public()
    covered = getattr(certificate, "choice_covered", True)
    holds = named is not False and carried and covered and not stranger
    promise = f"ε = {up(certificate.epsilon)}, δ = {typed(certificate.delta)}"
    compared = {None: "not compared: no model was given", True: "those of the certificate"}
    facts = {
        "promise": f"accounted anew: {promise}",
        "neighbours": neighbours_in_words(certificate.adjacency),
        "table": "" if certificate.rows_used is None else f"of its rows: {certificate.rows_used}",
        "coefficients": compared.get(named, _OTHERS),
        "counted": given.counted,
        "model's file": "" if carried else "carries another certificate than the one given",
        "learning rate": "" if covered else "chosen by looking at the data, NOT covered: (ε, δ) is one run's",
        "form": "1: proved in exact arithmetic, not in floating point" if certificate.schema == 1 else "",
        "noise": "can be drawn again by whoever knows the seed: not for publishing" if certificate.reproducible else "",
        "not checked": _CANNOT,
    }
    said = ("epsilon", "delta", "adjacency", "reproducible", "schema")
    document = _document(holds, True, named) | {name: getattr(certificate, name) for name in said}
    document["choice_covered"] = covered
    if holds:
        headline = f"the certificate holds: {promise}"
    elif stranger:
        headline = f"the release does not hold: {stranger}"
    elif named is False or not carried:
        headline = "the certificate does not hold for this model"
    else:
        headline = f"the certificate does not cover the choice of the learning rate: {promise} is one run's"
    show(Answer(headline, facts, document), options.format)
    return DONE if holds else FAILED


def _of_a_fit(certificate: Any) -> Any:
    """The certificate that the model carries; None where only its scores' is known."""
    from objpert_core.learning import EvaluationCertificate, TogetherCertificate

    if isinstance(certificate, TogetherCertificate):
        return certificate.parts[0]
    return None if isinstance(certificate, EvaluationCertificate) else certificate


def _shortened(text: str) -> str:
    """A complaint, cut: it may quote its object, which a stranger wrote."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _document(holds: bool, proved: bool, named: bool | None) -> dict[str, Any]:
    return {"command": "verify", "holds": holds, "promise_holds": proved, "coefficients_hold": named}
