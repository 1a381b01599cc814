"""Certificates that people have stored keep working: these texts were written by the version before the rooms."""

import ast
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from objpert_core.learning import PrivacyCertificate

ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads(Path(__file__).with_name("stored_certificates.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_it_is_read_verifies_and_is_written_again_letter_by_letter(text):
    certificate = PrivacyCertificate.from_json(text)
    assert certificate.verify()
    assert certificate.to_json() == text
    assert PrivacyCertificate.from_json(certificate.public().to_json()).verify()
    assert pickle.loads(pickle.dumps(certificate)).verify()  # where equal defaults are other objects


@pytest.mark.thorough
def test_texts_of_every_kind_are_read_by_who_imports_learning_alone():
    code = "from objpert_core.learning import PrivacyCertificate as P; print([*P.MECHANISMS, *P.ALGORITHMS])"
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    importlib.import_module("objpert_core.estimators")
    kinds = PrivacyCertificate.MECHANISMS | PrivacyCertificate.ALGORITHMS
    ours = {name for name, kind in kinds.items() if kind.__module__.startswith("objpert_core")}
    assert set(ast.literal_eval(printed)) == ours


@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_its_mechanism_describes_itself_by_the_same_numbers(text):
    certificate = PrivacyCertificate.from_json(text)
    assert PrivacyCertificate.kind_for(certificate.rebuild()) is type(certificate)
    for name, value in certificate.numbers(certificate.rebuild()).items():
        assert getattr(certificate, name) == value
