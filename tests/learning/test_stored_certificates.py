"""Certificates that people have stored keep working: these texts were written by the version before the rooms."""

import json
import pickle
from pathlib import Path

import pytest

from objpert_core.learning import PrivacyCertificate

STORED = json.loads(Path(__file__).with_name("stored_certificates.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_it_is_read_verifies_and_is_written_again_letter_by_letter(text):
    certificate = PrivacyCertificate.from_json(text)
    assert certificate.verify()
    assert certificate.to_json() == text
    assert PrivacyCertificate.from_json(certificate.public().to_json()).verify()
    assert pickle.loads(pickle.dumps(certificate)).verify()  # where equal defaults are other objects


@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_its_mechanism_describes_itself_by_the_same_numbers(text):
    certificate = PrivacyCertificate.from_json(text)
    assert PrivacyCertificate.kind_for(certificate.rebuild()) is type(certificate)
    for name, value in certificate.numbers(certificate.rebuild()).items():
        assert getattr(certificate, name) == value
